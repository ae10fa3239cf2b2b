"""A set of ranks that grows with what it holds: open addressing, four bytes a slot, rank + 1 in a slot that is taken.

A beam meets few of the ranks, and they lie scattered: a bit for every rank would be 270 MiB for an empty map.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit

Slots = NDArray[np.uint32]
SPREAD = np.uint64(0x9E3779B97F4A7C15)
SMALLEST = 1 << 16
FULL = 0.6


@dataclass
class Seen:
    """Ranks met so far. Kernels write into `slots` and tell by `added` how many they put there."""

    slots: Slots = field(default_factory=lambda: np.zeros(SMALLEST, np.uint32))
    count: int = 0

    def added(self, count: int) -> None:
        """Count what a kernel has put in."""
        self.count += count

    def make_room(self, more: int) -> None:
        """Grow until `more` ranks can be put in."""
        size = len(self.slots)
        while self.count + more > FULL * size:
            size *= 2
        if size > len(self.slots):
            larger = np.zeros(size, np.uint32)
            _move(self.slots, larger)
            self.slots = larger


@njit(cache=True, nogil=True)
def put(slots: Slots, rank: int) -> bool:  # pragma: no cover - compiled
    """Put a rank in; False if it was there."""
    key = np.uint32(rank + 1)
    mask = np.uint64(len(slots) - 1)
    slot = (np.uint64(key) * SPREAD >> np.uint64(32)) & mask
    while slots[slot] != 0:
        if slots[slot] == key:
            return False
        slot = (slot + np.uint64(1)) & mask
    slots[slot] = key
    return True


@njit(cache=True, nogil=True)
def _move(old: Slots, new: Slots) -> None:  # pragma: no cover - compiled
    for key in old:
        if key != 0:
            put(new, np.int64(key) - 1)
