"""Stuck pieces: those that stand so far from all others that none can ever come beside them."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.comesolo.moves import PAD, lowest
from solvers.comesolo.parts import GOLDEN, ROUNDING

MOST_PIECES = 64
WEIGHTS = GOLDEN ** np.arange(64)
LEAST = GOLDEN - ROUNDING


def left_at_least(rows: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Bound the pieces left at the end from below; rows is w x padded rows of boards with at most MOST_PIECES.

    Lone pieces that the others are too light to come beside are stuck; if there are others, one of them is left too.
    """
    return _left_at_least(rows, WEIGHTS, LEAST)


@njit(cache=True, nogil=True)
def _left_at_least(
    rows: NDArray[np.uint64], weights: NDArray[np.float64], least: float
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Add up for each piece without neighbours what the others weigh on its cell; beside it they weigh 1/g as much."""
    left = np.empty(len(rows), np.int64)
    at_row = np.empty(MOST_PIECES, np.int64)
    at_column = np.empty(MOST_PIECES, np.int64)
    lone = np.empty(MOST_PIECES, np.bool_)
    seven = np.uint64(7)
    for board in range(len(rows)):
        here = rows[board]
        count = 0
        for row in range(PAD, len(here) - PAD):
            bits = here[row]
            while bits:
                column = lowest(bits)
                bits &= bits - np.uint64(1)
                around = seven << np.uint64(column - 1)
                beside = (here[row - 1] | here[row + 1]) & around
                beside |= here[row] & around & ~(np.uint64(1) << np.uint64(column))
                at_row[count] = row
                at_column[count] = column
                lone[count] = beside == 0
                count += 1
        left[board] = 0
        for piece in range(count):
            if not lone[piece]:
                continue
            weight = -1.0  # its own
            for other in range(count):
                down = abs(at_row[other] - at_row[piece])
                right = abs(at_column[other] - at_column[piece])
                weight += weights[max(down, right)]
            left[board] += weight < least
        if left[board] < count:
            left[board] += 1
    return left
