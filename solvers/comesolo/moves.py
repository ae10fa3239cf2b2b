"""The board as the searches see it: rows of bits, and every jump by a number.

A board is a uint64 array of `size + 2 * PAD` rows; column c is bit `c + PAD`, so that a kernel may look two cells past
any border. Jump number `(r * size + c) * 8 + d` starts at (r, c) in direction d; it exists on paper for every cell and
direction, and `Tables.inside` says which stay on the board.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from checkers.comesolo import Answer, Instance
from checkers.compiled import njit, trailing_zeros

PAD = 2
DOWN = np.array([-1, -1, -1, 0, 0, 1, 1, 1], np.int64)
RIGHT = np.array([-1, 0, 1, -1, 1, -1, 0, 1], np.int64)

Rows = NDArray[np.uint64]
Jumps = NDArray[np.uint16]
Bits = np.uint64
Whole = int | np.signedinteger[Any]


@dataclass(frozen=True)
class Tables:
    """Tables that all boards of one size share.

    inside       the cells of each padded row, as bits
    jump_hashes  for each jump number, the exclusive or of the Zobrist numbers of its three cells
    middles      for each jump number, row and column of its middle
    """

    size: int
    inside: Rows
    jump_hashes: NDArray[np.uint64]
    middles: NDArray[np.int8]


@lru_cache(maxsize=64)
def tables_of(size: int) -> Tables:
    """Make the tables of a size, 1..30. The Zobrist numbers are the same in every run: a search must repeat."""
    inside = np.zeros(size + 2 * PAD, np.uint64)
    inside[PAD : PAD + size] = ((1 << size) - 1) << PAD
    zobrist = np.random.Generator(np.random.PCG64(20131126)).integers(1, 2**64 - 1, (64, 64), np.uint64)
    cell, direction = np.divmod(np.arange(size * size * 8), 8)
    row, column = np.divmod(cell, size)
    down, right = DOWN[direction], RIGHT[direction]
    # rows and columns past the border wrap around in the 64 x 64 table: such jumps are never played
    hashes = zobrist[row, column] ^ zobrist[row + down, column + right] ^ zobrist[row + 2 * down, column + 2 * right]
    middles = np.stack((row + down, column + right), axis=1).astype(np.int8)
    return Tables(size, inside, hashes, middles)


def rows_of(instance: Instance) -> Rows:
    """Pack an instance's board into rows of bits."""
    cells = instance.cells().reshape(instance.size, instance.size).astype(np.uint64)
    bits = np.uint64(1) << np.arange(PAD, PAD + instance.size, dtype=np.uint64)
    rows = np.zeros(instance.size + 2 * PAD, np.uint64)
    rows[PAD:-PAD] = (cells * bits).sum(axis=1, dtype=np.uint64)
    return rows


def board_of(rows: Rows, size: int) -> NDArray[np.uint8]:
    """Unpack rows of bits into a size x size board of 0 and 1."""
    columns = np.arange(PAD, PAD + size, dtype=np.uint64)
    board: NDArray[np.uint8] = ((rows[PAD:-PAD, None] >> columns) & np.uint64(1)).astype(np.uint8)
    return board


def play_on(rows: Rows, jumps: Jumps, size: int) -> Rows:
    """Play jumps on a copy of a board."""
    rows = rows.copy()
    _play(rows, size, jumps)
    return rows


def answer_of(jumps: NDArray[np.integer], size: int) -> Answer:
    """Turn jump numbers into an answer."""
    jumps = np.asarray(jumps, np.int64)
    cells, direction = jumps // 8, jumps % 8
    row, column = cells // size, cells % size
    landing = (row + 2 * DOWN[direction], column + 2 * RIGHT[direction])
    return Answer(np.stack((row, column, *landing), axis=1).astype(np.uint8).tobytes())


@njit(cache=True, nogil=True)
def toggle(rows: Rows, size: int, jump: Whole) -> None:  # pragma: no cover - compiled
    """Play a jump, or take it back: its three cells change."""
    cell = jump >> 3
    direction = jump & 7
    row = cell // size + PAD
    column = cell % size + PAD
    for _ in range(3):
        rows[row] ^= np.uint64(1) << np.uint64(column)
        row += DOWN[direction]
        column += RIGHT[direction]


@njit(cache=True, nogil=True)
def _play(rows: Rows, size: int, jumps: Jumps) -> None:  # pragma: no cover - compiled
    """Play jumps on a board, which is changed."""
    for jump in jumps:
        toggle(rows, size, np.int64(jump))


@njit(cache=True, nogil=True)
def starts(rows: Rows, inside: Rows, row: Whole, direction: int) -> Bits:  # pragma: no cover - compiled
    """Give the pieces of a (padded) row that can jump in a direction, as bits."""
    over: Bits = rows[row + DOWN[direction]]
    land: Bits = inside[row + 2 * DOWN[direction]] & ~rows[row + 2 * DOWN[direction]]
    if RIGHT[direction] > 0:
        over, land = over >> np.uint64(1), land >> np.uint64(2)
    elif RIGHT[direction] < 0:
        over, land = over << np.uint64(1), land << np.uint64(2)
    can: Bits = rows[row] & over & land
    return can


@njit(cache=True, nogil=True)
def lowest(bits: Bits) -> Whole:  # pragma: no cover - compiled
    """Give the place of the lowest bit of a non-zero uint64."""
    return np.int64(trailing_zeros(bits))  # type: ignore[call-arg] # numba gives it its first argument


@njit(cache=True, nogil=True)
def list_jumps(rows: Rows, inside: Rows, size: int, jumps: Jumps) -> int:  # pragma: no cover - compiled
    """Write the numbers of all legal jumps into `jumps` (room for every one); return how many there are."""
    count = 0
    for row in range(PAD, PAD + size):
        for direction in range(8):
            bits = starts(rows, inside, row, direction)
            while bits:
                cell = (row - PAD) * size + lowest(bits) - PAD
                jumps[count] = cell * 8 + direction
                count += 1
                bits &= bits - np.uint64(1)
    return count


@njit(cache=True, nogil=True)
def draw(state: NDArray[np.uint64], bound: Whole) -> Whole:  # pragma: no cover - compiled
    """Draw 0..bound-1 from SplitMix64; `state` holds one uint64. The bias of the product is below 2^-31 here."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z: Bits = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.int64(((z >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


def seeded(seed: int) -> NDArray[np.uint64]:
    """Make the state of :func:`draw`."""
    return np.array([seed & (2**64 - 1)], np.uint64)
