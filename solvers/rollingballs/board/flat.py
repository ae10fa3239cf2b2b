"""The flat board every method of RollingBalls works on, and its small kernels.

A maze of H x W cells lies in one int8 array with a wall all around it: cell (r, c) is `(r + 1) * (W + 2) + c + 1`, so
that a roll never asks where the border is. A play is that array plus the rolls made so far.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from checkers.rollingballs import EMPTY, WALL, Answer, Instance

Cells = NDArray[np.int8]
Ints = NDArray[np.int32]
Random = NDArray[np.uint64]
FROM, WAY, TO = range(3)
UNKNOWN = 10_000
_SHIFTS = (np.uint64(13), np.uint64(7), np.uint64(17), np.uint64(11))


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """An instance on flat arrays: `cells` and `target` int8[(H+2)(W+2)], `steps` the cell offset of each direction."""

    cells: Cells
    target: Cells
    steps: Ints
    stride: int
    balls: int
    most_rolls: int


def lay_out(instance: Instance) -> Board:
    """Put an instance on flat arrays with a wall around."""
    stride = instance.width + 2
    cells, target = (np.pad(maze, 1, constant_values=WALL).ravel() for maze in (instance.start, instance.target))
    steps = np.array([-1, stride, 1, -stride], np.int32)
    return Board(cells, target, steps, stride, instance.balls, instance.most_rolls)


def to_answer(board: Board, rolls: Ints) -> Answer:
    """Turn rolls on the flat board (from, direction, to) into an answer."""
    rows, columns = np.divmod(rolls[:, FROM].astype(np.int64), board.stride)
    return Answer(np.stack((rows - 1, columns - 1, rolls[:, WAY].astype(np.int64)), axis=1))


def seed_random(seed: int) -> Random:
    """Make a random source for kernels: uint64[1], never 0."""
    return np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)


@njit(cache=True, nogil=True)
def draw(random: Random, bound: int) -> int:  # pragma: no cover - compiled
    """Draw from 0..bound-1 (xorshift, Marsaglia 2003)."""
    x = random[0]
    x ^= x << _SHIFTS[0]
    x ^= x >> _SHIFTS[1]
    x ^= x << _SHIFTS[2]
    random[0] = x
    return np.int64((x >> _SHIFTS[3]) % np.uint64(bound))  # type: ignore[return-value]


@njit(cache=True, nogil=True)
def stop_of(cells: Cells, at: int, step: int) -> int:  # pragma: no cover - compiled
    """Return the cell where a ball at `at` comes to rest when it rolls by `step`."""
    while cells[at + step] == EMPTY:
        at += step
    return at


@njit(cache=True, nogil=True)
def points_of(cells: Cells, target: Cells) -> int:  # pragma: no cover - compiled
    """Count points2 of a board: 2 for a right ball on a target cell, 1 for a wrong one."""
    points = 0
    for cell in range(len(cells)):
        points += worth(cells[cell], target[cell])
    return points


@njit(cache=True, nogil=True)
def worth(ball: int, wanted: int) -> int:  # pragma: no cover - compiled
    """Count points2 of one cell."""
    if ball < 0 or wanted < 0:
        return 0
    return 2 if ball == wanted else 1


@njit(cache=True, nogil=True)
def make_roll(cells: Cells, steps: Ints, at: int, way: int, rolls: Ints, count: int) -> int:  # pragma: no cover
    """Roll the ball at `at`, write it down as number `count`, and return where it stops."""
    to = stop_of(cells, at, steps[way])
    ball = cells[at]
    cells[at] = EMPTY
    cells[to] = ball
    rolls[count, FROM] = at
    rolls[count, WAY] = way
    rolls[count, TO] = to
    return to


@njit(cache=True, nogil=True)
def undo_rolls(cells: Cells, rolls: Ints, count: int, back_to: int) -> None:  # pragma: no cover - compiled
    """Take back rolls `count - 1` down to `back_to`."""
    for i in range(count - 1, back_to - 1, -1):
        ball = cells[rolls[i, TO]]
        cells[rolls[i, TO]] = EMPTY
        cells[rolls[i, FROM]] = ball


@njit(cache=True, nogil=True)
def measure_ways(
    cells: Cells, steps: Ints, goal: int, distance: Ints, queue: Ints
) -> int:  # pragma: no cover - compiled
    """Fill `distance` with the rolls a ball needs from each cell to `goal` while no other moves; UNKNOWN if it cannot.

    Balls are reached but not passed. A ball may seem to stop against the cell it left: who walks the way must look.
    Returns the number of cells looked at.
    """
    distance[:] = UNKNOWN
    distance[goal] = 0
    queue[0] = goal
    head, tail, seen = 0, 1, 0
    while head < tail:
        cell = queue[head]
        head += 1
        for way in range(4):
            step = steps[way]
            if cells[cell + step] == EMPTY:
                continue
            before = cell - step
            while cells[before] == EMPTY:
                seen += 1
                if distance[before] == UNKNOWN:
                    distance[before] = distance[cell] + 1
                    queue[tail] = before
                    tail += 1
                before -= step
            if cells[before] >= 0 and distance[before] == UNKNOWN:
                distance[before] = distance[cell] + 1
    return seen + 4 * tail


@njit(cache=True, nogil=True)
def walk_way(
    cells: Cells, steps: Ints, at: int, distance: Ints, rolls: Ints, count: int
) -> int:  # pragma: no cover - compiled
    """Roll the ball at `at` down the distances to the goal; return the new number of rolls, or -1 with all undone."""
    first = count
    while distance[at] > 0:
        chosen = -1
        for way in range(4):
            if distance[stop_of(cells, at, steps[way])] < distance[at]:
                chosen = way
        if chosen < 0 or count == len(rolls):
            undo_rolls(cells, rolls, count, first)
            return -1
        at = make_roll(cells, steps, at, chosen, rolls, count)
        count += 1
    return count
