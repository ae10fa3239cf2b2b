"""A*: the state with the least depth plus estimate first. The estimate is the best assignment of piglets to haystacks.

A distance lets a piglet jump wherever the cell between is free, whether or not a piglet stands there: never too much,
and no step changes it by more than one, so that a state is finished when it is taken out for the first time. Nodes with
equal sums form one list; a node that a shorter way has replaced is skipped when its turn comes.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.lazypiglets.bounds import Lanes, assignment, matchings, packed
from solvers.lazypiglets.maps import PIGS, Field, list_steps, rank_of, unrank
from solvers.lazypiglets.seen import SPREAD
from solvers.lazypiglets.work import Work

NODES_AT_FIRST = 1 << 20
NODES_A_TURN = 1 << 14
BYTES_A_NODE = 4 + 2 + 4 + 8
"""Rank, depth, next of the list, and two slots of the table."""

COUNT, TOTAL, DONE = range(3)


def search_best_estimate(field: Field, work: Work) -> int:
    """Count the steps. The haystacks must be reachable. Raises Unsolved."""
    table = matchings(field.leaps, field.leaps, field.goal)
    leap, back = packed(table), packed(table[:, :, ::-1])
    heads = np.full(2 * PIGS * field.free + 2, -1, np.int32)
    ranks, depths, below = (np.empty(NODES_AT_FIRST, kind) for kind in (np.uint32, np.int16, np.int32))
    slots = np.full(2 * NODES_AT_FIRST, -1, np.int32)
    place = np.array([1, assignment(field.start, leap, back), 0], np.int64)
    ranks[0], depths[0], below[0] = field.rank(field.start), 0, -1
    heads[place[TOTAL]] = 0
    _enter(ranks, 1, slots)
    goal = field.rank(field.goal)
    while True:
        node = _expand(
            goal, field.offset, field.choose, field.beside, leap, back, ranks, depths, below, slots, heads, place
        )
        work.did(int(place[DONE]), f"at least {place[TOTAL]} steps")
        if node >= 0:
            return int(node)
        if place[COUNT] + 16 * NODES_A_TURN > len(ranks):
            size = 2 * len(ranks)
            work.holds(size * BYTES_A_NODE * 3 // 2)
            ranks, depths, below = (np.resize(old, size) for old in (ranks, depths, below))
            slots = np.full(2 * size, -1, np.int32)
            _enter(ranks, int(place[COUNT]), slots)


@njit(cache=True, nogil=True)
def _slot(rank: int, ranks: NDArray[np.uint32], slots: NDArray[np.int32]) -> int:  # pragma: no cover - compiled
    """Find the slot of a rank, or the free one where it would be."""
    mask = np.uint64(len(slots) - 1)
    slot = (np.uint64(rank + 1) * SPREAD >> np.uint64(32)) & mask
    while slots[slot] >= 0 and ranks[slots[slot]] != rank:
        slot = (slot + np.uint64(1)) & mask
    return int(slot)


@njit(cache=True, nogil=True)
def _enter(ranks: NDArray[np.uint32], count: int, slots: NDArray[np.int32]) -> None:  # pragma: no cover - compiled
    """Let every rank's slot lead to its newest node, which is the one with the shortest way."""
    for node in range(count):
        slots[_slot(np.int64(ranks[node]), ranks, slots)] = node


@njit(cache=True, nogil=True)
def _expand(
    goal: int,
    offset: int,
    choose: NDArray[np.int64],
    beside: NDArray[np.int16],
    leap: Lanes,
    back: Lanes,
    ranks: NDArray[np.uint32],
    depths: NDArray[np.int16],
    below: NDArray[np.int32],
    slots: NDArray[np.int32],
    heads: NDArray[np.int32],
    place: NDArray[np.int64],
) -> int:  # pragma: no cover - compiled
    """Take out up to a turn of nodes; returns the depth of the goal when its turn comes, else -1.

    `place` holds how many nodes there are, the least sum that has a list, and how many were taken out.
    """
    four = np.empty(4, np.int64)
    after = np.empty((16, 4), np.int64)
    for done in range(NODES_A_TURN):
        place[DONE] = done
        if place[COUNT] + 16 > len(ranks):
            return -1
        while heads[place[TOTAL]] < 0:
            place[TOTAL] += 1
        node = heads[place[TOTAL]]
        heads[place[TOTAL]] = below[node]
        rank = np.int64(ranks[node])
        if slots[_slot(rank, ranks, slots)] != node:
            continue
        if rank == goal:
            return int(depths[node])
        unrank(rank + offset, choose, four)
        for k in range(list_steps(four, beside, after)):
            child = rank_of(after[k], choose) - offset
            slot = _slot(child, ranks, slots)
            depth = depths[node] + 1
            if slots[slot] >= 0 and depths[slots[slot]] <= depth:
                continue
            new = place[COUNT]
            place[COUNT] += 1
            ranks[new] = child
            depths[new] = depth
            slots[slot] = new
            total = depth + assignment(after[k], leap, back)
            below[new] = heads[total]
            heads[total] = new
    return -1
