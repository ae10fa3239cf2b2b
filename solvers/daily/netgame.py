"""The net game of the day: a net in one piece, grown cell by cell, which the first player wins by exactly one cut.

Won and lost are settled for every set of whole cells, the smaller sets first.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from checkers.rules.netgame import Instance, Rope, sides_of, whole_cells, write_net
from solvers.daily.puzzle import Draws, Puzzle

CELLS = {"small": 7, "medium": 9, "large": 12}
"""The cells that are grown; with them, others may become whole."""
MOST_CELLS = 14
STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))


def make_netgame(size: str, draws: Draws) -> Puzzle:
    """Draw nets until one has a single winning cut."""
    for drawn in count(1):
        instance = grown(CELLS[size], draws)
        cells = whole_cells(instance)
        if len(cells) > MOST_CELLS:
            continue
        winning = winning_ropes(sides_of(cells, len(instance.ropes)), len(cells))
        if len(winning) == 1:
            return Puzzle("netgame", size, write_net(instance), f"1\n{winning[0]}\n", None, None, 1, drawn)
    raise AssertionError("nets do not end")


def grown(cells: int, draws: Draws) -> Instance:
    """Grow a piece from one cell, and number its ropes from the top row by row, as a reader looks for them."""
    piece = [(0, 0)]
    while len(piece) < cells:
        x, y = piece[draws.below(len(piece))]
        right, up = STEPS[draws.below(4)]
        if (x + right, y + up) not in piece:
            piece.append((x + right, y + up))
    low, left = min(y for _, y in piece), min(x for x, _ in piece)
    ropes: set[Rope] = set()
    for x, y in ((x - left, y - low) for x, y in piece):
        ropes |= {(x, y, x + 1, y), (x, y + 1, x + 1, y + 1), (x, y, x, y + 1), (x + 1, y, x + 1, y + 1)}
    return Instance(tuple(sorted(ropes, key=lambda rope: (-rope[1] - rope[3], rope[0] + rope[2]))))


def winning_ropes(sides: Sequence[int], cells: int, left: int | None = None) -> list[int]:
    """Give the ropes (from 1) whose cut leaves the other player a lost set of cells, from all or from those left."""
    cuts = sorted(set(sides) - {0})
    won = bytearray(1 << cells)
    for whole in range(1, 1 << cells):
        won[whole] = any(whole & cut and not won[whole & ~cut] for cut in cuts)
    here = (1 << cells) - 1 if left is None else left
    return [number for number, cut in enumerate(sides, start=1) if cut & here and not won[here & ~cut]]
