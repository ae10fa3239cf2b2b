"""Beams on one board, rolled or un-rolled: a goal, the nearest ball of its colour, and a few balls nearest to these.

After the second-placed program of the match: few balls first, one more each time that a goal's beam finds nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.distances import (
    FARTHEST,
    make_buckets,
    measure_dreams,
    measure_dreams_back,
    stopper_on_way,
    stopper_on_way_back,
)
from solvers.rollingballs.board.flat import FROM, TO, WAY, Cells, Ints, Random, draw, points_of
from solvers.rollingballs.forward.beam import DEEPEST, MOST_MOVERS, WIDEST, Beam, make_beam, search

POINTS, ROLLS, WORK = range(3)
SETTLED = 6
MOST = 10
SPARE = 100


class Side(NamedTuple):
    """Flat arrays for the kernels: a board, its goals, and the rolls made; `now` holds POINTS, ROLLS and WORK done."""

    cells: Cells
    target: Cells
    backward: bool  # un-rolls instead of rolls
    steps: Ints
    rolls: Ints  # [most rolls + SPARE, 3] from, way, to
    now: Ints
    fails: Ints  # [cells] beams for a goal since one found something
    weight: Ints  # [cells] ones
    to_goal: Ints
    to_stopper: Ints
    buckets: Ints
    movers: Ints
    ranks: Ints
    beam: Beam
    random: Random


def make_side(cells: Cells, target: Cells, steps: Ints, rolls: Ints, random: Random, *, backward: bool = False) -> Side:
    """Work on `cells`, `target` and `rolls` in place, with no rolls made."""
    size = len(cells)
    fails, to_goal, to_stopper = (np.zeros(size, np.int32) for _ in range(3))
    movers, ranks = np.zeros(MOST_MOVERS, np.int32), np.zeros(MOST_MOVERS, np.int32)
    now = np.array([points_of(cells, target), 0, 0], np.int32)
    return Side(
        cells, target, backward, steps, rolls, now, fails, np.ones(size, np.int32), to_goal, to_stopper,
        make_buckets(size), movers, ranks, make_beam(size), random,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def choose_goal(side: Side) -> int:  # pragma: no cover - compiled
    """Choose a random cell of the target that has not its colour; -1 if there is none."""
    count, chosen = 0, -1
    for cell in range(len(side.cells)):
        if side.target[cell] >= 0 and side.cells[cell] != side.target[cell]:
            count += 1
            if draw(side.random, count) == 0:
                chosen = cell
    return chosen


@njit(cache=True, nogil=True)
def try_beam(side: Side, goal: int, least: int, longest: int) -> bool:  # pragma: no cover - compiled
    """Search for rolls, at most `longest`, that gain `least` points2 or more and play them; False if there are none.

    A gain of 0 or less counts only if the goal is filled.
    """
    cells, target, steps, random = side.cells, side.target, side.steps, side.random
    _measure(side, goal, side.to_goal)
    main = _nearest_ball(side, goal)
    if main < 0:
        side.now[WORK] += 100
        return False
    skip = draw(random, 2)
    if side.backward:
        stopper = stopper_on_way_back(cells, steps, main, side.to_goal, skip)
    else:
        stopper = stopper_on_way(cells, steps, main, side.to_goal, skip)
    _measure(side, stopper if stopper >= 0 else goal, side.to_stopper)
    fails = side.fails[goal] % MOST
    side.fails[goal] += 1
    count = _choose_movers(side, goal, main, 1 + fails)
    gain, length, made = search(
        cells, target, side.weight, steps, side.movers, count, goal, side.to_goal, side.to_stopper,
        WIDEST, min(DEEPEST, longest), side.backward, side.beam, random,
    )  # fmt: skip
    side.now[WORK] += 40 * made + 4000
    if length == 0 or gain < least:
        return False
    for i in range(length):
        mover, way, to = side.beam.found[i]
        _write(side, side.movers[mover], way, to)
        side.movers[mover] = to
    side.now[POINTS] = points_of(cells, target)
    side.fails[goal] = 0
    return True


@njit(cache=True, nogil=True)
def _measure(side: Side, goal: int, distance: Ints) -> None:  # pragma: no cover - compiled
    if side.backward:
        side.now[WORK] += measure_dreams_back(side.cells, side.steps, goal, distance, side.buckets)
    else:
        side.now[WORK] += measure_dreams(side.cells, side.steps, goal, distance, side.buckets)


@njit(cache=True, nogil=True)
def _write(side: Side, at: int, way: int, to: int) -> None:  # pragma: no cover - compiled
    """Make the roll, or the un-roll, of the ball at `at`."""
    roll = side.rolls[side.now[ROLLS]]
    roll[WAY] = way
    roll[FROM], roll[TO] = (to, at) if side.backward else (at, to)
    side.cells[to] = side.cells[at]
    side.cells[at] = EMPTY
    side.now[ROLLS] += 1


@njit(cache=True, nogil=True)
def _nearest_ball(side: Side, goal: int) -> int:  # pragma: no cover - compiled
    """Choose the nearest ball of the goal's colour, rather one that is not right already."""
    wanted = side.target[goal]
    main, least = -1, 1 << 30
    for cell in range(len(side.cells)):
        if side.cells[cell] != wanted or side.to_goal[cell] > FARTHEST:
            continue
        settled = SETTLED if side.target[cell] == wanted else 0
        rank = 4 * (side.to_goal[cell] + settled) + draw(side.random, 16)
        if rank < least:
            main, least = cell, rank
    return main


@njit(cache=True, nogil=True)
def _choose_movers(side: Side, goal: int, main: int, most: int) -> int:  # pragma: no cover - compiled
    """Fill `movers`: the ball itself, a wrong ball on the goal, and balls near the stopper; returns how many."""
    movers, ranks, cells = side.movers, side.ranks, side.cells
    movers[0] = main
    count = 1
    if cells[goal] >= 0:
        movers[1] = goal
        count = 2
    fixed = count
    most = max(most, fixed)
    for cell in range(len(cells)):
        if cells[cell] < 0 or cell in (main, goal) or side.to_stopper[cell] > FARTHEST:
            continue
        settled = SETTLED if cells[cell] == side.target[cell] else 0
        rank = 4 * (side.to_stopper[cell] + settled) + draw(side.random, 16)
        if count < most:
            i = count
            count += 1
        elif most > fixed and rank < ranks[count - 1]:
            i = count - 1
        else:
            continue
        while i > fixed and ranks[i - 1] > rank:
            ranks[i] = ranks[i - 1]
            movers[i] = movers[i - 1]
            i -= 1
        ranks[i] = rank
        movers[i] = cell
    return count


@njit(cache=True, nogil=True)
def go_on(side: Side, balls: int, work: int, limit: int, equal: int) -> None:  # pragma: no cover - compiled
    """Make beams for about `work` units (some 3 ns each); rolls end at `limit`, those of equal boards at `equal`."""
    side.now[WORK] = 0
    while side.now[WORK] < work and side.now[POINTS] < 2 * balls and side.now[ROLLS] < limit:
        goal = choose_goal(side)
        least = 0 if side.now[ROLLS] < equal else 1
        try_beam(side, goal, least, limit - side.now[ROLLS])
