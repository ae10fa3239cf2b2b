"""The source's two walks: backwards from the last cell, always to the greatest cell that is left.

`greedy-x` ends in the one cell with the greatest value, `greedy-y` tries every other cell as the end. Of equal
predecessors the first, row by row, is taken.
"""

from __future__ import annotations

import numpy as np

from checkers.compiled import njit
from solvers.optimiza.board import Board, Numbers
from solvers.optimiza.outcome import Outcome
from solvers.parts.clock import Clock


def walk_to_greatest(board: Board, clock: Clock) -> Outcome:
    """Walk backwards from the cell with the value N."""
    walk = walk_back(board, int(board.values.argmax()))
    clock.step()
    return Outcome(walk, states=len(walk))


def walk_to_others(board: Board, clock: Clock) -> Outcome:
    """Walk backwards from every other cell and keep the best; one step is one end tried."""
    greatest = int(board.values.argmax())
    best, most, states = np.empty(0, np.int32), 0, 0
    for end in board.cells.tolist():
        if end == greatest:
            continue
        walk = walk_back(board, end)
        states += len(walk)
        collected = board.sum_of(walk)
        if collected > most:
            best, most = walk, collected
        if not clock.step(best=most, states=states):
            break
    return Outcome(best, states=states)


def walk_back(board: Board, end: int) -> Numbers:
    """Give the greedy walk to a cell, in the order of the visit."""
    walk = np.empty(len(board.to) + 1, np.int32)
    length = _walk_back(board.back, board.by, board.back_step, board.by_step, end, walk)
    return walk[:length][::-1].copy()


@njit(cache=True, nogil=True)
def _walk_back(
    back: Numbers, by: Numbers, back_step: Numbers, by_step: bool, end: int, walk: Numbers
) -> int:  # pragma: no cover - compiled; its slow twin is in the tests
    """Write the cells from the end to the start into `walk`; return how many there are."""
    used = np.zeros(len(by) if by_step else len(back), np.bool_)
    cell = end
    walk[0] = cell
    used[0 if by_step else cell] = not by_step
    length = 1
    while True:
        chosen = -1
        for at in range(back[cell], back[cell + 1]):
            key = back_step[at] if by_step else by[at]
            if not used[key]:
                used[key] = True
                chosen = by[at]
                break
        if chosen < 0:
            return length
        cell = chosen
        walk[length] = cell
        length += 1
