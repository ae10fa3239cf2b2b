"""Reading rolls backwards: how easily a ball comes to a cell, and where a ball can have come from.

A ball at z with an obstacle behind it in direction d may have come, by a roll in direction d, from any free cell of the
ray on the other side.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.flat import (
    FROM,
    TO,
    UNKNOWN,
    WAY,
    Board,
    Cells,
    Ints,
    Random,
    draw,
    measure_ways,
    stop_of,
)


def measure_ease(board: Board) -> Ints:
    """Count, for each cell of the maze without balls, the cells from which a ball can roll there."""
    walls = np.where(board.cells >= 0, EMPTY, board.cells).astype(np.int8)
    ease = np.zeros(len(walls), np.int32)
    _measure_ease(walls, board.steps, ease, np.empty(len(walls), np.int32), np.empty(len(walls), np.int32))
    return ease


@njit(cache=True, nogil=True)
def _measure_ease(
    walls: Cells, steps: Ints, ease: Ints, distance: Ints, queue: Ints
) -> None:  # pragma: no cover - compiled
    for goal in range(len(walls)):
        if walls[goal] != EMPTY:
            continue
        measure_ways(walls, steps, goal, distance, queue)
        for cell in range(len(walls)):
            if 0 < distance[cell] < UNKNOWN:
                ease[goal] += 1


@njit(cache=True, nogil=True)
def fetch(
    cells: Cells, steps: Ints, spot: int, ball: int, random: Random, rolls: Ints, count: int, rooms: Ints
) -> int:  # pragma: no cover - compiled
    """Un-roll some ball, not `ball`, to `spot`; return the number of rolls, unchanged if none can come from there."""
    child, queue, ways = rooms[0], rooms[1], rooms[2]
    child[:] = -1
    child[spot] = spot
    queue[0] = spot
    head, tail = 0, 1
    while head < tail:
        cell = queue[head]
        head += 1
        first = draw(random, 4)
        for turn in range(4):
            way = (first + turn) % 4
            to = stop_of(cells, cell, steps[way])
            helper = to + steps[way]
            if cells[helper] >= 0 and helper != ball and cells[helper + steps[way]] != EMPTY:
                done = _bring(cells, steps, child, ways, spot, cell, way, helper, rolls, count)
                if done > count:
                    return done
            if child[to] < 0:
                child[to] = cell
                ways[to] = way
                queue[tail] = to
                tail += 1
    return count


@njit(cache=True, nogil=True)
def _bring(
    cells: Cells,
    steps: Ints,
    child: Ints,
    ways: Ints,
    spot: int,
    cell: int,
    way: int,
    helper: int,
    rolls: Ints,
    count: int,
) -> int:  # pragma: no cover - compiled
    """Un-roll `helper` to `cell` and on to `spot`; nothing is done if it was its own stopper on the way."""
    colour = cells[helper]
    cells[helper] = EMPTY
    first = count
    at, to = helper, cell
    good = True
    while good and count < len(rolls):
        good = cells[at + steps[way]] != EMPTY and stop_of(cells, to, steps[way]) == at
        rolls[count, FROM] = to
        rolls[count, WAY] = way
        rolls[count, TO] = at
        count += 1
        if to == spot:
            break
        at, to, way = to, child[to], ways[to]
    if not good or to != spot:
        cells[helper] = colour
        return first
    cells[spot] = colour
    return count
