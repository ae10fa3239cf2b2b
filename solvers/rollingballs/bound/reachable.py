"""Cells that each ball can reach, however the others roll: a superset of the true ones.

A ball stops on a cell only if the next one is a wall or holds another ball, so it needs a cell that another ball can
be on. Starting with the balls at rest, cells are added until nothing changes. A cell that no ball ever comes to is a
pocket that stays empty; a ball with walls and such balls on all sides never leaves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from checkers.rollingballs import EMPTY, WALL
from solvers.rollingballs.board.flat import Cells, Ints

Reached = NDArray[np.bool_]


def find_reachable(cells: Cells, steps: Ints, *, backward: bool = False) -> tuple[Ints, Reached]:
    """Return the balls' cells, int32[balls], and the cells each of them can ever be on, bool[balls, cells].

    With `backward`, the cells each can ever have been on before: if all rolls ended exactly at `cells`.
    """
    balls = np.flatnonzero(cells >= 0).astype(np.int32)
    reached = np.zeros((len(balls), len(cells)), np.bool_)
    reached[np.arange(len(balls)), balls] = True
    visitors = np.zeros(len(cells), np.int32)
    visitors[balls] = 1
    walls = _freeze(cells, steps, balls)
    queue = np.zeros(len(cells), np.int32)
    while _spread(walls, steps, reached, visitors, queue, backward):
        pass
    return balls, reached


def _freeze(cells: Cells, steps: Ints, balls: Ints) -> Cells:
    """Return the maze in which the balls that can never leave are walls."""
    walls = np.where(cells == WALL, WALL, EMPTY).astype(np.int8)
    walls[balls] = WALL
    free = [int(ball) for ball in balls if (cells[ball + steps] == EMPTY).any()]
    walls[free] = EMPTY
    while free:
        beside = free.pop() + steps
        loose = [int(cell) for cell in beside if cells[cell] >= 0 and walls[cell] == WALL]
        walls[loose] = EMPTY
        free += loose
    return walls


@njit(cache=True, nogil=True)
def _spread(
    walls: Cells, steps: Ints, reached: Reached, visitors: Ints, queue: Ints, backward: bool
) -> bool:  # pragma: no cover - compiled
    """Roll, or un-roll, every ball from all cells it has reached; True if any came to a new cell."""
    changed = False
    for ball in range(len(reached)):
        own = reached[ball]
        tail = 0
        for cell in range(len(walls)):
            if own[cell] and walls[cell] == EMPTY:
                queue[tail] = cell
                tail += 1
        head = 0
        while head < tail:
            start = queue[head]
            head += 1
            for way in range(4):
                ahead = start + steps[way]
                can_stop = walls[ahead] != EMPTY or visitors[ahead] - (1 if own[ahead] else 0) > 0
                if backward and not can_stop:
                    continue
                step = -steps[way] if backward else steps[way]
                cell = start
                while walls[cell + step] == EMPTY:
                    cell += step
                    ahead = cell + step
                    if not backward:
                        can_stop = walls[ahead] != EMPTY or visitors[ahead] - (1 if own[ahead] else 0) > 0
                    if can_stop and not own[cell]:
                        own[cell] = True
                        visitors[cell] += 1
                        queue[tail] = cell
                        tail += 1
                        changed = True
    return changed
