"""Countdown: players take 1 or 2 from a number in turn; who takes the last one wins.

Instance
    `N` (0..1000), and a line `second to move` where that is so.
Move
    `1` or `2`, no more than there is.
Won by
    whoever comes to 0.
Opponents
    `optimal` leaves a multiple of 3; `random`.
Source
    made for a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from checkers.doors import Rejected
from games.doors import FIRST, SECOND, Game, Legal, Opponent, Outlook, Picture, Side, other, read_numbers, shown

Position = tuple[int, Side]


def optimal(position: Position, random: Random) -> str:
    """Leave a multiple of 3."""
    return str(position[0] % 3 or 1)


def drawn(position: Position, random: Random) -> str:
    """Take 1 or 2."""
    return str(random.randint(1, min(2, position[0])))


@dataclass(frozen=True)
class Countdown:
    """The rules."""

    slug: str = "countdown"
    title: str = "Countdown"
    sides: tuple[str, str] = ("first", "second")
    asker: Side = FIRST
    sample: str = "10\n"
    opponents: Mapping[str, Opponent[Position]] = field(
        default_factory=lambda: {
            "optimal": Opponent("leaves a multiple of 3", optimal),
            "random": Opponent("any", drawn),
        }
    )

    def start(self, instance: str) -> Position:
        """Read a position."""
        first, _, rest = instance.partition("\n")
        if rest not in {"", "second to move\n"}:
            raise Rejected.at("line 2", expected='nothing or "second to move"', found=shown(rest))
        (number,) = read_numbers(first, 1, where="line 1", what="a number to 1000", largest=1000)
        return number, SECOND if rest else FIRST

    def to_text(self, position: Position) -> str:
        """Write a position."""
        return f"{position[0]}\n" + ("second to move\n" if position[1] else "")

    def to_move(self, position: Position) -> Side:
        """Tell whose move it is."""
        return position[1]

    def legal(self, position: Position) -> Legal:
        """List the moves."""
        return Legal(tuple(str(each) for each in (1, 2) if each <= position[0]), "take 1 or 2")

    def apply(self, position: Position, move: str) -> Position:
        """Take."""
        if move not in (self.legal(position).moves or ()):
            raise Rejected.at(
                "move", expected="no move, as the game is over" if self.over(position) else "1 or 2", found=shown(move)
            )
        return position[0] - int(move), other(position[1])

    def over(self, position: Position) -> bool:
        """Tell whether 0 is reached."""
        return position[0] == 0

    def winner(self, position: Position) -> Side | None:
        """Name who took last."""
        return other(position[1]) if self.over(position) else None

    def outlook(self, position: Position) -> Outlook:
        """A multiple of 3 is lost."""
        return Outlook(position[0] % 3 > 0, "proved")

    def render(self, position: Position) -> dict[str, Any]:
        """Give the number."""
        return {"number": position[0]}

    def picture(self, position: Position) -> Picture:
        """Draw the number."""
        return (((str(position[0]), "mark"),),)


GAME: Game[Position] = Countdown()
