"""A level of a beam: all boards after the same number of jumps, and the way to the next level.

Every board keeps the list of its legal jumps, by the row of their middles, with what each would change in its cost. A
child copies the list and looks again only at jumps that the one played can have touched, which makes a level several
times cheaper than listing everything again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.comesolo.costs import Costs
from solvers.comesolo.moves import Jumps, Rows, Tables, Whole, toggle
from solvers.comesolo.touched import cost_of, first_in, is_near, list_all, list_line, mark

NEW_JUMPS = 1000  # more than there can be near one jump: 11 x 11 middles, 8 directions
FULL = 1 << 62
BARRED = FULL + (1 << 61)  # the cost of a board whose children are not wanted

Numbers = NDArray[np.int64]
Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Level:
    """Boards of one level, w of them: rows (w x padded rows), hashes, costs.

    The jumps of board i are `jumps[begin[i]:begin[i + 1]]`; `changes` has what each would change in the board's cost.
    """

    rows: NDArray[np.uint64]
    hashes: Hashes
    costs: Numbers
    begin: Numbers
    jumps: Jumps
    changes: NDArray[np.int32]


@dataclass(frozen=True)
class Chosen:
    """The children that continue: for each its parent's place in the level, its jump, hash and cost.

    `whole` says that no child was left out.
    """

    parents: NDArray[np.int32]
    jumps: Jumps
    hashes: Hashes
    costs: Numbers
    whole: bool


def first_level(rows: Rows, tables: Tables, costs: Costs) -> Level:
    """Make the level of one board."""
    jumps = np.empty(8 * tables.size**2, np.uint16)
    changes = np.empty(8 * tables.size**2, np.int32)
    count = int(list_all(rows, tables.inside, tables.size, costs, jumps, changes))
    begin = np.array([0, count], np.int64)
    total = np.array([cost_of(rows, costs)], np.int64)
    return Level(rows[None, :].copy(), np.zeros(1, np.uint64), total, begin, jumps[:count], changes[:count])


def choose(level: Level, tables: Tables, width: int) -> Chosen:
    """Choose the `width` cheapest different children of a level."""
    chosen = _choose(level.hashes, level.costs, level.begin, level.jumps, level.changes, tables.jump_hashes, width)
    return Chosen(*chosen)


def build(level: Level, chosen: Chosen, tables: Tables, costs: Costs) -> Level:
    """Build the boards of the chosen children."""
    rows, begin, jumps, changes = _build(
        level.rows, level.begin, level.jumps, level.changes, chosen.parents, chosen.jumps,
        tables.inside, tables.size, tables.middles, costs,
    )  # fmt: skip
    return Level(rows, chosen.hashes, chosen.costs, begin, jumps, changes)


@njit(cache=True, nogil=True)
def _choose(
    hashes: Hashes,
    costs: Numbers,
    begin: Numbers,
    jumps: Jumps,
    changes: NDArray[np.int32],
    jump_hashes: Hashes,
    width: int,
) -> tuple[NDArray[np.int32], Jumps, Hashes, Numbers, bool]:  # pragma: no cover - compiled
    """Collect children below a limit in a buffer; when it is full, keep the cheapest `width` and lower the limit.

    No two children with the same hash are kept. Ties at the limit go to the child seen first.
    """
    room = min(3 * width + 64, len(jumps) + 1)
    parents = np.empty(room, np.int32)
    played = np.empty(room, np.uint16)
    child_hashes = np.empty(room, np.uint64)
    child_costs = np.empty(room, np.int64)
    slots = 64
    while slots < 4 * room:
        slots *= 2
    seen = np.zeros(slots, np.uint64)
    mask = np.uint64(slots - 1)
    limit = np.int64(FULL)
    count = 0
    for board in range(len(hashes)):
        cost = costs[board]
        for at in range(begin[board], begin[board + 1]):
            child_cost = cost + changes[at]
            if child_cost >= limit:
                continue
            child = hashes[board] ^ jump_hashes[jumps[at]]
            slot = child & mask
            while seen[slot] != 0 and seen[slot] != child:
                slot = (slot + np.uint64(1)) & mask
            if seen[slot] == child:
                continue
            seen[slot] = child
            parents[count] = board
            played[count] = jumps[at]
            child_hashes[count] = child
            child_costs[count] = child_cost
            count += 1
            if count == room and count > width:
                limit = np.partition(child_costs, width - 1)[width - 1]
                count = _keep(width, limit, parents, played, child_hashes, child_costs, count)
                seen[:] = 0
                for i in range(count):
                    slot = child_hashes[i] & mask
                    while seen[slot] != 0:
                        slot = (slot + np.uint64(1)) & mask
                    seen[slot] = child_hashes[i]
    whole = limit == FULL and count <= width
    if count > width:
        limit = np.partition(child_costs[:count], width - 1)[width - 1]
        count = _keep(width, limit, parents, played, child_hashes, child_costs, count)
    return parents[:count], played[:count], child_hashes[:count], child_costs[:count], whole


@njit(cache=True, nogil=True)
def _keep(
    width: int,
    limit: int,
    parents: NDArray[np.int32],
    played: Jumps,
    hashes: Hashes,
    costs: Numbers,
    count: int,
) -> int:  # pragma: no cover - compiled
    """Move the `width` cheapest to the front in the order they came; `limit` is the cost of the dearest of them."""
    ties = width
    for i in range(count):
        if costs[i] < limit:
            ties -= 1
    held = 0
    for i in range(count):
        if costs[i] > limit:
            continue
        if costs[i] == limit:
            if ties == 0:
                continue
            ties -= 1
        parents[held] = parents[i]
        played[held] = played[i]
        hashes[held] = hashes[i]
        costs[held] = costs[i]
        held += 1
    return held


@njit(cache=True, nogil=True)
def _build(
    rows: NDArray[np.uint64],
    begin: Numbers,
    jumps: Jumps,
    changes: NDArray[np.int32],
    parents: NDArray[np.int32],
    played: Jumps,
    inside: Rows,
    size: int,
    middles: NDArray[np.int8],
    costs: Costs,
) -> tuple[NDArray[np.uint64], Numbers, Jumps, NDArray[np.int32]]:  # pragma: no cover - compiled
    """Build each child: its rows, and its parent's list of jumps with those near the jump played made again."""
    width = len(parents)
    room = NEW_JUMPS + 8 * 9 * width
    for parent in parents:
        room += begin[parent + 1] - begin[parent]
    new_rows = np.empty((width, rows.shape[1]), np.uint64)
    new_begin = np.zeros(width + 1, np.int64)
    new_jumps = np.empty(room, np.uint16)
    new_changes = np.empty(room, np.int32)
    company = np.zeros((rows.shape[1], 3), np.uint64)
    near = np.zeros(rows.shape[1], np.uint64)
    count: Whole = 0
    for child in range(width):
        parent = parents[child]
        jump = np.int64(played[child])
        board = new_rows[child]
        board[:] = rows[parent]
        toggle(board, size, jump)
        if count + begin[parent + 1] - begin[parent] + NEW_JUMPS > room:
            room = 2 * room + NEW_JUMPS
            more_jumps = np.empty(room, np.uint16)
            more_changes = np.empty(room, np.int32)
            more_jumps[:count] = new_jumps[:count]
            more_changes[:count] = new_changes[:count]
            new_jumps = more_jumps
            new_changes = more_changes
        low, top = mark(board, size, jump, near, company)
        at = begin[parent]
        end = begin[parent + 1]
        stay = first_in(jumps, middles, at, end, low)
        new_jumps[count : count + stay - at] = jumps[at:stay]
        new_changes[count : count + stay - at] = changes[at:stay]
        count += stay - at
        at = stay
        for line in range(low, top + 1):
            while at < end and middles[jumps[at], 0] == line:
                new_jumps[count] = jumps[at]
                new_changes[count] = changes[at]
                count += 1 - is_near(near, middles, np.int64(jumps[at]))  # a near one is written over by the next
                at += 1
            count = list_line(board, inside, size, costs, line, near, company, new_jumps, new_changes, count)
        new_jumps[count : count + end - at] = jumps[at:end]
        new_changes[count : count + end - at] = changes[at:end]
        count += end - at
        new_begin[child + 1] = count
    return new_rows, new_begin, new_jumps[:count], new_changes[:count]
