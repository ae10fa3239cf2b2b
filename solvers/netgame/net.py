"""A net as the searches see it: whole cells as bits, and for every rope the cells it is a side of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from checkers.netgame import FIRST, SECOND, Answer, Sets
from checkers.rules.netgame import Instance, sides_of, whole_cells
from solvers.doors import Unsolved
from solvers.parts.clock import Clock

IsLost = Callable[[int], bool]
"""Says of a set of whole cells that the player to move loses."""


@dataclass(frozen=True)
class Net:
    """The whole cells of an instance, numbered row by row; at most 20, since 21 of them have 52 sides.

    corners  the lower left corner of each cell
    around   the four ropes of each cell, by their places from 0
    sides    for each rope, the set of cells it is a side of: empty, one or two bits
    """

    corners: tuple[tuple[int, int], ...]
    around: tuple[tuple[int, int, int, int], ...]
    sides: tuple[int, ...]

    @property
    def whole(self) -> int:
        """The set of all cells."""
        return (1 << len(self.corners)) - 1

    def cuts(self) -> Sets:
        """Give the different non-empty sets of cells that one rope belongs to: those of two cells first."""
        masks = sorted(set(self.sides) - {0}, key=lambda cells: (-cells.bit_count(), cells))
        return np.array(masks, np.int64)


def net_of(instance: Instance) -> Net:
    """Find the whole cells of a net."""
    cells = whole_cells(instance)
    return Net(tuple(cells), tuple(cells.values()), tuple(sides_of(cells, len(instance.ropes))))


def winning_ropes(net: Net, lost: IsLost) -> Iterator[int]:
    """Give the ropes (from 1) whose cut leaves the other player a lost net."""
    for number, cells in enumerate(net.sides, start=1):
        if cells and lost(net.whole & ~cells):
            yield number


def answer_of(net: Net, lost: IsLost) -> Answer:
    """Name the first winning rope, or the second player where there is none."""
    rope = next(winning_ropes(net, lost), 0)
    return Answer(FIRST, rope) if rope else Answer(SECOND)


def go_on(clock: Clock, most: int) -> int:
    """Say how many states may be settled before the clock is asked again, up to `most`.

    Raises Unsolved if the clock has ended the search.
    """
    if not clock.running():
        why = "stopped" if clock.stopped else "out of time" if clock.steps is None else "out of steps"
        raise Unsolved(f"{why} after {clock.taken} states")
    return most if clock.steps is None else min(most, clock.steps - clock.taken)
