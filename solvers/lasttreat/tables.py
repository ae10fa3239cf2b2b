"""Three methods that write a table of positions: by their moves, by crossing out, and by crossing out one period."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from checkers.numbers import Integers
from solvers.lasttreat.progress import LOOKS_A_TURN, MOST_CELLS, Work, refuse_beyond

Table = NDArray[np.uint8]
Rows = Callable[[Table, int, int, int], tuple[int, int]]

LONGEST = isqrt(MOST_CELLS)
"""The most rows, and columns, of a table."""

UNKNOWN, IS_LOST, IS_WON = range(3)


def fill_by_memo(rows: Integers, work: Work) -> None:
    """Answer by tables of all smaller positions, each found by trying its moves. A step: a million moves or more."""
    _fill(rows, work, _memo_rows, periodic=False)


def fill_by_sieve(rows: Integers, work: Work) -> None:
    """Answer by tables of all smaller positions, sieved. A step: a million cells or more."""
    _fill(rows, work, _sieve_rows, periodic=False)


def fill_by_period(rows: Integers, work: Work) -> None:
    """Answer by tables of at most K + 1 rows and columns, sieved. A step: a million cells or more."""
    _fill(rows, work, _sieve_rows, periodic=True)


def _fill(rows: Integers, work: Work, kernel: Rows, *, periodic: bool) -> None:
    """Take the values of K in turn: one table, as large as its positions need, answers all of them."""
    needed = np.minimum(rows[:, :2], rows[:, 2:]) if periodic else rows[:, :2]
    what = "piles, or K," if periodic else "piles"
    refuse_beyond(f"{what} below {LONGEST}", rows, needed.max(axis=1) < LONGEST)
    for most in np.unique(rows[:, 2]).tolist():
        members = np.flatnonzero(rows[:, 2] == most)
        height, width = (needed[members].max(axis=0) + 1).tolist()
        table = _table(height, width, most, kernel, work)
        if table is None:
            return
        modulus = most + 1 if periodic else LONGEST
        for member in members:
            cakes, fruit = rows[member, :2].tolist()
            work.moves[member] = _find(table, modulus, cakes, fruit, most)
        work.done += len(members)
        if not work.turn(int(most) * len(members)):
            return


def _table(height: int, width: int, most: int, kernel: Rows, work: Work) -> Table | None:
    """Let a kernel write a table, some rows a turn; None if the budget ends before it is done."""
    table = np.zeros((height, width), np.uint8)
    row = 0
    while row < height:
        if not work.clock.running():
            return None
        row, looks = kernel(table, most, row, LOOKS_A_TURN)
        work.turn(looks)
    return table


@njit(cache=True, nogil=True)
def _memo_rows(table: Table, most: int, row: int, turn: int) -> tuple[int, int]:  # pragma: no cover - compiled
    """Write rows from `row` on until `turn` moves are looked at; return the next row and the looks."""
    height, width = table.shape
    looks = 0
    while row < height and looks < turn:
        for column in range(width):
            state = IS_LOST
            for i in range(1, min(most, max(row, column)) + 1):
                looks += 1
                along = i <= column and table[row, column - i] == IS_LOST
                across = i <= row and table[row - i, column] == IS_LOST
                both = i <= row and i <= column and table[row - i, column - i] == IS_LOST
                if along or across or both:
                    state = IS_WON
                    break
            table[row, column] = state
        row += 1
    return row, looks


@njit(cache=True, nogil=True)
def _sieve_rows(table: Table, most: int, row: int, turn: int) -> tuple[int, int]:  # pragma: no cover - compiled
    """Sieve rows from `row` on until `turn` cells are looked at; return the next row and the looks.

    What no one has crossed out when its turn comes is lost: all positions its moves reach came before it.
    """
    height, width = table.shape
    looks = 0
    while row < height and looks < turn:
        looks += width
        for column in range(width):
            if table[row, column] == IS_WON:
                continue
            table[row, column] = IS_LOST
            for i in range(1, min(most, width - 1 - column) + 1):
                table[row, column + i] = IS_WON
            for i in range(1, min(most, height - 1 - row) + 1):
                table[row + i, column] = IS_WON
                if column + i < width:
                    table[row + i, column + i] = IS_WON
            looks += 3 * min(most, width)
        row += 1
    return row, looks


@njit(cache=True, nogil=True)
def _find(table: Table, modulus: int, a: int, b: int, most: int) -> tuple[int, int]:  # pragma: no cover - compiled
    """Find a move to a lost position, coordinates taken modulo `modulus`; (0, 0) if there is none."""
    for i in range(1, min(most, max(a, b)) + 1):
        if i <= a and table[(a - i) % modulus, b % modulus] == IS_LOST:
            return i, 0
        if i <= b and table[a % modulus, (b - i) % modulus] == IS_LOST:
            return 0, i
        if i <= a and i <= b and table[(a - i) % modulus, (b - i) % modulus] == IS_LOST:
            return i, i
    return 0, 0
