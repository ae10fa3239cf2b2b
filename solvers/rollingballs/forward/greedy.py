"""Greedy with restarts: fill the target's cells in random order, each with the nearest free ball that can roll there.

Only one ball moves at a time and the others stand still, so a cell in the open, with nothing to stop a ball, stays
unfilled. One pass costs a breadth-first search a cell; passes repeat while they gain, then a new order is tried.
"""

from __future__ import annotations

import numpy as np

from checkers.compiled import njit
from checkers.rollingballs import EMPTY, Answer, Instance
from solvers.parts.clock import Clock
from solvers.rollingballs.board.flat import (
    UNKNOWN,
    Board,
    Cells,
    Ints,
    Random,
    draw,
    lay_out,
    make_roll,
    measure_ways,
    points_of,
    seed_random,
    to_answer,
    undo_rolls,
    walk_way,
)


def solve_greedy(instance: Instance, clock: Clock, seed: int) -> Answer:
    """Restart until the clock stops, one restart a step, and return the best play."""
    board = lay_out(instance)
    random = seed_random(seed)
    best, best_points = np.empty((0, 3), np.int32), points_of(board.cells, board.target)
    while clock.step(best=best_points) and best_points < 2 * board.balls:
        rolls, points = _play(board, random)
        if points > best_points:
            best, best_points = rolls, points
    clock.report(best=best_points, final=True)
    return to_answer(board, best)


def _play(board: Board, random: Random) -> tuple[Ints, int]:
    cells = board.cells.copy()
    goals = np.flatnonzero(board.target >= 0).astype(np.int32)
    distance, queue = np.empty(len(cells), np.int32), np.empty(len(cells), np.int32)
    rolls = np.empty((board.most_rolls, 3), np.int32)
    count = gained = _pass(cells, board.target, board.steps, goals, random, distance, queue, rolls, 0)
    while gained:
        before = count
        count = _pass(cells, board.target, board.steps, goals, random, distance, queue, rolls, count)
        gained = count - before
    return rolls[:count].copy(), points_of(cells, board.target)


@njit(cache=True, nogil=True)
def _pass(
    cells: Cells,
    target: Cells,
    steps: Ints,
    goals: Ints,
    random: Random,
    distance: Ints,
    queue: Ints,
    rolls: Ints,
    count: int,
) -> int:  # pragma: no cover - compiled
    """Try every unfilled goal once in random order; return the new number of rolls."""
    for i in range(len(goals) - 1, 0, -1):
        j = draw(random, i + 1)
        goals[i], goals[j] = goals[j], goals[i]
    for goal in goals:
        if cells[goal] == target[goal] or count == len(rolls):
            continue
        filled = fill_goal(cells, target, steps, goal, random, distance, queue, rolls, count)
        if filled > 0:
            count = filled
    return count


@njit(cache=True, nogil=True)
def fill_goal(
    cells: Cells,
    target: Cells,
    steps: Ints,
    goal: int,
    random: Random,
    distance: Ints,
    queue: Ints,
    rolls: Ints,
    count: int,
) -> int:  # pragma: no cover - compiled
    """Roll the nearest ball of the goal's colour that is not right already onto `goal`, a wrong ball there first away.

    Returns the new number of rolls, or -1 with all undone if no ball can come or the rolls run out.
    """
    first = count
    if cells[goal] != EMPTY:
        way = draw(random, 4)
        if cells[goal + steps[way]] != EMPTY:
            return -1
        make_roll(cells, steps, goal, way, rolls, count)
        count += 1
    measure_ways(cells, steps, goal, distance, queue)
    nearest = -1
    for cell in range(len(cells)):
        if cells[cell] != target[goal] or target[cell] == target[goal] or distance[cell] == UNKNOWN:
            continue
        if nearest < 0 or distance[cell] < distance[nearest]:
            nearest = cell
    walked = walk_way(cells, steps, nearest, distance, rolls, count) if nearest >= 0 else -1
    if walked < 0:
        undo_rolls(cells, rolls, count, first)
    return walked
