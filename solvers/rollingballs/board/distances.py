"""Distances for balls that may still find a stopper: what guides the beam to a cell in the open."""

from __future__ import annotations

import numpy as np
from numba import njit

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.flat import Cells, Ints

STOPPER_COST = 3
FARTHEST = 30


def make_buckets(cells: int) -> Ints:
    """Make room for `measure_dreams` on a board of `cells` cells."""
    return np.zeros((STOPPER_COST + 2, 4 * cells), np.int32)


@njit(cache=True, nogil=True)
def measure_dreams(
    cells: Cells, steps: Ints, goal: int, distance: Ints, buckets: Ints
) -> int:  # pragma: no cover - compiled
    """Fill `distance` with the cost of rolling to `goal`, where a stop in the open costs STOPPER_COST more.

    Cells that cost more than FARTHEST get FARTHEST + 1. Returns the number of cells looked at.
    """
    distance[:] = FARTHEST + 1
    distance[goal] = 0
    rings = STOPPER_COST + 2
    sizes = np.zeros(rings, np.int64)
    buckets[0, 0] = goal
    sizes[0] = 1
    seen = 0
    for cost in range(FARTHEST - STOPPER_COST):
        ring = cost % rings
        for i in range(sizes[ring]):
            cell = buckets[ring, i]
            if distance[cell] != cost:
                continue
            for way in range(4):
                step = steps[way]
                ahead = cost + 1 if cells[cell + step] != EMPTY else cost + 1 + STOPPER_COST
                before = cell - step
                while cells[before] == EMPTY:
                    seen += 1
                    if distance[before] > ahead:
                        distance[before] = ahead
                        other = ahead % rings
                        if sizes[other] < buckets.shape[1]:
                            buckets[other, sizes[other]] = before
                            sizes[other] += 1
                    before -= step
                if cells[before] >= 0 and distance[before] > ahead:
                    distance[before] = ahead
        sizes[ring] = 0
    return seen


@njit(cache=True, nogil=True)
def stopper_on_way(cells: Cells, steps: Ints, at: int, distance: Ints, skip: int) -> int:  # pragma: no cover - compiled
    """Walk the dreamt way of a ball from `at` and return the cell where its stopper number `skip` would have to be.

    With fewer stoppers on the way, the last of them; -1 if the ball needs none.
    """
    stopper = -1
    for _ in range(FARTHEST):
        if distance[at] == 0:
            return stopper
        best, best_cost, best_stopper = -1, distance[at], -1
        for way in range(4):
            step = steps[way]
            to = at
            while cells[to + step] == EMPTY:
                to += step
                supported = cells[to + step] != EMPTY
                cost = distance[to] + (1 if supported else 1 + STOPPER_COST)
                if cost <= distance[at] and distance[to] < best_cost:
                    best, best_cost = to, distance[to]
                    best_stopper = -1 if supported else to + step
        if best < 0:
            return stopper
        if best_stopper >= 0:
            stopper = best_stopper
            if skip == 0:
                return stopper
            skip -= 1
        at = best
    return stopper


@njit(cache=True, nogil=True)
def measure_dreams_back(
    cells: Cells, steps: Ints, goal: int, distance: Ints, buckets: Ints
) -> int:  # pragma: no cover - compiled
    """As `measure_dreams`, but with the cost of un-rolling from each cell to `goal`: of rolling there from `goal`."""
    distance[:] = FARTHEST + 1
    distance[goal] = 0
    rings = STOPPER_COST + 2
    sizes = np.zeros(rings, np.int64)
    buckets[0, 0] = goal
    sizes[0] = 1
    seen = 0
    for cost in range(FARTHEST - STOPPER_COST):
        ring = cost % rings
        for i in range(sizes[ring]):
            cell = buckets[ring, i]
            if distance[cell] != cost:
                continue
            for way in range(4):
                step = steps[way]
                to = cell + step
                while cells[to] == EMPTY:
                    seen += 1
                    ahead = cost + 1 if cells[to + step] != EMPTY else cost + 1 + STOPPER_COST
                    if distance[to] > ahead:
                        distance[to] = ahead
                        other = ahead % rings
                        if sizes[other] < buckets.shape[1]:
                            buckets[other, sizes[other]] = to
                            sizes[other] += 1
                    to += step
                if cells[to] >= 0:
                    ahead = cost + 1 if cells[to + step] != EMPTY else cost + 1 + STOPPER_COST
                    distance[to] = min(distance[to], ahead)
        sizes[ring] = 0
    return seen


@njit(cache=True, nogil=True)
def stopper_on_way_back(
    cells: Cells, steps: Ints, at: int, distance: Ints, skip: int
) -> int:  # pragma: no cover - compiled
    """As `stopper_on_way`, for a ball that un-rolls from `at` down the distances of `measure_dreams_back`."""
    stopper = -1
    for _ in range(FARTHEST):
        if distance[at] == 0:
            return stopper
        best, best_cost, best_stopper = -1, distance[at], -1
        for way in range(4):
            step = steps[way]
            supported = cells[at + step] != EMPTY
            cost = 1 if supported else 1 + STOPPER_COST
            to = at - step
            while cells[to] == EMPTY:
                if distance[to] + cost <= distance[at] and distance[to] < best_cost:
                    best, best_cost = to, distance[to]
                    best_stopper = -1 if supported else at + step
                to -= step
        if best < 0:
            return stopper
        if best_stopper >= 0:
            stopper = best_stopper
            if skip == 0:
                return stopper
            skip -= 1
        at = best
    return stopper
