"""How many steps are needed at least: tables over pairs of piglets, made once for a map and four target cells.

`leap[a, b, q]`  at least so many steps bring piglets a and b to the two targets of pair q, whatever helps them
`first[a, b, q]` the same, in plans in which a walks all the way, or makes its first jump over b

Four piglets are split into two pairs in three ways, and the targets in six. The least sum over all of them with `leap`
is the best assignment. It knows nothing of who is there to be jumped over. But any one piglet i either walks all the
way or first jumps over some other piglet o: so the least sum over o of first[i, o] + leap[the other two] is a bound
too, and the greatest of the four such bounds holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.lazypiglets.maps import FAR, Cells, Field, Table16

PAIRS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
"""Pairs of targets; the other two of PAIRS[q] are PAIRS[5 - q]."""

MOST = 2 * FAR


@dataclass(frozen=True)
class Bounds:
    """The two tables for one set of targets, each cells x cells x 6."""

    leap: Table16
    first: Table16


def bounds_to(targets: Cells, field: Field) -> Bounds:
    """Make the tables for the steps to four cells."""
    walked = matchings(field.walks, field.leaps, targets)
    jumped = np.stack([_jumping(targets, field, q) for q in range(6)], axis=2)
    return Bounds(matchings(field.leaps, field.leaps, targets), np.minimum(walked, jumped))


def matchings(mine: Table16, others: Table16, targets: Cells) -> Table16:
    """The cheaper matching of all cells a (by `mine`) and b (by `others`) with each pair of targets."""
    table = np.empty((len(mine), len(mine), 6), np.int16)
    for q, pair in enumerate(PAIRS):
        x, y = targets[list(pair)]
        np.minimum(mine[:, x, None] + others[y], mine[:, y, None] + others[x], out=table[:, :, q])
    return table


def _jumping(targets: Cells, field: Field, q: int) -> Table16:
    """Steps of a and b to pair q where a walks to some cell, jumps over b there, and both go on by leaps."""
    x, y = (int(targets[k]) for k in PAIRS[q])
    cells = len(field.beside)
    cost = np.full((cells, cells), MOST, np.int16)
    places, costs = [], []
    for direction in range(4):
        start = np.flatnonzero(field.beside[:, direction] >= 0)
        middle = field.beside[start, direction]
        landing = field.beside[middle, direction]
        start, middle, landing = (cell[landing >= 0] for cell in (start, middle, landing))
        places.append(start * cells + middle)
        costs.append(1 + np.minimum(field.leaps[landing, x] + field.leaps[middle, y],
                                    field.leaps[landing, y] + field.leaps[middle, x]))  # fmt: skip
    place, least = np.concatenate(places), np.concatenate(costs)
    order = np.argsort(least, kind="stable")
    order = order[least[order] < FAR]
    _spread(place[order], least[order].astype(np.int64), field.beside, cost)
    return cost


@njit(cache=True, nogil=True)
def _spread(
    places: NDArray[np.int64], costs: NDArray[np.int64], beside: NDArray[np.int16], cost: Table16
) -> None:  # pragma: no cover - compiled
    """Fill `cost` with the least over all jumps of its cost, the walk of a to it and the leaps of b to its middle.

    `places` (start * cells + middle) are in the order of `costs`. Every step costs one, so a queue stays sorted.
    """
    cells = len(beside)
    queue = np.empty(cells * cells, np.int64)
    head = 0
    tail = 0
    next_ = 0
    while head < tail or next_ < len(places):
        if head < tail and (next_ == len(places) or cost[queue[head] // cells, queue[head] % cells] <= costs[next_]):
            a = queue[head] // cells
            b = queue[head] % cells
            head += 1
        else:
            a = places[next_] // cells
            b = places[next_] % cells
            next_ += 1
            if cost[a, b] <= costs[next_ - 1]:
                continue
            cost[a, b] = costs[next_ - 1]
        more = cost[a, b] + 1
        for direction in range(4):
            to = np.int64(beside[a, direction])
            if to >= 0 and cost[to, b] > more:
                cost[to, b] = more
                queue[tail] = to * cells + b
                tail += 1
            to = np.int64(beside[b, direction])
            for _ in range(2):
                if to < 0:
                    break
                if cost[a, to] > more:
                    cost[a, to] = more
                    queue[tail] = a * cells + to
                    tail += 1
                to = np.int64(beside[to, direction])


@njit(cache=True, nogil=True)
def least_sum(one: Table16, a: int, b: int, two: Table16, c: int, d: int) -> int:  # pragma: no cover - compiled
    """The least sum over the ways to give two targets to a and b, by `one`, and the others to c and d, by `two`."""
    best = np.int64(2 * MOST)
    for q in range(6):
        total = np.int64(one[a, b, q]) + np.int64(two[c, d, 5 - q])
        best = min(best, total)
    return best


@njit(cache=True, nogil=True)
def assignment(four: Cells, leap: Table16) -> int:  # pragma: no cover - compiled
    """The best assignment of four piglets to the targets."""
    a, b, c, d = four[0], four[1], four[2], four[3]
    best = least_sum(leap, a, b, leap, c, d)
    best = min(best, least_sum(leap, a, c, leap, b, d))
    return min(best, least_sum(leap, a, d, leap, b, c))


@njit(cache=True, nogil=True)
def first_jump(four: Cells, i: int, leap: Table16, first: Table16) -> int:  # pragma: no cover - compiled
    """The bound from the first jump of the i-th piglet, or from its walk."""
    a = four[i]
    b, c, d = four[(i + 1) & 3], four[(i + 2) & 3], four[(i + 3) & 3]
    best = least_sum(first, a, b, leap, c, d)
    best = min(best, least_sum(first, a, c, leap, b, d))
    return min(best, least_sum(first, a, d, leap, b, c))
