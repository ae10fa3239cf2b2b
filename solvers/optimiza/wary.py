"""A better greedy walk: backwards from every cell, to the greatest cell left, and of equal ones to the scarcest.

The source's greedy takes any of the greatest predecessors. Here the one with the fewest ways on is taken: unused cells
of the same value that lead to it, those without any last of all. It is Warnsdorff's rule inside a layer. All cells are
tried as the end, the one with the greatest value too.
"""

from __future__ import annotations

import numpy as np

from checkers.compiled import njit
from solvers.optimiza.board import Board, Numbers
from solvers.optimiza.outcome import Outcome
from solvers.parts.clock import Clock


def walk_warily(board: Board, clock: Clock) -> Outcome:
    """Walk backwards from every cell and keep the best; one step is one end tried."""
    best, most, states = np.empty(0, np.int32), 0, 0
    for end in board.cells.tolist():
        walk = walk_back_warily(board, end)
        states += len(walk)
        if (collected := board.sum_of(walk)) > most:
            best, most = walk, collected
        if not clock.step(best=most, states=states):
            break
    return Outcome(best, states=states)


def walk_back_warily(board: Board, end: int) -> Numbers:
    """Give the wary walk to a cell, in the order of the visit."""
    walk = np.empty(len(board.to) + 1, np.int32)
    length = _walk_back(board.values, board.back, board.by, board.back_step, board.by_step, end, walk)
    return walk[:length][::-1].copy()


@njit(cache=True, nogil=True)
def _walk_back(
    values: Numbers, back: Numbers, by: Numbers, back_step: Numbers, by_step: bool, end: int, walk: Numbers
) -> int:  # pragma: no cover - compiled; its slow twin is in the tests
    """Write the cells from the end to the start into `walk`; return how many there are."""
    used = np.zeros(len(by) if by_step else len(back), np.bool_)
    cell = end
    walk[0] = cell
    used[0 if by_step else cell] = not by_step
    length = 1
    while True:
        chosen = -1
        fewest = 0
        for at in range(back[cell], back[cell + 1]):
            key = back_step[at] if by_step else by[at]
            if used[key]:
                continue
            if chosen >= 0 and values[by[at]] < values[by[chosen]]:
                break
            ways = 0
            for on in range(back[by[at]], back[by[at] + 1]):
                other = back_step[on] if by_step else by[on]
                if values[by[on]] == values[by[at]] and not used[other] and other != key:
                    ways += 1
            if ways == 0:
                ways = len(back)
            if chosen < 0 or ways < fewest:
                chosen, fewest = at, ways
        if chosen < 0:
            return length
        used[back_step[chosen] if by_step else by[chosen]] = True
        cell = by[chosen]
        walk[length] = cell
        length += 1
