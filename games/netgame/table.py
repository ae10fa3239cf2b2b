"""Who wins each set of whole cells, 64 sets in a word: 2^20 of them in a few milliseconds.

Bit L of word H stands for the set of the cells of L (the first six) and of H (the others). A cut that takes a cell of H
needs an earlier word only, and answers 64 sets at once. Within a word sets go by their size: those of a size that are
still open are lost, and a shift marks the larger ones from which taking one of the six cells, or two, leads to them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit

LOW = 6
ALL = 2**64 - 1
SETS_WITHOUT = tuple(sum(1 << s for s in range(64) if not s >> cell & 1) for cell in range(LOW))
WITHOUT = np.array(SETS_WITHOUT, np.uint64)
OF_SIZE = np.array([sum(1 << s for s in range(64) if s.bit_count() == size) for size in range(LOW)], np.uint64)
EVERY = np.uint64(ALL)
ONE = np.uint64(1)

Words = NDArray[np.uint64]
Cuts = NDArray[np.int64]


def won_sets(cells: int, sides: tuple[int, ...]) -> Words:
    """Say of every set of cells whether the player to move wins: bit L of word H is 1 where that is so."""
    cuts = sorted(set(sides) - {0})
    won = np.zeros(1 << max(cells - LOW, 0), np.uint64)
    low = [cut for cut in cuts if cut < 64]
    high = [cut for cut in cuts if not cut & 63]
    mixed = [cut for cut in cuts if cut >= 64 and cut & 63]
    pairs = [_cells(cut) for cut in low if cut.bit_count() == 2]
    free = {cut.bit_length() - 1 for cut in low if cut.bit_count() == 1}
    alone, behind = [0] * LOW, [0] * LOW
    for one, other in pairs:
        alone[one] |= SETS_WITHOUT[other]
        alone[other] |= SETS_WITHOUT[one]
    for cut in mixed:
        behind[(cut & 63).bit_length() - 1] |= cut >> LOW
    _fill(
        won,
        np.array([cut >> LOW for cut in high], np.int64),
        np.array([cut >> LOW for cut in mixed], np.int64),
        np.array([(cut & 63).bit_length() - 1 for cut in mixed], np.int64),
        np.array([ALL if cell in free else alone[cell] for cell in range(LOW)], np.uint64),
        np.array(behind, np.int64),
        np.array(pairs, np.int64).reshape(-1, 2),
    )
    return won


def _cells(cut: int) -> tuple[int, int]:
    """The two cells of a cut."""
    return (cut & -cut).bit_length() - 1, cut.bit_length() - 1


@njit(cache=True, nogil=True)
def _fill(
    won: Words, high_cuts: Cuts, mixed_cuts: Cuts, mixed_cells: Cuts, alone: Words, behind: Cuts, pairs: Cuts
) -> None:  # pragma: no cover - compiled
    """Fill all words in rising order. Cuts are sets of cells from the seventh on.

    A mixed cut takes one of the first six too, which is in `mixed_cells`. `pairs` are two of the first six that share a
    rope. Of each of the six, `behind` are the others that share a rope with it, and `alone` the sets to which it may be
    added so that a cut takes it alone, while all `behind` it are whole; where one is not, it may be added to any set.
    """
    may = np.zeros(LOW, np.uint64)
    for high in range(len(won)):
        word = np.uint64(0)
        for cut in high_cuts:
            if cut & high:
                word |= ~won[high & ~cut]
        for at in range(len(mixed_cuts)):
            if mixed_cuts[at] & high:
                lost = ~won[high & ~mixed_cuts[at]] & WITHOUT[mixed_cells[at]]
                word |= lost | lost << np.uint64(1 << mixed_cells[at])
        for cell in range(LOW):
            may[cell] = WITHOUT[cell] & (EVERY if behind[cell] & ~high else alone[cell])
        for size in range(LOW):
            lost = ~word & OF_SIZE[size]
            for cell in range(LOW):
                word |= (lost & may[cell]) << np.uint64(1 << cell)
            for at in range(len(pairs)):
                one, other = pairs[at, 0], pairs[at, 1]
                word |= (lost & WITHOUT[one] & WITHOUT[other]) << np.uint64((1 << one) + (1 << other))
        won[high] = word
