"""Who wins each set of whole cells, 64 sets in a word: 2^20 of them in a few milliseconds.

Bit L of word H stands for the set of the cells of L (the first six) and of H (the others). A cut that takes a cell of H
needs an earlier word only, and answers 64 sets at once. The sets still open are gone through in rising order: an open
one is lost, and a multiplication marks the larger sets from which a cut of the first six cells leads to it.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

LOW = 6
ONE = np.uint64(1)
WITHOUT = np.array([sum(1 << s for s in range(64) if not s >> cell & 1) for cell in range(LOW)], np.uint64)

Words = NDArray[np.uint64]
Cuts = NDArray[np.int64]


def won_sets(cells: int, sides: tuple[int, ...]) -> Words:
    """Say of every set of cells whether the player to move wins: bit L of word H is 1 where that is so."""
    cuts = np.array(sorted(set(sides) - {0}, key=lambda side: (-side.bit_count(), side)), np.int64)
    won = np.zeros(1 << max(cells - LOW, 0), np.uint64)
    high, low = cuts >> LOW != 0, cuts & 63 != 0
    free = [sum(1 << s for s in range(64) if not s & cut) for cut in cuts[low]]
    marks = [sum(1 << s for s in range(1, 64) if not s & ~(int(cut) & 63)) for cut in cuts[low]]
    within = np.array([free, marks], np.uint64)
    cells_of_both = [int(cut & 63).bit_length() - 1 for cut in cuts[high & low]]
    _fill(
        won,
        cuts[high & ~low] >> LOW,
        cuts[high & low] >> LOW,
        np.array(cells_of_both, np.int64),
        cuts[low] >> LOW,
        within[0],
        within[1],
    )
    return won


@njit(cache=True, nogil=True)
def _fill(
    won: Words, high_cuts: Cuts, mixed_cuts: Cuts, mixed_cells: Cuts, low_cuts: Cuts, free: Words, marks: Words
) -> None:  # pragma: no cover - compiled
    """Fill all words in rising order. Cuts are sets of cells from the seventh on.

    A mixed cut takes one of the first six too, which is in `mixed_cells`. `low_cuts` are the other cells of all cuts
    that take some of the first six, and do that alone where the other cell is not whole. For each of these `free` has
    the sets it takes nothing from, and `marks` times the bit of such a set has the sets from which it leads there.
    """
    for high in range(len(won)):
        word = np.uint64(0)
        for cut in high_cuts:
            if cut & high:
                word |= ~won[high & ~cut]
        for at in range(len(mixed_cuts)):
            if mixed_cuts[at] & high:
                lost = ~won[high & ~mixed_cuts[at]] & WITHOUT[mixed_cells[at]]
                word |= lost | lost << np.uint64(1 << mixed_cells[at])
        still_open = ~word
        while still_open:
            lowest = still_open & (~still_open + ONE)
            for at in range(len(low_cuts)):
                if lowest & free[at] and not low_cuts[at] & high:
                    word |= marks[at] * lowest
            still_open = ~word & ~(lowest | (lowest - ONE))
        won[high] = word
