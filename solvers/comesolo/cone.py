"""A play cut in space: jumps near some cells are held back with all that depend on them; the others are played."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.comesolo.moves import DOWN, RIGHT, Jumps

Marks = NDArray[np.bool_]


def hold_back_near(play: Jumps, near: Marks, most: int) -> Marks:
    """Mark the jumps to hold back: the latest that touch a cell of `near` (size x size), at most `most` in all."""
    later = np.zeros(len(play), np.bool_)
    low, high = 0, len(play)
    while low < high:
        since = (low + high) // 2
        if _hold_back(play, near, since, later) <= most:
            high = since
        else:
            low = since + 1
    _hold_back(play, near, low, later)
    return later


@njit(cache=True, nogil=True)
def _hold_back(play: Jumps, near: Marks, since: int, later: Marks) -> int:  # pragma: no cover - compiled
    """Hold back the jumps from number `since` on that touch `near` or a cell of a jump held back; return how many."""
    size = near.shape[1]
    touched = near.copy().reshape(size * size)
    count = 0
    for at in range(len(play)):
        later[at] = False
        if at < since:
            continue
        start = np.int64(play[at]) >> 3
        step = DOWN[play[at] & 7] * size + RIGHT[play[at] & 7]
        if touched[start] or touched[start + step] or touched[start + 2 * step]:
            touched[start] = True
            touched[start + step] = True
            touched[start + 2 * step] = True
            later[at] = True
            count += 1
    return count
