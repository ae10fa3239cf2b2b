"""A depth-first search of every walk from every cell, which continues where it was interrupted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.optimiza.board import Board, Numbers
from solvers.optimiza.outcome import Outcome
from solvers.parts.clock import Clock

VISITS_A_STEP = 1 << 20
START, DEPTH, SUM, BEST, BEST_DEPTH, VISITED = range(6)


def walk_everywhere(board: Board, clock: Clock) -> Outcome:
    """Try all walks until the budget ends; one step is a million cells visited."""
    room = len(board.to) + 2 if board.by_step else len(board.values) + 1
    cells, steps, best = (np.zeros(room, np.int32) for _ in range(3))
    used = np.zeros(len(board.to) if board.by_step else len(board.values), np.bool_)
    place = np.zeros(6, np.int64)
    done = False
    while not done and (clock.running() or place[VISITED] == 0):
        done = _go_on(
            board.values, board.begin, board.to, board.by_step, cells, steps, used, place, best, VISITS_A_STEP
        )
        clock.step(best=int(place[BEST]), states=int(place[VISITED]))
    return Outcome(best[: place[BEST_DEPTH]].copy(), proved=done, states=int(place[VISITED]))


@njit(cache=True, nogil=True)
def _go_on(
    values: Numbers,
    begin: Numbers,
    to: Numbers,
    by_step: bool,
    cells: Numbers,
    steps: Numbers,
    used: NDArray[np.bool_],
    place: NDArray[np.int64],
    best: Numbers,
    visits: int,
) -> bool:  # pragma: no cover - compiled; its slow twin is in the tests
    """Visit up to `visits` cells more; return True if all walks were tried.

    `cells` is the walk so far, of DEPTH cells; `steps[i]` is the next step to try from its i-th cell. START is the
    next cell to start from once the walk is empty, VISITED how many cells were visited so far.
    """
    while visits > 0:
        depth = place[DEPTH]
        if depth == 0:
            start = place[START]
            if start == len(values):
                return True
            place[START] += 1
            if values[start] == 0:
                continue
            cells[0] = start
            steps[0] = begin[start]
            if not by_step:
                used[start] = True
            place[DEPTH] = 1
            place[SUM] = values[start]
        else:
            cell = cells[depth - 1]
            step = steps[depth - 1]
            if step == begin[cell + 1]:
                place[DEPTH] -= 1
                place[SUM] -= values[cell]
                if not by_step:
                    used[cell] = False
                elif depth > 1:
                    used[steps[depth - 2] - 1] = False
                continue
            steps[depth - 1] += 1
            key = step if by_step else to[step]
            if used[key]:
                continue
            used[key] = True
            end = to[step]
            cells[depth] = end
            steps[depth] = begin[end]
            place[DEPTH] += 1
            place[SUM] += values[end]
        visits -= 1
        place[VISITED] += 1
        if place[SUM] > place[BEST]:
            place[BEST] = place[SUM]
            place[BEST_DEPTH] = place[DEPTH]
            best[: place[DEPTH]] = cells[: place[DEPTH]]
    return False
