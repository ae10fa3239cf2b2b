"""Let a ball and an unfilled goal meet: the ball rolls forward, the goal un-rolls, to a cell both can reach."""

from __future__ import annotations

from numba import njit

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board import FROM, TO, WAY, Cells, Ints, Random, draw, stop_of, undo_rolls

MOST_CANDIDATES = 8


@njit(cache=True, nogil=True)
def spread_back(
    target: Cells, steps: Ints, goal: int, parent: Ints, ways: Ints, queue: Ints
) -> int:  # pragma: no cover - compiled
    """Find all cells `goal` can un-roll to while the other goals stay; fills parent (-1: not reached) and ways."""
    parent[:] = -1
    colour = target[goal]
    target[goal] = EMPTY
    parent[goal] = goal
    queue[0] = goal
    head, tail = 0, 1
    while head < tail:
        cell = queue[head]
        head += 1
        for way in range(4):
            if target[cell + steps[way]] == EMPTY:
                continue
            before = cell - steps[way]
            while target[before] == EMPTY:
                if parent[before] < 0:
                    parent[before] = cell
                    ways[before] = way
                    queue[tail] = before
                    tail += 1
                before -= steps[way]
    target[goal] = colour
    return tail


@njit(cache=True, nogil=True)
def roll_to_meet(
    cells: Cells, steps: Ints, ball: int, back: Ints, parent: Ints, ways: Ints, queue: Ints
) -> int:  # pragma: no cover - compiled
    """Search forward from `ball` until a cell with `back` >= 0; returns it or -1, with parent and ways filled."""
    parent[:] = -1
    colour = cells[ball]
    cells[ball] = EMPTY
    parent[ball] = ball
    queue[0] = ball
    head, tail, met = 0, 1, -1
    while head < tail:
        cell = queue[head]
        head += 1
        if back[cell] >= 0:
            met = cell
            break
        for way in range(4):
            to = stop_of(cells, cell, steps[way])
            if parent[to] < 0:
                parent[to] = cell
                ways[to] = way
                queue[tail] = to
                tail += 1
    cells[ball] = colour
    return met


@njit(cache=True, nogil=True)
def play_forward(
    cells: Cells, ball: int, end: int, parent: Ints, ways: Ints, rolls: Ints, count: int, queue: Ints
) -> int:  # pragma: no cover - compiled
    """Roll `ball` to `end` along the search's parents; return the new number of rolls, -1 if there is no room."""
    length, cell = 0, end
    while cell != ball:
        queue[length] = cell
        length += 1
        cell = parent[cell]
    if count + length > len(rolls):
        return -1
    for i in range(length - 1, -1, -1):
        cell = queue[i]
        rolls[count, FROM] = parent[cell]
        rolls[count, WAY] = ways[cell]
        rolls[count, TO] = cell
        count += 1
    colour = cells[ball]
    cells[ball] = EMPTY
    cells[end] = colour
    return count


@njit(cache=True, nogil=True)
def play_back(
    target: Cells, goal: int, end: int, parent: Ints, ways: Ints, backs: Ints, count: int, queue: Ints
) -> int:  # pragma: no cover - compiled
    """Un-roll `goal` to `end` along the search's parents; return the new number of un-rolls, -1 if there is no room."""
    length, cell = 0, end
    while cell != goal:
        queue[length] = cell
        length += 1
        cell = parent[cell]
    if count + length > len(backs):
        return -1
    for i in range(length - 1, -1, -1):
        cell = queue[i]
        backs[count, FROM] = cell
        backs[count, WAY] = ways[cell]
        backs[count, TO] = parent[cell]
        count += 1
    colour = target[goal]
    target[goal] = EMPTY
    target[end] = colour
    return count


@njit(cache=True, nogil=True)
def undo_backs(target: Cells, backs: Ints, count: int, first: int) -> None:  # pragma: no cover - compiled
    """Take back un-rolls `count - 1` down to `first`."""
    for i in range(count - 1, first - 1, -1):
        colour = target[backs[i, FROM]]
        target[backs[i, FROM]] = EMPTY
        target[backs[i, TO]] = colour


@njit(cache=True, nogil=True)
def connect(
    cells: Cells,
    target: Cells,
    steps: Ints,
    goal: int,
    random: Random,
    rolls: Ints,
    count: int,
    backs: Ints,
    back_count: int,
    rooms: Ints,
) -> tuple[int, int, int]:  # pragma: no cover - compiled
    """Bring a free ball of the goal's colour and the goal together; returns (rolls, un-rolls, cells looked at).

    Unchanged counts and boards if none of the balls tried meets it.
    """
    back, back_ways, parent, ways, queue = rooms[0], rooms[1], rooms[2], rooms[3], rooms[4]
    used = 8 * spread_back(target, steps, goal, back, back_ways, queue)
    wanted = target[goal]
    tried = 0
    start = draw(random, len(cells))
    for i in range(len(cells)):
        ball = (start + i) % len(cells)
        if cells[ball] != wanted or target[ball] == wanted:
            continue
        tried += 1
        if tried > MOST_CANDIDATES:
            break
        met = roll_to_meet(cells, steps, ball, back, parent, ways, queue)
        used += len(cells) * 2
        if met >= 0:
            made = play_forward(cells, ball, met, parent, ways, rolls, count, queue)
            if made < 0:
                break
            unmade = play_back(target, goal, met, back, back_ways, backs, back_count, queue)
            if unmade < 0:
                undo_rolls(cells, rolls, made, count)
                break
            return made, unmade, used
    return count, back_count, used


@njit(cache=True, nogil=True)
def shake_back(
    cells: Cells, target: Cells, steps: Ints, random: Random, backs: Ints, count: int
) -> int:  # pragma: no cover - compiled
    """Un-roll a random unfilled goal, or the first goal seen from it, by one random roll; return the un-rolls."""
    found, chosen = 0, -1
    for cell in range(len(target)):
        if target[cell] >= 0 and cells[cell] != target[cell]:
            found += 1
            if draw(random, found) == 0:
                chosen = cell
    if chosen < 0:
        return count
    if draw(random, 3) == 0:
        step = steps[draw(random, 4)]
        seen = stop_of(target, chosen, step) + step
        if target[seen] >= 0:
            chosen = seen
    way = draw(random, 4)
    if target[chosen + steps[way]] == EMPTY or target[chosen - steps[way]] != EMPTY:
        return count
    far = stop_of(target, chosen, -steps[way])
    cells_back = abs(far - chosen) // abs(steps[way])
    end = chosen - steps[way] * (1 + draw(random, cells_back))
    backs[count, FROM] = end
    backs[count, WAY] = way
    backs[count, TO] = chosen
    target[end] = target[chosen]
    target[chosen] = EMPTY
    return count + 1
