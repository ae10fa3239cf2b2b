"""Breadth-first search with a bit for each rank: piglets are interchangeable. From one end, or from both.

Steps can be taken back, so a search from the haystacks takes the same steps. Whole layers grow in turn, always the
smaller one; where a state of one side has been seen by the other, the sum of the depths is the answer, since an earlier
meeting would have been noticed earlier.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.lazypiglets.maps import Cells, Field, list_steps, rank_of, unrank
from solvers.lazypiglets.work import STATES_A_TURN, Work

Ranks = NDArray[np.uint32]
Bits = NDArray[np.uint64]
NOTHING = np.zeros(0, np.uint64)


@dataclass
class Side:
    """A search from one end: the outermost layer, its depth, and a bit for every state seen."""

    layer: Ranks
    seen: Bits
    depth: int = 0
    out: Ranks = field(default_factory=lambda: np.empty(STATES_A_TURN * 16, np.uint32))

    def grow(self, map_: Field, other: Bits, work: Work) -> bool:
        """Make the next layer; True where it meets `other`. Raises Unsolved."""
        parts = []
        met = False
        for first in range(0, len(self.layer), STATES_A_TURN):
            turn = self.layer[first : first + STATES_A_TURN]
            count, meets = _grow(turn, map_.offset, map_.choose, map_.beside, self.seen, other, self.out)
            parts.append(self.out[:count].copy())
            met = met or meets
            work.did(len(turn), f"{self.depth} steps from one end")
        work.holds(self.seen.nbytes + other.nbytes + self.layer.nbytes + 2 * sum(part.nbytes for part in parts))
        self.layer = np.concatenate(parts)
        self.depth += 1
        return met


def search_sorted(map_: Field, work: Work) -> int:
    """Count the steps, searching from the piglets only. The haystacks must be reachable. Raises Unsolved."""
    side = begin(map_, map_.start, work, sides=1)
    goal = map_.rank(map_.goal)
    while not side.seen[goal >> 6] >> np.uint64(goal & 63) & np.uint64(1):
        side.grow(map_, NOTHING, work)
    return side.depth


def search_both(map_: Field, work: Work) -> int:
    """Count the steps, searching from both ends. The haystacks must be reachable. Raises Unsolved."""
    if map_.rank(map_.start) == map_.rank(map_.goal):
        return 0
    sides = [begin(map_, four, work, sides=2) for four in (map_.start, map_.goal)]
    while True:
        near, far = sorted(sides, key=lambda side: len(side.layer))
        if near.grow(map_, far.seen, work):
            return near.depth + far.depth


def begin(map_: Field, four: Cells, work: Work, *, sides: int) -> Side:
    """Begin at four cells, with nothing else seen."""
    words = map_.states // 64 + 1
    work.holds(sides * words * 8)
    rank = map_.rank(four)
    seen = np.zeros(words, np.uint64)
    seen[rank >> 6] |= np.uint64(1 << (rank & 63))
    return Side(np.array([rank], np.uint32), seen)


@njit(cache=True, nogil=True)
def _grow(
    layer: Ranks,
    offset: int,
    choose: NDArray[np.int64],
    beside: NDArray[np.int16],
    seen: Bits,
    other: Bits,
    out: Ranks,
) -> tuple[int, bool]:  # pragma: no cover - compiled
    """Put the ranks one step behind `layer` that were not seen into `out`; returns how many, and if `other` has one."""
    four = np.empty(4, np.int64)
    after = np.empty((16, 4), np.int64)
    count = 0
    met = False
    for rank in layer:
        unrank(np.int64(rank) + offset, choose, four)
        for k in range(list_steps(four, beside, after)):
            child = rank_of(after[k], choose) - offset
            word = child >> 6
            bit = np.uint64(1) << np.uint64(child & 63)
            if seen[word] & bit == 0:
                seen[word] |= bit
                out[count] = child
                count += 1
                if len(other) > 0 and other[word] & bit != 0:
                    met = True
    return count, met
