"""Bring a ball to a cell of either board, with helpers where it has to be stopped, and helpers for these."""

from __future__ import annotations

from numba import njit

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.distances import (
    FARTHEST,
    measure_dreams,
    measure_dreams_back,
    stopper_on_way,
    stopper_on_way_back,
)
from solvers.rollingballs.board.flat import FROM, TO, UNKNOWN, WAY, Cells, Ints, draw, measure_ways, stop_of, undo_rolls
from solvers.rollingballs.board.paths import undo_backs
from solvers.rollingballs.two_sided.two_boards import BACK, BACKS, MATCHED, ROLLS, TwoBoards, count_matched

MOST_TURNS = 14
LEAST_ROOM = 30
SETTLED = 12


@njit(cache=True, nogil=True)
def bring(two: TwoBoards, side: int, goal: int, wanted: int, deepest: int) -> bool:  # pragma: no cover - compiled
    """Bring a ball, of colour `wanted` if that is not -1, to the free cell `goal`.

    False, and nothing done, if none can. A stack of cells to fill, at most `deepest` + 1 high, the goal lowest.
    """
    back, random = side == BACK, two.random
    cells, moves, kind = (two.back, two.backs, BACKS) if back else (two.fore, two.rolls, ROLLS)
    first = int(two.now[kind])
    count = first
    locked, distance, queue, stack = two.locked, two.rooms[6], two.rooms[9], two.stack
    locked[:] = 0
    stack[0] = goal
    height = 1
    for _ in range(MOST_TURNS):
        cell = stack[height - 1]
        colour = wanted if height == 1 else -1
        if cells[cell] != EMPTY or count + LEAST_ROOM > len(moves):
            break
        if back:
            measure_ways_back(cells, two.steps, cell, distance, queue)
        else:
            measure_ways(cells, two.steps, cell, distance, queue)
        mover = _choose_mover(two, side, colour, distance, UNKNOWN - 1)
        walked = -1
        if mover >= 0 and back:
            walked = walk_back(cells, two.steps, mover, distance, moves, count)
        elif mover >= 0:
            walked = _walk(cells, two.steps, mover, distance, moves, count)
        if walked >= 0:
            count = walked
            locked[cell] = 1
            height -= 1
            if height == 0:
                two.now[kind] = count
                two.now[MATCHED] = count_matched(two)
                return True
            continue
        if height > deepest:
            break
        if back:
            measure_dreams_back(cells, two.steps, cell, distance, two.buckets)
        else:
            measure_dreams(cells, two.steps, cell, distance, two.buckets)
        mover = _choose_mover(two, side, colour, distance, FARTHEST)
        if mover < 0:
            break
        skip = draw(random, 2)
        if back:
            stopper = stopper_on_way_back(cells, two.steps, mover, distance, skip)
        else:
            stopper = stopper_on_way(cells, two.steps, mover, distance, skip)
        if stopper < 0 or cells[stopper] != EMPTY:
            break
        stack[height] = stopper
        height += 1
    if back:
        undo_backs(cells, moves, count, first)
    else:
        undo_rolls(cells, moves, count, first)
    return False


@njit(cache=True, nogil=True)
def _choose_mover(
    two: TwoBoards, side: int, wanted: int, distance: Ints, farthest: int
) -> int:  # pragma: no cover - compiled
    """Choose a near ball, rather an unmatched one."""
    own, other = (two.back, two.fore) if side == BACK else (two.fore, two.back)
    best, least = -1, 1 << 30
    noise = 12 << draw(two.random, 4)
    for cell in range(len(own)):
        if own[cell] < 0 or distance[cell] > farthest or two.locked[cell] or (wanted >= 0 and own[cell] != wanted):
            continue
        rank = 4 * distance[cell] + (SETTLED if own[cell] == other[cell] else 0) + draw(two.random, noise)
        if rank < least:
            best, least = cell, rank
    return best


@njit(cache=True, nogil=True)
def _walk(
    cells: Cells, steps: Ints, at: int, distance: Ints, rolls: Ints, count: int
) -> int:  # pragma: no cover - compiled
    """Roll the ball at `at` down the distances; the new number of rolls, or -1 with all undone."""
    first = count
    while distance[at] > 0:
        chosen, to = -1, at
        for way in range(4):
            end = stop_of(cells, at, steps[way])
            if distance[end] < distance[at]:
                chosen, to = way, end
        if chosen < 0 or count == len(rolls):
            undo_rolls(cells, rolls, count, first)
            return -1
        rolls[count, FROM], rolls[count, WAY], rolls[count, TO] = at, chosen, to
        count += 1
        cells[to] = cells[at]
        cells[at] = EMPTY
        at = to
    return count


@njit(cache=True, nogil=True)
def measure_ways_back(
    cells: Cells, steps: Ints, goal: int, distance: Ints, queue: Ints
) -> None:  # pragma: no cover - compiled
    """Fill `distance` with the un-rolls a ball needs from each cell to `goal`, balls reached but not passed."""
    distance[:] = UNKNOWN
    distance[goal] = 0
    queue[0] = goal
    head, tail = 0, 1
    while head < tail:
        cell = queue[head]
        head += 1
        ahead = distance[cell] + 1
        for way in range(4):
            step = steps[way]
            to = stop_of(cells, cell, step)
            if distance[to] == UNKNOWN:
                distance[to] = ahead
                queue[tail] = to
                tail += 1
            beyond = to + step
            if cells[beyond] >= 0 and cells[beyond + step] != EMPTY and distance[beyond] == UNKNOWN:
                distance[beyond] = ahead


@njit(cache=True, nogil=True)
def walk_back(
    cells: Cells, steps: Ints, at: int, distance: Ints, backs: Ints, count: int
) -> int:  # pragma: no cover - compiled
    """Un-roll the ball at `at` down the distances; the new number of un-rolls, or -1 with all undone."""
    first = count
    while distance[at] > 0:
        best, to, chosen = distance[at], -1, -1
        for way in range(4):
            if cells[at + steps[way]] == EMPTY:
                continue
            cell = at - steps[way]
            while cells[cell] == EMPTY:
                if distance[cell] < best:
                    best, to, chosen = distance[cell], cell, way
                cell -= steps[way]
        if to < 0 or count == len(backs):
            undo_backs(cells, backs, count, first)
            return -1
        backs[count, FROM], backs[count, WAY], backs[count, TO] = to, chosen, at
        count += 1
        cells[to] = cells[at]
        cells[at] = EMPTY
        at = to
    return count
