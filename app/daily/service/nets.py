"""The other player of a net of the day: answers cuts, so that nothing that tells who wins leaves the server.

- Documents of the puzzles of the day.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from app.core.clics import example
from app.core.errors import BadRequest
from app.core.messages import N_
from app.daily.service.puzzles import PUZZLE, DailyPuzzle, Day, Puzzle
from checkers.rules.netgame import read_net, sides_of, whole_cells

# Tables of at most 2^14 entries each.
NETS_REMEMBERED = 64
# Characters of a list of cuts: the largest net of a day has fewer.
LONGEST_CUTS = 400


@lru_cache(NETS_REMEMBERED)
def _net(instance: str) -> tuple[int, Sequence[int], NDArray[np.bool_]]:
    """The set of all whole cells of a net, the cells at each rope, and for each set whether whoever cuts then wins.

    A set has a bit for each cell: cells are numbered row by row from below.
    """
    net = read_net(instance.encode())
    cells = whole_cells(net)
    sides = sides_of(cells, len(net.ropes))
    cuts = sorted({*sides} - {0})
    won = np.zeros(1 << len(cells), np.bool_)
    for whole in range(1, len(won)):
        won[whole] = any(whole & cut and not won[whole & ~cut] for cut in cuts)
    return len(won) - 1, sides, won


def answering_cut(instance: str, cuts: Sequence[int]) -> int | None:
    """The other player's cut after some: one that wins, else the one that leaves the most to cut; None: all is cut.

    Raises BadRequest where the cuts are none of a game, or where it is not the other player's turn.
    """
    whole, sides, won = _net(instance)
    if len(cuts) % 2 == 0:
        raise BadRequest(
            N_("expected the ropes that were cut, yours first and last, such as 3,7,1, found %(count)s of them"),
            where="cuts",
            count=len(cuts),
        )
    for rope in cuts:
        if not 1 <= rope <= len(sides) or not whole & sides[rope - 1]:
            raise BadRequest(
                N_(
                    "expected the ropes that were cut, yours first and last, such as 3,7,1, found rope %(rope)s, which "
                    "may not be cut then"
                ),
                where="cuts",
                rope=rope,
            )
        whole &= ~sides[rope - 1]
    after = {rope: whole & ~side for rope, side in enumerate(sides, start=1) if whole & side}
    if not after:
        return None
    winning = [rope for rope, left in after.items() if not won[left]]
    return winning[0] if winning else min(after, key=lambda rope: (-_cuttable(sides, after[rope]), rope))


def cuts_of(text: str) -> list[int]:
    """The cuts that an address names, with commas between them; raises BadRequest for other text."""
    parts = text.split(",")
    if len(text) > LONGEST_CUTS or not all(part.isascii() and part.isdigit() for part in parts):
        raise BadRequest(
            N_("expected the ropes that were cut, yours first and last, such as 3,7,1, found %(found)r"),
            where="cuts",
            found=text[:40],
        )
    return [int(part) for part in parts]


def _cuttable(sides: Sequence[int], whole: int) -> int:
    return sum(bool(whole & side) for side in sides)


@example({"date": "2026-11-22", "past": False, "puzzles": [PUZZLE]})
class DailyPuzzles(BaseModel):
    """All puzzles of a day; a day begins at 00:00 UTC."""

    date: str
    past: bool = Field(description="the day is over: its puzzles have their answers")
    puzzles: list[DailyPuzzle]


@example({"cut": 3})
class Reply(BaseModel):
    """The other player's cut in a net of the day; null: nothing is left to cut, and the player who asked has won."""

    cut: int | None


def day_view(day: Day) -> DailyPuzzles:
    """Show a day; its answers only once it is over."""
    return DailyPuzzles(
        date=day.date.isoformat(), past=day.past, puzzles=[puzzle_view(day, puzzle) for puzzle in day.puzzles]
    )


def puzzle_view(day: Day, puzzle: Puzzle) -> DailyPuzzle:
    """Show a puzzle; its answer only once the day is over."""
    return DailyPuzzle(**puzzle.model_dump(exclude={"answer", "drawn"}), answer=puzzle.answer if day.past else None)
