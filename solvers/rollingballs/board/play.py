"""A play in the making: the board rolled so far, the target, and room for the searches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.rollingballs.board.distances import make_buckets
from solvers.rollingballs.board.flat import Board, Cells, Ints, Random, points_of, worth
from solvers.rollingballs.forward.beam import MOST_MOVERS, Beam, make_beam

ROLLS, POINTS = range(2)
SPARE = 200
TALLEST = 16


class Play(NamedTuple):
    """Flat arrays for the kernels. `now` and `best` hold ROLLS and POINTS of the play and of its best moment.

    POINTS of `now` are weighted by how hard a goal is to fill, those of `best` are points2.
    """

    cells: Cells
    target: Cells
    steps: Ints
    weight: Ints  # [cells] what a goal counts while searching
    rolls: Ints  # [most rolls, 3] from, way, to
    now: Ints
    best: Ints
    fails: Ints  # [cells] tries at a goal since it was last filled
    locked: Cells  # [cells] helpers in place
    to_goal: Ints
    to_stopper: Ints
    queue: Ints
    buckets: Ints
    stack: Ints  # [TALLEST] goals and the cells of their helpers
    movers: Ints
    ranks: Ints
    beam: Beam
    random: Random


def make_play(board: Board, ease: Ints, random: Random) -> Play:
    """Make room for plays on a board; a goal that no or few cells of the empty maze lead to weighs 3 or 2, else 1."""
    size = len(board.cells)
    empty = [np.zeros(size, np.int32) for _ in range(4)]
    weight = (1 + (ease < 30) + (ease == 0)).astype(np.int32)
    rolls = np.zeros((board.most_rolls + SPARE, 3), np.int32)
    now, best = np.zeros(2, np.int32), np.zeros(2, np.int32)
    locked, stack = np.zeros(size, np.int8), np.zeros(TALLEST, np.int32)
    movers, ranks = np.zeros(MOST_MOVERS, np.int32), np.zeros(MOST_MOVERS, np.int32)
    return Play(
        board.cells.copy(), board.target.copy(), board.steps, weight, rolls, now, best, empty[0], locked,
        empty[1], empty[2], empty[3], make_buckets(size), stack, movers, ranks, make_beam(size), random,
    )  # fmt: skip


def set_now(play: Play, rolls: int) -> None:
    """Tell a play whose board and rolls were changed elsewhere how many rolls there are now."""
    play.now[:] = (rolls, weigh(play))
    play.best[:] = (rolls, points_of(play.cells, play.target))


@njit(cache=True, nogil=True)
def weigh(play: Play) -> int:  # pragma: no cover - compiled
    """Count the weighted points2 of the play."""
    points = 0
    for cell in range(len(play.cells)):
        points += play.weight[cell] * worth(play.cells[cell], play.target[cell])
    return points


@njit(cache=True, nogil=True)
def note_best(play: Play) -> None:  # pragma: no cover - compiled
    """Remember the play as it is if it has more points than ever."""
    points = points_of(play.cells, play.target)
    if points > play.best[POINTS]:
        play.best[ROLLS], play.best[POINTS] = play.now[ROLLS], points
