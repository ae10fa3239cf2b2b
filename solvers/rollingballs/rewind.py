"""Un-roll the target until every ball lies where balls arrive easily: a new target, and the rolls from it to the old.

A ball at z with an obstacle behind it in direction d may have come, by a roll in direction d, from any free cell of the
ray on the other side. Most cells of a random target are in the open and hard to fill last; read backwards, they are
only left, which is easy. So a search aims at the rewound target and then plays the recorded rolls.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board import (
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

SWEEPS = 40
TRIES = 20
HARD_COST = 12
EASY_SPOT = 50
HARD_MOVES_ONE_IN = 16
ENOUGH = 0.3


def measure_ease(board: Board) -> Ints:
    """Count, for each cell of the maze without balls, the cells from which a ball can roll there."""
    walls = np.where(board.cells >= 0, EMPTY, board.cells).astype(np.int8)
    ease = np.zeros(len(walls), np.int32)
    _measure_ease(walls, board.steps, ease, np.empty(len(walls), np.int32), np.empty(len(walls), np.int32))
    return ease


def rewind(board: Board, ease: Ints, random: Random, most: int) -> tuple[Cells, Ints]:
    """Un-roll the target by at most `most` rolls; returns the new target and the rolls from it to the true one."""
    rooms = np.zeros((4, len(board.cells)), np.int32)
    enough = int(ENOUGH * ease.max())
    best_cells, best_rolls, least = board.target, np.empty((0, 3), np.int32), 1 << 30
    for _ in range(TRIES):
        cells = board.target.copy()
        rolls = np.zeros((most, 3), np.int32)
        count = _rewind(cells, board.steps, ease, enough, random, rolls, rooms)
        cost = HARD_COST * int(((ease < enough) & (cells >= 0)).sum()) + count
        if cost < least:
            best_cells, best_rolls, least = cells, rolls[:count][::-1].copy(), cost
    return best_cells, best_rolls


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
def _rewind(
    cells: Cells, steps: Ints, ease: Ints, enough: int, random: Random, rolls: Ints, rooms: Ints
) -> int:  # pragma: no cover - compiled
    """Sweep over the balls that lie hard until none does or the rolls run out; return the number of rolls."""
    count = 0
    balls = rooms[3]
    for _ in range(SWEEPS):
        hard = 0
        for cell in range(len(cells)):
            if cells[cell] >= 0 and ease[cell] < enough:
                balls[hard] = cell
                hard += 1
        if hard == 0:
            break
        for i in range(hard - 1, -1, -1):
            j = draw(random, i + 1)
            cell = balls[j]
            balls[j] = balls[i]
            if cells[cell] < 0 or count + 40 > len(rolls):
                continue
            moved = _leave(cells, steps, ease, enough, random, cell, rolls, count, rooms)
            if moved == count and ease[cell] < enough:
                way = _choose_spot(cells, steps, ease, random, cell)
                if way >= 0:
                    helped = fetch(cells, steps, cell + steps[way], cell, random, rolls, count, rooms)
                    if helped > count:
                        moved = _leave(cells, steps, ease, enough, random, cell, rolls, helped, rooms)
                        if moved == helped:
                            cells[rolls[count, TO]] = cells[cell + steps[way]]
                            cells[cell + steps[way]] = EMPTY
                            moved = count
            count = moved
    return count


@njit(cache=True, nogil=True)
def _choose_spot(
    cells: Cells, steps: Ints, ease: Ints, random: Random, ball: int
) -> int:  # pragma: no cover - compiled
    """Choose the direction of a free neighbour where a helper lets `ball` leave, rather one it can leave itself."""
    chosen, best = -1, -1
    for way in range(4):
        spot = ball + steps[way]
        if cells[spot] != EMPTY or cells[ball - steps[way]] != EMPTY:
            continue
        value = draw(random, 100) + min(ease[spot], EASY_SPOT)
        if value > best:
            chosen, best = way, value
    return chosen


@njit(cache=True, nogil=True)
def _leave(
    cells: Cells,
    steps: Ints,
    ease: Ints,
    enough: int,
    random: Random,
    ball: int,
    rolls: Ints,
    count: int,
    rooms: Ints,
) -> int:  # pragma: no cover - compiled
    """Un-roll one ball to the cell, of all it can come from, that is easiest to reach; return the number of rolls."""
    parent, queue, ways = rooms[0], rooms[1], rooms[2]
    parent[:] = -1
    colour = cells[ball]
    cells[ball] = EMPTY
    parent[ball] = ball
    queue[0] = ball
    head, tail = 0, 1
    best, best_value = ball, 2 * ease[ball]
    while head < tail < 400:
        cell = queue[head]
        head += 1
        for way in range(4):
            if cells[cell + steps[way]] == EMPTY:
                continue
            before = cell - steps[way]
            while cells[before] == EMPTY:
                if parent[before] < 0:
                    parent[before] = cell
                    ways[before] = way
                    queue[tail] = before
                    tail += 1
                    value = ease[before] + draw(random, 1 + ease[before])
                    if value > best_value:
                        best, best_value = before, value
                before -= steps[way]
        if best != ball and head > 8:
            break
    cells[ball] = colour
    if best == ball or (ease[best] < enough and draw(random, HARD_MOVES_ONE_IN) > 0):
        return count
    return _record(cells, parent, ways, best, ball, rolls, count, queue)


@njit(cache=True, nogil=True)
def _record(
    cells: Cells, parent: Ints, ways: Ints, end: int, ball: int, rolls: Ints, count: int, queue: Ints
) -> int:  # pragma: no cover - compiled
    """Write down the un-rolls from `ball` to `end` along `parent` and move the ball."""
    length = 0
    cell = end
    while cell != ball:
        queue[length] = cell
        length += 1
        cell = parent[cell]
    if count + length > len(rolls):
        return count
    for i in range(length - 1, -1, -1):
        cell = queue[i]
        rolls[count, FROM] = cell
        rolls[count, WAY] = ways[cell]
        rolls[count, TO] = parent[cell]
        count += 1
    colour = cells[ball]
    cells[ball] = EMPTY
    cells[end] = colour
    return count


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
