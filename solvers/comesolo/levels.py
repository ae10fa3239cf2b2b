"""One level of a beam: all boards after the same number of jumps, and the way to the next level.

Every board keeps the list of its legal jumps with what each would change in its cost. A child copies the list and looks
again only at jumps near the one played, which makes a level several times cheaper than listing everything anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.comesolo.costs import LINE, Costs
from solvers.comesolo.moves import DOWN, PAD, RIGHT, Bits, Jumps, Rows, Tables, Whole, lowest, starts, toggle

REACH = 2  # a jump's cost looks two cells past its own three: at neighbours, and at their neighbours
NEW_JUMPS = 900  # more than there can be near one jump: 11 x 11 cells, 8 directions, hardly any two at once
FULL = 1 << 62

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
    """The children that go on: for each its parent's place in the level, its jump, hash and cost."""

    parents: NDArray[np.int32]
    jumps: Jumps
    hashes: Hashes
    costs: Numbers


def first_level(rows: Rows, tables: Tables, costs: Costs) -> Level:
    """Make the level of one board."""
    jumps = np.empty(8 * tables.size**2, np.uint16)
    changes = np.empty(8 * tables.size**2, np.int32)
    count = _list_all(rows, tables.inside, tables.size, costs, jumps, changes)
    begin = np.array([0, count], np.int64)
    total = np.array([_cost(rows, costs)], np.int64)
    return Level(rows[None, :].copy(), np.zeros(1, np.uint64), total, begin, jumps[:count], changes[:count])


def choose(level: Level, tables: Tables, width: int) -> Chosen:
    """Choose the `width` cheapest different children of a level."""
    chosen = _choose(level.hashes, level.costs, level.begin, level.jumps, level.changes, tables.jump_hashes, width)
    return Chosen(*chosen)


def build(level: Level, chosen: Chosen, tables: Tables, costs: Costs) -> Level:
    """Build the boards of the chosen children."""
    lists = np.diff(level.begin)[chosen.parents]
    room = int(lists.sum()) + NEW_JUMPS * min(len(lists), 1) + 8 * 9 * len(lists)
    rows, begin, jumps, changes = _build(
        level.rows, level.begin, level.jumps, level.changes, chosen.parents, chosen.jumps,
        tables.inside, tables.size, tables.boxes, costs, room,
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
) -> tuple[NDArray[np.int32], Jumps, Hashes, Numbers]:  # pragma: no cover - compiled
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
    if count > width:
        limit = np.partition(child_costs[:count], width - 1)[width - 1]
        count = _keep(width, limit, parents, played, child_hashes, child_costs, count)
    return parents[:count], played[:count], child_hashes[:count], child_costs[:count]


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
    kept = 0
    for i in range(count):
        if costs[i] > limit:
            continue
        if costs[i] == limit:
            if ties == 0:
                continue
            ties -= 1
        parents[kept] = parents[i]
        played[kept] = played[i]
        hashes[kept] = hashes[i]
        costs[kept] = costs[i]
        kept += 1
    return kept


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
    boxes: NDArray[np.int8],
    costs: Costs,
    room: int,
) -> tuple[NDArray[np.uint64], Numbers, Jumps, NDArray[np.int32]]:  # pragma: no cover - compiled
    """Build each child: its rows, and its parent's list of jumps with the stretch near the jump played made anew."""
    width = len(parents)
    new_rows = np.empty((width, rows.shape[1]), np.uint64)
    new_begin = np.zeros(width + 1, np.int64)
    new_jumps = np.empty(room, np.uint16)
    new_changes = np.empty(room, np.int32)
    lonely = np.zeros(rows.shape[1], np.uint64)
    paired = np.zeros(rows.shape[1], np.uint64)
    count = 0
    for child in range(width):
        parent = parents[child]
        jump = np.int64(played[child])
        board = new_rows[child]
        board[:] = rows[parent]
        toggle(board, size, jump)
        middle_row, middle_column = np.int64(boxes[jump, 0]), np.int64(boxes[jump, 1])
        high, wide = np.int64(boxes[jump, 2]) + REACH, np.int64(boxes[jump, 3]) + REACH
        if count + begin[parent + 1] - begin[parent] + NEW_JUMPS > room:
            room = 2 * room + NEW_JUMPS
            more_jumps = np.empty(room, np.uint16)
            more_changes = np.empty(room, np.int32)
            more_jumps[:count] = new_jumps[:count]
            more_changes[:count] = new_changes[:count]
            new_jumps = more_jumps
            new_changes = more_changes
        for at in range(begin[parent], begin[parent + 1]):
            other = jumps[at]
            near = (
                abs(boxes[other, 0] - middle_row) <= high + boxes[other, 2]
                and abs(boxes[other, 1] - middle_column) <= wide + boxes[other, 3]
            )
            if not near:
                new_jumps[count] = other
                new_changes[count] = changes[at]
                count += 1
        count = _list_near(
            board,
            inside,
            size,
            costs,
            middle_row,
            middle_column,
            high,
            wide,
            lonely,
            paired,
            new_jumps,
            new_changes,
            count,
        )
        new_begin[child + 1] = count
    return new_rows, new_begin, new_jumps[:count], new_changes[:count]


@njit(cache=True, nogil=True)
def _list_near(
    rows: Rows,
    inside: Rows,
    size: int,
    costs: Costs,
    middle_row: Whole,
    middle_column: Whole,
    high: Whole,
    wide: Whole,
    lonely: Rows,
    paired: Rows,
    jumps: Jumps,
    changes: NDArray[np.int32],
    count: int,
) -> int:  # pragma: no cover - compiled
    """Append the jumps whose middle lies within (high + its own height, wide + its own width) of a middle."""
    for row in range(max(PAD, middle_row + PAD - high - 4), min(PAD + size, middle_row + PAD + high + 5)):
        lonely[row], paired[row] = _company(rows[row - 1], rows[row], rows[row + 1])
    for direction in range(8):
        down, right = DOWN[direction], RIGHT[direction]
        rows_near = high + abs(down)
        columns_near = wide + abs(right)
        low = max(PAD, middle_column + PAD - columns_near - right)
        top = min(PAD + size - 1, middle_column + PAD + columns_near - right)
        if top < low:
            continue
        mask = (np.uint64(1) << np.uint64(top + 1)) - (np.uint64(1) << np.uint64(low))
        for row in range(
            max(PAD, middle_row + PAD - rows_near - down), min(PAD + size, middle_row + PAD + rows_near - down + 1)
        ):
            bits = starts(rows, inside, row, direction) & mask
            while bits:
                bit = lowest(bits)
                bits &= bits - np.uint64(1)
                jumps[count] = ((row - PAD) * size + bit - PAD) * 8 + direction
                changes[count] = _change(rows, lonely, paired, costs, size, row, bit, direction)
                count += 1
    return count


@njit(cache=True, nogil=True)
def _change(
    rows: Rows, lonely: Rows, paired: Rows, costs: Costs, size: int, row: int, bit: Whole, direction: int
) -> Whole:  # pragma: no cover - compiled
    """Say by how much a jump changes the cost of a board; rows one past the jump's are looked at again."""
    down, right = DOWN[direction], RIGHT[direction]
    total = np.int64(0)
    for i in range(3):
        place = (row + i * down) * LINE + bit + i * right
        rows[row + i * down] ^= np.uint64(1) << np.uint64(bit + i * right)
        total += costs[0, place] if i == 2 else -costs[0, place]
    first = max(PAD, min(row, row + 2 * down) - 1)
    last = min(PAD + size - 1, max(row, row + 2 * down) + 1)
    for r in range(first, last + 1):
        alone, in_pair = _company(rows[r - 1], rows[r], rows[r + 1])
        total += _differ(alone, lonely[r], costs[1], r * LINE) + _differ(in_pair, paired[r], costs[2], r * LINE)
    for i in range(3):
        rows[row + i * down] ^= np.uint64(1) << np.uint64(bit + i * right)
    return total


@njit(cache=True, nogil=True)
def _differ(after: Bits, before: Bits, costs: NDArray[np.int64], line: Whole) -> Whole:  # pragma: no cover - compiled
    """Add up the costs of the bits that came and take away those of the bits that went."""
    total = np.int64(0)
    bits = after ^ before
    while bits:
        bit = lowest(bits)
        bits &= bits - np.uint64(1)
        if (after >> np.uint64(bit)) & np.uint64(1):
            total += costs[line + bit]
        else:
            total -= costs[line + bit]
    return total


@njit(cache=True, nogil=True)
def _company(above: Bits, row: Bits, below: Bits) -> tuple[Bits, Bits]:  # pragma: no cover - compiled
    """Give the pieces of a row with no neighbour, and those with exactly one, as bits."""
    one = np.uint64(1)
    some = above << one
    more = some & above
    some |= above
    more |= some & (above >> one)
    some |= above >> one
    more |= some & (row << one)
    some |= row << one
    more |= some & (row >> one)
    some |= row >> one
    more |= some & (below << one)
    some |= below << one
    more |= some & below
    some |= below
    more |= some & (below >> one)
    some |= below >> one
    return row & ~some, row & some & ~more


@njit(cache=True, nogil=True)
def _list_all(
    rows: Rows, inside: Rows, size: int, costs: Costs, jumps: Jumps, changes: NDArray[np.int32]
) -> int:  # pragma: no cover - compiled
    """List every legal jump of a board with its change."""
    lonely = np.zeros(len(rows), np.uint64)
    paired = np.zeros(len(rows), np.uint64)
    board = rows.copy()
    return _list_near(board, inside, size, costs, 0, 0, size, size, lonely, paired, jumps, changes, 0)


@njit(cache=True, nogil=True)
def _cost(rows: Rows, costs: Costs) -> Whole:  # pragma: no cover - compiled
    """Add up what all pieces of a board cost."""
    total = np.int64(0)
    for row in range(PAD, len(rows) - PAD):
        alone, in_pair = _company(rows[row - 1], rows[row], rows[row + 1])
        total += _differ(rows[row], np.uint64(0), costs[0], row * LINE)
        total += _differ(alone, np.uint64(0), costs[1], row * LINE)
        total += _differ(in_pair, np.uint64(0), costs[2], row * LINE)
    return total
