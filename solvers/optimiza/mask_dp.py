"""The comment's f(n, mask), inside each group of joined cells: for each set and each start, the best end.

A walk over a set of cells is worth the set's size times the value, and the worth of its end; only the latter is stored.
Sets are gone through in rising order, so that a set without one of its cells came before it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.doors import Unsolved
from solvers.optimiza.board import Board, Masks, Numbers
from solvers.optimiza.layers import Group, Inside, OutOfBudget, climb
from solvers.optimiza.outcome import Outcome
from solvers.optimiza.search import ONE, count_bits, lowest
from solvers.parts.clock import Clock

MOST_CELLS = 22  # 2 bytes for each set and cell: 185 MB
SETS_A_STEP = 1 << 15

Ends = NDArray[np.int16]  # no walk collects more than 32,020, all of a board with N = 40


def fill_masks(board: Board, clock: Clock) -> Outcome:
    """Solve all layers; one step is 32,768 sets of cells (smaller groups are a step in proportion).

    When the budget ends, the best walk of the groups done so far is given. Raises Unsolved where a group has more than
    22 cells, or where steps and not cells may not repeat.
    """
    if board.by_step:
        raise Unsolved("sets of visited cells say nothing where steps and not cells may not repeat")
    filler = _Filler()
    return replace(climb(board, clock, filler.solve), states=filler.sets)


class _Filler:
    """Counts the sets of all groups together, so that a thousand small ones do not make a thousand steps."""

    def __init__(self) -> None:
        self.sets = 0
        self.steps = 0

    def solve(self, group: Group, clock: Clock) -> Inside:
        """Fill the table of a group and read the best walks out of it."""
        count = len(group.near)
        if count > MOST_CELLS:
            raise Unsolved(f"a layer joins {count} cells, the table of sets has room for {MOST_CELLS}")
        ends = np.empty((1 << count, count), np.int16)
        tops = np.zeros((2, count), np.int64)
        for first in range(0, 1 << count, SETS_A_STEP):
            past = min(first + SETS_A_STEP, 1 << count)
            _fill(group.near, group.worth, group.value, first, past, ends, tops)
            self._count(past - first, clock)
        walks = [_walk(group, ends, int(tops[1, cell]), cell) for cell in range(count)]
        return Inside(tops[0].tolist(), walks, proved=True, states=1 << count)

    def _count(self, sets: int, clock: Clock) -> None:
        self.sets += sets
        fresh = self.sets // SETS_A_STEP - self.steps
        self.steps += fresh
        if fresh and not clock.step(fresh, states=self.sets):
            raise OutOfBudget


def _walk(group: Group, ends: Ends, cells: int, start: int) -> list[int]:
    """Follow the table from a start over a set of cells."""
    walk = [start]
    while cells := cells ^ (1 << walk[-1]):
        beyond = int(group.near[walk[-1]]) & cells
        nexts = [cell for cell in range(len(group.near)) if beyond >> cell & 1]
        walk.append(max(nexts, key=lambda cell, left=cells: int(ends[left, cell])))  # type: ignore[misc]
    return walk


@njit(cache=True, nogil=True)
def _fill(
    near: Masks, worth: Numbers, value: int, first: int, past: int, ends: Ends, tops: NDArray[np.int64]
) -> None:  # pragma: no cover - compiled; its slow twin is in the tests
    """Fill the sets from `first` to before `past`: ends[set, start] is the worth of the best end, -1 if there is none.

    tops[0, start] is the best gain seen from a start, tops[1, start] its set. Starts outside a set are never read.
    """
    for cells in range(first, past):
        bits = np.uint64(cells)
        size = count_bits(bits)
        left = bits
        while left:
            cell = lowest(left)
            left &= left - ONE
            rest = cells ^ (1 << cell)
            best = worth[cell] if rest == 0 else -1
            beyond = near[cell] & bits
            while beyond:
                best = max(best, ends[rest, lowest(beyond)])
                beyond &= beyond - ONE
            ends[cells, cell] = best
            if best >= 0 and best + size * value > tops[0, cell]:
                tops[0, cell] = best + size * value
                tops[1, cell] = cells
