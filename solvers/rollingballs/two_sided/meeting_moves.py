"""Let two balls of one colour meet: the one of `fore` rolls, the one of `back` un-rolls, to a cell both can reach."""

from __future__ import annotations

from numba import njit

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.flat import UNKNOWN, Cells, Ints, draw, stop_of
from solvers.rollingballs.board.paths import play_back, play_forward
from solvers.rollingballs.two_sided.two_boards import BACKS, DEAREST, FORE, MATCHED, ROLLS, TwoBoards, count_matched

MOST_CANDIDATES = 8
MOST_STOLEN = 4
FREE, RIGHT = range(2)


@njit(cache=True, nogil=True)
def reach_forward(
    cells: Cells, steps: Ints, ball: int, farthest: int, room: Ints, queue: Ints
) -> int:  # pragma: no cover - compiled
    """Find the cells that `ball` can roll to in at most `farthest` rolls, others at rest; returns how many.

    `room` rows: rolls (UNKNOWN if not reached), the cell before, the last direction; `queue` has them in order.
    """
    distance, parent, ways = room[0], room[1], room[2]
    distance[:] = UNKNOWN
    colour = cells[ball]
    cells[ball] = EMPTY
    distance[ball] = 0
    queue[0] = ball
    head, tail = 0, 1
    while head < tail:
        cell = queue[head]
        head += 1
        ahead = distance[cell] + 1
        if ahead > farthest:
            break
        for way in range(4):
            to = stop_of(cells, cell, steps[way])
            if distance[to] == UNKNOWN:
                distance[to] = ahead
                parent[to] = cell
                ways[to] = way
                queue[tail] = to
                tail += 1
    cells[ball] = colour
    return tail


@njit(cache=True, nogil=True)
def reach_back(
    cells: Cells, steps: Ints, ball: int, farthest: int, room: Ints, queue: Ints
) -> int:  # pragma: no cover - compiled
    """Find the cells that `ball` can un-roll to in at most `farthest` un-rolls; as `reach_forward`."""
    distance, parent, ways = room[0], room[1], room[2]
    distance[:] = UNKNOWN
    colour = cells[ball]
    cells[ball] = EMPTY
    distance[ball] = 0
    queue[0] = ball
    head, tail = 0, 1
    while head < tail:
        cell = queue[head]
        head += 1
        ahead = distance[cell] + 1
        if ahead > farthest:
            break
        for way in range(4):
            step = steps[way]
            if cells[cell + step] == EMPTY:
                continue
            before = cell - step
            while cells[before] == EMPTY:
                if distance[before] == UNKNOWN:
                    distance[before] = ahead
                    parent[before] = cell
                    ways[before] = way
                    queue[tail] = before
                    tail += 1
                before -= step
    cells[ball] = colour
    return tail


@njit(cache=True, nogil=True)
def meet(two: TwoBoards, side: int, ball: int, whom: int) -> bool:  # pragma: no cover - compiled
    """Match `ball` of one side with a ball of the other, the cheapest of a few: a FREE or RIGHT one of its colour.

    RIGHT steals from another pair; with ANY the colour does not count but the partner must stand where `fore` or
    `back` has no ball. False, and nothing done, if none meets it.
    """
    fore, back, steps, random = two.fore, two.back, two.steps, two.random
    own, other = (fore, back) if side == FORE else (back, fore)
    mine, queue, dearest = two.rooms[0:3], two.rooms[9], two.now[DEAREST]
    if side == FORE:
        reach_forward(own, steps, ball, dearest, mine, queue)
    else:
        reach_back(own, steps, ball, dearest, mine, queue)
    colour = own[ball]
    tried, best, best_ball, best_cell, held = 0, dearest + 1, -1, -1, 0
    most = MOST_STOLEN if whom == RIGHT else MOST_CANDIDATES
    start = draw(random, len(own))
    for i in range(len(own)):
        candidate = start + i if start + i < len(own) else start + i - len(own)
        if other[candidate] != colour or (own[candidate] == colour) != (whom == RIGHT):
            continue
        tried += 1
        if tried > most:
            break
        yours = two.rooms[6:9] if held == 0 else two.rooms[3:6]
        if side == FORE:
            count = reach_back(other, steps, candidate, best, yours, queue)
        else:
            count = reach_forward(other, steps, candidate, best, yours, queue)
        improved = False
        for j in range(count):
            cell = queue[j]
            cost = yours[0, cell] + mine[0, cell]
            if cost < best or (cost == best and best <= dearest and draw(random, 4) == 0):
                best, best_ball, best_cell, improved = cost, candidate, cell, True
        if improved:
            held = 1 - held
    if best_ball < 0:
        return False
    yours = two.rooms[6:9] if held == 1 else two.rooms[3:6]
    if side == FORE:
        return _join(two, ball, mine, best_ball, yours, best_cell)
    return _join(two, best_ball, yours, ball, mine, best_cell)


@njit(cache=True, nogil=True)
def _join(
    two: TwoBoards, roller: int, roller_room: Ints, goal: int, goal_room: Ints, cell: int
) -> bool:  # pragma: no cover - compiled
    """Roll and un-roll both to `cell`."""
    queue = two.rooms[9]
    rolls = play_forward(two.fore, roller, cell, roller_room[1], roller_room[2], two.rolls, two.now[ROLLS], queue)
    if rolls < 0:
        return False
    backs = play_back(two.back, goal, cell, goal_room[1], goal_room[2], two.backs, two.now[BACKS], queue)
    if backs < 0:
        return False
    two.now[ROLLS], two.now[BACKS] = rolls, backs
    two.now[MATCHED] = count_matched(two)
    return True
