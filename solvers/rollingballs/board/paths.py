"""Write a search's way into a play: rolls of the start's board or un-rolls of the target's, and take them back."""

from __future__ import annotations

from numba import njit

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.flat import FROM, TO, WAY, Cells, Ints


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
