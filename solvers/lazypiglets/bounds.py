"""Lower bounds of the steps needed: tables over pairs of piglets, made once for a map and four target cells.

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

Lanes = NDArray[np.uint64]
"""cells x cells: a lane of ten bits for each of PAIRS in one word, values up to LARGEST, so that two can be added.

In a table that is called `back` the lanes are in reverse order: then the lanes that are added belong to a pair of
targets and the other two.
"""

BITS = 10
LARGEST = (1 << (BITS - 2)) - 1
MOST_SUM = 2 * LARGEST
ONES = np.uint64(sum(1 << (BITS * lane) for lane in range(6)))
TOPS = np.uint64(int(ONES) << (BITS - 1))
TOP = np.uint64(BITS - 1)
LANE = np.uint64((1 << BITS) - 1)


@dataclass(frozen=True)
class Bounds:
    """The tables for one set of targets; `back` is `leap` in reverse order of lanes."""

    leap: Lanes
    back: Lanes
    first: Lanes

    @property
    def tables(self) -> tuple[Lanes, Lanes, Lanes]:
        """The three tables, as kernels take them."""
        return self.leap, self.back, self.first


def bounds_to(targets: Cells, field: Field) -> Bounds:
    """Make the tables for the steps to four cells."""
    walked = matchings(field.walks, field.leaps, targets)
    jumped = np.stack([_jumping(targets, field, q) for q in range(6)], axis=2)
    leaped = matchings(field.leaps, field.leaps, targets)
    return Bounds(packed(leaped), packed(leaped[:, :, ::-1]), packed(np.minimum(walked, jumped)))


def matchings(mine: Table16, others: Table16, targets: Cells) -> Table16:
    """The cheaper matching of all cells a (by `mine`) and b (by `others`) with each pair of targets."""
    table = np.empty((len(mine), len(mine), 6), np.int16)
    for q, pair in enumerate(PAIRS):
        x, y = targets[list(pair)]
        np.minimum(mine[:, x, None] + others[y], mine[:, y, None] + others[x], out=table[:, :, q])
    return table


def packed(table: Table16) -> Lanes:
    """Put the six numbers of each two cells into the lanes of a word; what is too large for a lane is cut off."""
    lanes = np.zeros(table.shape[:2], np.uint64)
    for q in range(6):
        lanes |= np.minimum(table[:, :, q], LARGEST).astype(np.uint64) << np.uint64(BITS * q)
    return lanes


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
def _least(x: np.uint64, y: np.uint64) -> np.uint64:  # pragma: no cover - compiled
    """The lesser of each lane."""
    high = ((x | TOPS) - y) & TOPS
    mask = high | (high - (high >> TOP))
    return (y & mask) | (x & ~mask)


@njit(cache=True, nogil=True)
def _least_lane(lanes: np.uint64) -> int:  # pragma: no cover - compiled
    """The least of the six lanes."""
    half = _least(lanes, lanes >> np.uint64(3 * BITS))
    first = np.int64(half & LANE)
    second = np.int64(half >> np.uint64(BITS) & LANE)
    third = np.int64(half >> np.uint64(2 * BITS) & LANE)
    return int(min(first, second, third))


@njit(cache=True, nogil=True)
def assignment(four: Cells, leap: Lanes, back: Lanes) -> int:  # pragma: no cover - compiled
    """The best assignment of four piglets to the targets, MOST_SUM at most."""
    a, b, c, d = np.uint64(four[0]), np.uint64(four[1]), np.uint64(four[2]), np.uint64(four[3])
    lanes = _least(leap[a, b] + back[c, d], leap[a, c] + back[b, d])
    return _least_lane(_least(lanes, leap[a, d] + back[b, c]))


@njit(cache=True, nogil=True)
def first_jumps(four: Cells, back: Lanes, first: Lanes) -> int:  # pragma: no cover - compiled
    """The sum of the four bounds from the first jumps of the piglets."""
    total = 0
    for i in range(4):
        a, b = np.uint64(four[i]), np.uint64(four[(i + 1) & 3])
        c, d = np.uint64(four[(i + 2) & 3]), np.uint64(four[(i + 3) & 3])
        lanes = _least(first[a, b] + back[c, d], first[a, c] + back[b, d])
        total += _least_lane(_least(lanes, first[a, d] + back[b, c]))
    return total


@njit(cache=True, nogil=True)
def is_within(four: Cells, room: int, back: Lanes, first: Lanes) -> bool:  # pragma: no cover - compiled
    """Say whether no piglet's first jump needs more than `room` (0 or more) steps in all.

    One subtraction compares six sums: a lane of `most` keeps its top bit where the sum is not more.
    """
    a, b, c, d = np.uint64(four[0]), np.uint64(four[1]), np.uint64(four[2]), np.uint64(four[3])
    most = TOPS | np.uint64(min(room, MOST_SUM)) * ONES
    ab, ac, ad, bc, bd, cd = back[a, b], back[a, c], back[a, d], back[b, c], back[b, d], back[c, d]
    if ((most - (first[a, b] + cd)) | (most - (first[a, c] + bd)) | (most - (first[a, d] + bc))) & TOPS == 0:
        return False
    if ((most - (first[b, a] + cd)) | (most - (first[b, c] + ad)) | (most - (first[b, d] + ac))) & TOPS == 0:
        return False
    if ((most - (first[c, a] + bd)) | (most - (first[c, b] + ad)) | (most - (first[c, d] + ab))) & TOPS == 0:
        return False
    last = ((most - (first[d, a] + bc)) | (most - (first[d, b] + ac)) | (most - (first[d, c] + ab))) & TOPS
    return bool(last != 0)
