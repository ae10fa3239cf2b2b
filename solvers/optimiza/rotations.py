"""Walks inside a group bettered at their ends (Pósa, 1976).

If the last cell of a walk touches its t-th cell, the stretch behind that cell can be walked the other way round: the
same cells, the same start, another end. Turned again and again, a walk meets an end that it can continue from, and
later the end that is worth most.
"""

from __future__ import annotations

import numpy as np

from checkers.compiled import njit
from solvers.optimiza.board import Masks, Numbers
from solvers.optimiza.search import ONE, Flags, Whole, highest, keep, narrowest, turn_fronts


@njit(cache=True, nogil=True)
def turn_ends(
    near: Masks, worth: Numbers, value: int, turns: int, gains: Numbers, walks: Numbers, proved: Flags
) -> None:  # pragma: no cover - compiled; what it gives is compared with all paths in the tests
    """Turn the walk of every start that is not proved, up to `turns` times, and spread what is gained."""
    count = len(near)
    draws = np.uint64(1)
    for start in range(count):
        before = gains[start]
        most = highest(worth, value, start)
        walk = walks[start].copy()
        length = 0
        used = np.uint64(0)
        while length < count and walk[length] >= 0:
            used |= ONE << np.uint64(walk[length])
            length += 1
        every = (ONE << np.uint64(count)) - ONE
        for _ in range(turns):
            if proved[start] or gains[start] == most:
                break
            free = every & ~used
            ways = near[walk[length - 1]] & free
            if ways:
                cell = narrowest(near, ways, free)
                walk[length] = cell
                length += 1
                used |= ONE << np.uint64(cell)
            else:
                draws = draws * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
                at = _choose_turn(near, walk, length, free, draws >> np.uint64(40))
                if at < 0:
                    break
                walk[at + 1 : length] = walk[at + 1 : length][::-1].copy()
            keep(walk, length, length * value + worth[walk[length - 1]], gains, walks)
        if gains[start] > before:
            turn_fronts(near, value, gains, walks)


@njit(cache=True, nogil=True)
def _choose_turn(
    near: Masks, walk: Numbers, length: int, free: np.uint64, draw: np.uint64
) -> Whole:  # pragma: no cover - compiled
    """Draw the place of a cell that the end touches, one whose turn gives an end to continue from if there is any."""
    end = walk[length - 1]
    for wanted in (True, False):
        count = 0
        for at in range(length - 2):
            if (near[end] >> np.uint64(walk[at])) & ONE:
                count += not wanted or (near[walk[at + 1]] & free) != 0
        if count == 0:
            continue
        left = np.int64(draw % np.uint64(count))
        for at in range(length - 2):
            if (near[end] >> np.uint64(walk[at])) & ONE and (not wanted or (near[walk[at + 1]] & free) != 0):
                if left == 0:
                    return at
                left -= 1
    return -1
