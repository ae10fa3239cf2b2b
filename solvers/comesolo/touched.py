"""Effects of a jump: the jumps to be looked at again after it, and the changes of a board's cost.

A piece with four neighbours or more keeps at least two of them after any jump, and costs the same. So only the three
cells of a jump and the pieces near it in small company count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.comesolo.costs import LINE, Costs
from solvers.comesolo.moves import DOWN, PAD, RIGHT, Bits, Jumps, Rows, Whole, lowest, starts

ONES, TWOS, SPARSE = range(3)


@njit(cache=True, nogil=True)
def mark(
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
def first_in(
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
def is_near(near: Rows, middles: NDArray[np.int8], jump: Whole) -> Whole:  # pragma: no cover - compiled
    """Say (1 or 0) whether one of a jump's cells is marked."""
    row, column = np.int64(middles[jump, 0]) + PAD, np.int64(middles[jump, 1]) + PAD
    down, right = DOWN[jump & 7], RIGHT[jump & 7]
    marked = near[row] >> np.uint64(column)
    marked |= near[row - down] >> np.uint64(column - right)
    marked |= near[row + down] >> np.uint64(column + right)
    return np.int64(marked & np.uint64(1))


@njit(cache=True, nogil=True)
def list_line(
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
    """Give the cells of a row that are next to a cell `distance` rows away, and the cell itself, as bits."""
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
def list_all(
    rows: Rows, inside: Rows, size: int, costs: Costs, jumps: Jumps, changes: NDArray[np.int32]
) -> Whole:  # pragma: no cover - compiled
    """List every legal jump of a board with its change."""
    company = np.zeros((len(rows), 3), np.uint64)
    near = np.full(len(rows), ~np.uint64(0))
    for row in range(PAD, PAD + size):
        _count_company(rows, row, company)
    count: Whole = 0
    for line in range(size):
        count = list_line(rows, inside, size, costs, line, near, company, jumps, changes, count)
    return count


@njit(cache=True, nogil=True)
def cost_of(rows: Rows, costs: Costs) -> Whole:  # pragma: no cover - compiled
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
