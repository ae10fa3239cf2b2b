"""The assignment of balls to goals that is worth most (Kuhn 1955; shortest augmenting paths, O(balls^3))."""

from __future__ import annotations

import numpy as np

from checkers.compiled import njit
from solvers.rollingballs.board.flat import Ints

_FAR = 1 << 30


def most_worth(worth: Ints) -> int:
    """Return the most that a one-to-one assignment collects; `worth` is int32[n, n], row's with column's."""
    return int(_collect(worth))


@njit(cache=True, nogil=True)
def _collect(worth: Ints) -> int:  # pragma: no cover - compiled
    size = len(worth)
    row_price, column_price = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    row_of, before = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    least, used = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.bool_)
    for row in range(1, size + 1):
        row_of[0] = row
        column = 0
        least[:] = _FAR
        used[:] = False
        while row_of[column] != 0:
            used[column] = True
            own, gap, chosen = row_of[column], _FAR, 0
            for j in range(1, size + 1):
                if used[j]:
                    continue
                slack = -worth[own - 1, j - 1] - row_price[own] - column_price[j]
                if slack < least[j]:
                    least[j] = slack
                    before[j] = column
                if least[j] < gap:
                    gap = least[j]
                    chosen = j
            for j in range(size + 1):
                if used[j]:
                    row_price[row_of[j]] += gap
                    column_price[j] -= gap
                else:
                    least[j] -= gap
            column = chosen
        while column != 0:
            row_of[column] = row_of[before[column]]
            column = before[column]
    total = 0
    for j in range(1, size + 1):
        total += worth[row_of[j] - 1, j - 1]
    return total
