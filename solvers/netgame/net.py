"""A net as the searches see it: whole cells as bits, and for every rope the cells it is a side of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checkers.netgame import FIRST, SECOND, Answer, Instance, Rope

Masks = NDArray[np.int64]
IsLost = Callable[[int], bool]
"""Says of a set of whole cells that the player to move loses."""


@dataclass(frozen=True)
class Net:
    """The whole cells of an instance, numbered row by row; at most 20, since 21 of them have 52 sides.

    corners  the lower left corner of each cell
    sides    for each rope, the set of cells it is a side of: empty, one or two bits
    walls    for each cell, the set of its four ropes as bits
    """

    corners: tuple[tuple[int, int], ...]
    sides: tuple[int, ...]
    walls: tuple[int, ...]

    @property
    def whole(self) -> int:
        """The set of all cells."""
        return (1 << len(self.corners)) - 1

    def cuts(self) -> Masks:
        """Give the different non-empty sets of cells that one rope belongs to: those of two cells first."""
        found = sorted(set(self.sides) - {0}, key=lambda cells: (-cells.bit_count(), cells))
        return np.array(found, np.int64)


def net_of(instance: Instance) -> Net:
    """Find the whole cells of a net."""
    numbers = {rope: number for number, rope in enumerate(instance.ropes)}
    below = sorted((y, x) for x, y, x2, _ in instance.ropes if x2 == x + 1)
    corners = tuple((x, y) for y, x in below if all(rope in numbers for rope in ropes_around(x, y)))
    sides = [0] * len(instance.ropes)
    walls = []
    for cell, (x, y) in enumerate(corners):
        around = [numbers[rope] for rope in ropes_around(x, y)]
        walls.append(sum(1 << number for number in around))
        for number in around:
            sides[number] |= 1 << cell
    return Net(corners, tuple(sides), tuple(walls))


def ropes_around(x: int, y: int) -> tuple[Rope, Rope, Rope, Rope]:
    """Name the four sides of a cell by its lower left corner."""
    return (x, y, x + 1, y), (x, y + 1, x + 1, y + 1), (x, y, x, y + 1), (x + 1, y, x + 1, y + 1)


def winning_ropes(net: Net, lost: IsLost) -> Iterator[int]:
    """Give the ropes (from 1) whose cut leaves the other player a lost net."""
    for number, cells in enumerate(net.sides, start=1):
        if cells and lost(net.whole & ~cells):
            yield number


def answer_of(net: Net, lost: IsLost) -> Answer:
    """Name the first winning rope, or the second player where there is none."""
    rope = next(winning_ropes(net, lost), 0)
    return Answer(FIRST, rope) if rope else Answer(SECOND)
