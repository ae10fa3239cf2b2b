"""One level of a beam: all boards after the same number of jumps, and the way to the next level.

Every board keeps the list of its legal jumps, by the row of their middles, with what each would change in its cost. A
child copies the list and looks again only at jumps that the one played can have touched, which makes a level several
times cheaper than listing everything anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.comesolo.costs import LINE, Costs
from solvers.comesolo.moves import DOWN, PAD, RIGHT, Bits, Jumps, Rows, Tables, Whole, lowest, starts, toggle

NEW_JUMPS = 1000  # more than there can be near one jump: 11 x 11 middles, 8 directions
FULL = 1 << 62
ONES, TWOS, SPARSE = range(3)

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
    count = int(_list_all(rows, tables.inside, tables.size, costs, jumps, changes))
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
        tables.inside, tables.size, tables.middles, costs, room,
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
    middles: NDArray[np.int8],
    costs: Costs,
    room: int,
) -> tuple[NDArray[np.uint64], Numbers, Jumps, NDArray[np.int32]]:  # pragma: no cover - compiled
    """Build each child: its rows, and its parent's list of jumps with those near the jump played made anew."""
    width = len(parents)
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
        low, top = _mark(board, size, jump, near, company)
        at = begin[parent]
        end = begin[parent + 1]
        stay = _first_in(jumps, middles, at, end, low)
        new_jumps[count : count + stay - at] = jumps[at:stay]
        new_changes[count : count + stay - at] = changes[at:stay]
        count += stay - at
        at = stay
        for line in range(low, top + 1):
            while at < end and middles[jumps[at], 0] == line:
                new_jumps[count] = jumps[at]
                new_changes[count] = changes[at]
                count += 1 - _is_near(near, middles, np.int64(jumps[at]))  # a near one is written over by the next
                at += 1
            count = _list_line(board, inside, size, costs, line, near, company, new_jumps, new_changes, count)
        new_jumps[count : count + end - at] = jumps[at:end]
        new_changes[count : count + end - at] = changes[at:end]
        count += end - at
        new_begin[child + 1] = count
    return new_rows, new_begin, new_jumps[:count], new_changes[:count]


@njit(cache=True, nogil=True)
def _mark(
    rows: Rows, size: int, jump: Whole, near: Rows, company: Rows
) -> tuple[Whole, Whole]:  # pragma: no cover - compiled
    """Mark in `near` the cells around which a jump just played changed anything that a jump's change looks at.

    These are its three cells, and the pieces beside them whose company is or was small; and all cells beside those.
    Returns the first and the last row (without padding) in which a jump that touches a marked cell has its middle.
    """
    start_row = (jump >> 3) // size + PAD
    start = (jump >> 3) % size + PAD
    down, right = DOWN[jump & 7], RIGHT[jump & 7]
    landing_row = start_row + 2 * down
    first = min(start_row, landing_row) - 1
    last = max(start_row, landing_row) + 1
    for row in range(max(PAD, first - 5), min(PAD + size, last + 6)):
        _count_company(rows, row, company)
    for row in range(max(0, first - 4), min(len(rows), last + 5)):
        near[row] = np.uint64(0)
    for row in range(max(PAD, first), min(PAD + size, last + 1)):
        from_landing = _beside(row - landing_row, start + 2 * right)
        others = _beside(row - start_row, start) | _beside(row - start_row - down, start + right)
        changed = (from_landing & rows[row]) | (others & company[row, SPARSE])
        for i in range(3):
            if row == start_row + i * down:
                changed |= np.uint64(1) << np.uint64(start + i * right)
        wide = changed | (changed << np.uint64(1)) | (changed >> np.uint64(1))
        near[row - 1] |= wide
        near[row] |= wide
        near[row + 1] |= wide
    return max(0, first - 2 - PAD), min(size - 1, last + 2 - PAD)


@njit(cache=True, nogil=True)
def _first_in(
    jumps: Jumps, middles: NDArray[np.int8], low: Whole, top: Whole, line: Whole
) -> Whole:  # pragma: no cover - compiled
    """Find the first jump from `low` to `top` whose middle is in a row or behind it."""
    while low < top:
        half = (low + top) // 2
        if middles[jumps[half], 0] < line:
            low = half + 1
        else:
            top = half
    return low


@njit(cache=True, nogil=True)
def _is_near(near: Rows, middles: NDArray[np.int8], jump: Whole) -> Whole:  # pragma: no cover - compiled
    """Say (1 or 0) whether one of a jump's cells is marked."""
    row, column = np.int64(middles[jump, 0]) + PAD, np.int64(middles[jump, 1]) + PAD
    down, right = DOWN[jump & 7], RIGHT[jump & 7]
    marked = near[row] >> np.uint64(column)
    marked |= near[row - down] >> np.uint64(column - right)
    marked |= near[row + down] >> np.uint64(column + right)
    return np.int64(marked & np.uint64(1))


@njit(cache=True, nogil=True)
def _list_line(
    rows: Rows,
    inside: Rows,
    size: int,
    costs: Costs,
    line: Whole,
    near: Rows,
    company: Rows,
    jumps: Jumps,
    changes: NDArray[np.int32],
    count: Whole,
) -> Whole:  # pragma: no cover - compiled
    """Append the legal jumps that have their middle in a row (without padding) and touch a marked cell."""
    for direction in range(8):
        down, right = DOWN[direction], RIGHT[direction]
        row = line + PAD - down
        if row < PAD or row >= PAD + size:
            continue
        middle, landing = near[row + down], near[row + 2 * down]
        if right > 0:
            middle, landing = middle >> np.uint64(1), landing >> np.uint64(2)
        elif right < 0:
            middle, landing = middle << np.uint64(1), landing << np.uint64(2)
        bits = starts(rows, inside, row, direction) & (near[row] | middle | landing)
        while bits:
            bit = lowest(bits)
            bits &= bits - np.uint64(1)
            jumps[count] = ((row - PAD) * size + bit - PAD) * 8 + direction
            changes[count] = _change(rows, company, costs, row, bit, direction)
            count += 1
    return count


@njit(cache=True, nogil=True)
def _change(
    rows: Rows, company: Rows, costs: Costs, row: Whole, bit: Whole, direction: int
) -> Whole:  # pragma: no cover - compiled
    """Say by how much a jump changes the cost of a board.

    The three pieces themselves, and the pieces beside them with at most three neighbours: others stay in company.
    """
    down, right = DOWN[direction], RIGHT[direction]
    landing_row, landing_bit = row + 2 * down, bit + 2 * right
    total: Whole = np.int64(0)
    beside = np.int64(0)  # neighbours of the landing cell once the jump is played
    for r in range(min(row, landing_row) - 1, max(row, landing_row) + 2):
        from_start = _beside(r - row, bit)
        from_middle = _beside(r - row - down, bit + right)
        from_landing = _beside(r - landing_row, landing_bit)
        gone = np.uint64(0)
        if r == row:
            gone |= np.uint64(1) << np.uint64(bit)
        if r == row + down:
            gone |= np.uint64(1) << np.uint64(bit + right)
        near_landing = from_landing & rows[r] & ~gone
        while near_landing:
            near_landing &= near_landing - np.uint64(1)
            beside += 1
        bits = company[r, SPARSE] & (from_start | from_middle | from_landing)
        while bits:
            at = lowest(bits)
            bits &= bits - np.uint64(1)
            place = r * LINE + at
            shift = np.uint64(at)
            before = np.int64((company[r, ONES] >> shift) & np.uint64(1))
            before += 2 * np.int64((company[r, TWOS] >> shift) & np.uint64(1))
            after = before + np.int64((from_landing >> shift) & np.uint64(1))
            after -= np.int64((from_start >> shift) & np.uint64(1))
            after -= np.int64((from_middle >> shift) & np.uint64(1))
            after += 4 * np.int64((gone >> shift) & np.uint64(1))  # an eaten or moved piece costs nothing more
            if before < 2:
                total -= costs[1 + before, place]
            if after < 2:
                total += costs[1 + after, place]
    place = row * LINE + bit
    step = down * LINE + right
    total += costs[0, place + 2 * step] - costs[0, place + step] - costs[0, place]
    if beside < 2:
        total += costs[1 + beside, place + 2 * step]
    return total


@njit(cache=True, nogil=True)
def _beside(distance: Whole, bit: Whole) -> Bits:  # pragma: no cover - compiled
    """Give the cells of a row that are beside a cell `distance` rows away, and the cell itself, as bits."""
    return np.uint64(7) << np.uint64(bit - 1) if -1 <= distance <= 1 else np.uint64(0)


@njit(cache=True, nogil=True)
def _count_company(rows: Rows, row: Whole, company: Rows) -> None:  # pragma: no cover - compiled
    """Count the neighbours of a row's pieces in bits: ONES and TWOS up to three; SPARSE has the pieces with no more."""
    one = np.uint64(1)
    above, here, below = rows[row - 1], rows[row], rows[row + 1]
    ones = np.uint64(0)
    twos = np.uint64(0)
    many = np.uint64(0)
    for side in (above << one, above, above >> one, here << one, here >> one, below << one, below, below >> one):
        carry = ones & side
        ones ^= side
        many |= twos & carry
        twos ^= carry
    company[row, ONES] = ones
    company[row, TWOS] = twos
    company[row, SPARSE] = here & ~many


@njit(cache=True, nogil=True)
def _list_all(
    rows: Rows, inside: Rows, size: int, costs: Costs, jumps: Jumps, changes: NDArray[np.int32]
) -> Whole:  # pragma: no cover - compiled
    """List every legal jump of a board with its change."""
    company = np.zeros((len(rows), 3), np.uint64)
    near = np.full(len(rows), ~np.uint64(0))
    for row in range(PAD, PAD + size):
        _count_company(rows, row, company)
    count: Whole = 0
    for line in range(size):
        count = _list_line(rows, inside, size, costs, line, near, company, jumps, changes, count)
    return count


@njit(cache=True, nogil=True)
def _cost(rows: Rows, costs: Costs) -> Whole:  # pragma: no cover - compiled
    """Add up what all pieces of a board cost."""
    total = np.int64(0)
    company = np.zeros((len(rows), 3), np.uint64)
    for row in range(PAD, len(rows) - PAD):
        _count_company(rows, row, company)
        bits = rows[row]
        while bits:
            at = lowest(bits)
            bits &= bits - np.uint64(1)
            total += costs[0, row * LINE + at]
            alone = company[row, SPARSE] & ~company[row, TWOS]
            if (alone >> np.uint64(at)) & np.uint64(1):
                paired = np.int64((company[row, ONES] >> np.uint64(at)) & np.uint64(1))
                total += costs[1 + paired, row * LINE + at]
    return total
