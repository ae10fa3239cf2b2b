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
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.lazypiglets.maps import FAR, Cells, Field, Table16
from solvers.lazypiglets.runs import Runs, runs_to

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

Pairs = NDArray[np.uint64]
"""cells x cells x PAIR_WORDS: the words of two cells side by side, the greater cell first. The rest is empty.

BACK       `leap`, its lanes in reverse order
LOWER      `first` of the piglet on the smaller cell over the other one
UPPER      `first` of the piglet on the greater cell
"""
BACK, LOWER, UPPER = range(3)
PAIR_WORDS = 4


@dataclass(frozen=True)
class Bounds:
    """The tables for one set of targets; `back` is `leap` in reverse order of lanes."""

    leap: Lanes
    back: Lanes
    pairs: Pairs
    runs: Runs


def bounds_to(targets: Cells, field: Field) -> Bounds:
    """Make the tables for the steps to four cells."""
    leap = matchings(field.leaps, field.leaps, targets)
    first = np.stack([_spread(*_jumps(targets, field, q), field.beside) for q in range(6)], axis=2)
    np.minimum(first, matchings(field.walks, field.leaps, targets), out=first)
    return Bounds(packed(leap), packed(leap[:, :, ::-1]), paired(leap, first), runs_to(targets, field))


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


def _jumps(targets: Cells, field: Field, q: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List all jumps of a over b as start * cells + middle, and the steps when both continue to pair q by leaps.

    They are in the order of the steps.
    """
    x, y = (int(targets[k]) for k in PAIRS[q])
    cells = len(field.beside)
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
    return place[order], least[order].astype(np.int64)


@njit(cache=True, nogil=True)
def _spread(
    places: NDArray[np.int64], costs: NDArray[np.int64], beside: NDArray[np.int16]
) -> Table16:  # pragma: no cover - compiled
    """Tabulate the least over all jumps of its cost, the walk of a to it and the leaps of b to its middle.

    `places` (start * cells + middle) are in the order of `costs`. Every step costs one, so a queue stays sorted.
    """
    cells = len(beside)
    cost = np.full((cells, cells), MOST, np.int16)
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
    return cost


@njit(cache=True, nogil=True)
def paired(leap: Table16, first: Table16) -> Pairs:  # pragma: no cover - compiled
    """Put the tables side by side; what is too large for a lane is cut off."""
    pairs = np.zeros((len(leap), len(leap), PAIR_WORDS), np.uint64)
    for high in range(len(pairs)):
        for low in range(high):
            for q in range(6):
                lane, reverse = np.uint64(BITS * q), np.uint64(BITS * (5 - q))
                pairs[high, low, BACK] |= np.uint64(min(leap[high, low, q], LARGEST)) << reverse
                pairs[high, low, LOWER] |= np.uint64(min(first[low, high, q], LARGEST)) << lane
                pairs[high, low, UPPER] |= np.uint64(min(first[high, low, q], LARGEST)) << lane
    return pairs


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
    lanes = _least(leap[b, a] + back[d, c], leap[c, a] + back[d, b])
    return _least_lane(_least(lanes, leap[d, a] + back[c, b]))


@njit(cache=True, nogil=True)
def first_jumps(four: Cells, pairs: Pairs) -> int:  # pragma: no cover - compiled
    """The sum of the four bounds from the first jumps of the piglets; the cells are sorted."""
    a, b, c, d = np.uint64(four[0]), np.uint64(four[1]), np.uint64(four[2]), np.uint64(four[3])
    ab, ac, ad = pairs[b, a, BACK], pairs[c, a, BACK], pairs[d, a, BACK]
    bc, bd, cd = pairs[c, b, BACK], pairs[d, b, BACK], pairs[d, c, BACK]
    total = _least_lane(_least(_least(pairs[b, a, LOWER] + cd, pairs[c, a, LOWER] + bd), pairs[d, a, LOWER] + bc))
    total += _least_lane(_least(_least(pairs[b, a, UPPER] + cd, pairs[c, b, LOWER] + ad), pairs[d, b, LOWER] + ac))
    total += _least_lane(_least(_least(pairs[c, a, UPPER] + bd, pairs[c, b, UPPER] + ad), pairs[d, c, LOWER] + ab))
    return total + _least_lane(
        _least(_least(pairs[d, a, UPPER] + bc, pairs[d, b, UPPER] + ac), pairs[d, c, UPPER] + ab)
    )


@njit(cache=True, nogil=True)
def is_within(four: Cells, room: int, pairs: Pairs) -> bool:  # pragma: no cover - compiled
    """Say whether the bounds from first jumps leave a way of `room` (0 or more) steps; the cells are sorted.

    Two subtractions compare six sums: a lane of `most` keeps its top bit where the sum is not more.
    """
    a, b, c, d = np.uint64(four[0]), np.uint64(four[1]), np.uint64(four[2]), np.uint64(four[3])
    most = TOPS | np.uint64(min(room, MOST_SUM)) * ONES
    ab, ac, ad = most - pairs[b, a, BACK], most - pairs[c, a, BACK], most - pairs[d, a, BACK]
    bc, bd, cd = most - pairs[c, b, BACK], most - pairs[d, b, BACK], most - pairs[d, c, BACK]
    a_b, a_c, a_d = cd - pairs[b, a, LOWER] & TOPS, bd - pairs[c, a, LOWER] & TOPS, bc - pairs[d, a, LOWER] & TOPS
    if a_b | a_c | a_d == 0:
        return False
    b_a, b_c, b_d = cd - pairs[b, a, UPPER] & TOPS, ad - pairs[c, b, LOWER] & TOPS, ac - pairs[d, b, LOWER] & TOPS
    if b_a | b_c | b_d == 0:
        return False
    c_a, c_b, c_d = bd - pairs[c, a, UPPER] & TOPS, ad - pairs[c, b, UPPER] & TOPS, ab - pairs[d, c, LOWER] & TOPS
    if c_a | c_b | c_d == 0:
        return False
    d_a, d_b, d_c = bc - pairs[d, a, UPPER] & TOPS, ac - pairs[d, b, UPPER] & TOPS, ab - pairs[d, c, UPPER] & TOPS
    return bool(d_a | d_b | d_c != 0)
