"""Stuck pieces: those that stand so far from all others that none can ever come beside them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.comesolo.moves import PAD, lowest
from solvers.comesolo.parts import GOLDEN, ROUNDING

MOST_PIECES = 64
WEIGHTS = GOLDEN ** np.arange(64)
LEAST = GOLDEN - ROUNDING


def leave_more(rows: NDArray[np.uint64], allowed: int) -> NDArray[np.bool_]:
    """Mark boards that leave more pieces than `allowed` at the end; rows is w x padded rows, at most MOST_PIECES each.

    Lone pieces that the others are too light to come beside are stuck; if there are others, one of them is left too.
    """
    return _leave_more(rows, WEIGHTS, LEAST, allowed)


@njit(cache=True, nogil=True)
def _leave_more(
    rows: NDArray[np.uint64], weights: NDArray[np.float64], least: float, allowed: int
) -> NDArray[np.bool_]:  # pragma: no cover - compiled
    """Add up for each piece without neighbours what the others weigh on its cell; beside it they weigh 1/g as much."""
    marked = np.zeros(len(rows), np.bool_)
    at_row = np.empty(MOST_PIECES, np.int64)
    at_column = np.empty(MOST_PIECES, np.int64)
    lone = np.empty(MOST_PIECES, np.bool_)
    seven = np.uint64(7)
    for board in range(len(rows)):
        here = rows[board]
        count = 0
        alone = 0
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
                alone += beside == 0
                count += 1
        if alone < allowed:
            continue
        stuck = 0
        for piece in range(count):
            if not lone[piece]:
                continue
            weight = -1.0  # its own
            for other in range(count):
                down = abs(at_row[other] - at_row[piece])
                right = abs(at_column[other] - at_column[piece])
                weight += weights[max(down, right)]
            stuck += weight < least
        marked[board] = stuck + (stuck < count) > allowed
    return marked
