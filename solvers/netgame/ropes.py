"""The second rung: search over sets of uncut ropes, remember every one, and stop at the first winning cut.

There are far more sets of ropes than of cells, because ropes that bound no whole cell any more still tell sets apart.
They are remembered in an open hash table; a search that fills three quarters of it ends without an answer. With 25
ropes a tenth of that is used, and hardly any net of 40 ropes fits.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from checkers.netgame import Answer, Sets
from solvers.doors import Unsolved
from solvers.netgame.net import Net, answer_of, go_on
from solvers.parts.clock import Clock

UNKNOWN, LOST, WON = range(3)
SLOTS = 1 << 21
MOST_STATES = SLOTS // 4 * 3
STATES_AT_ONCE = 1 << 14

Entries = NDArray[np.uint64]
"""Each entry is a set of ropes times four, plus LOST or WON; 0 is an empty one."""


def solve_by_ropes(net: Net, clock: Clock) -> Answer:
    """Search from the net given; raises Unsolved when there are too many sets, or when the clock ended it."""
    count = len(net.sides)
    everything = (1 << count) - 1
    entries = np.zeros(SLOTS, np.uint64)
    stack, tried = np.zeros((2, count + 1), np.int64)
    stack[0] = everything
    depth, walls = 0, _walls(net)
    while depth >= 0:
        if clock.taken >= MOST_STATES:
            raise Unsolved(f"out of memory after {clock.taken} sets of ropes")
        depth, done = _search(entries, walls, stack, tried, depth, go_on(clock, STATES_AT_ONCE))
        clock.step(done, states=clock.taken + done)
    lost = (rope for rope in range(count) if _look_up(entries, everything & ~(1 << rope))[1] == LOST)
    lost_cells = {net.whole & ~net.sides[rope] for rope in lost}
    return answer_of(net, lambda cells: cells in lost_cells)


def _walls(net: Net) -> Sets:
    """For each rope the sets of ropes around the cells it is a side of: two of them, 0 where there is no such cell."""
    walls = np.zeros((len(net.sides), 2), np.int64)
    for around in net.around:
        for rope in around:
            walls[rope, int(walls[rope, 0] != 0)] = sum(1 << other for other in around)
    return walls


@njit(cache=True, nogil=True)
def _look_up(entries: Entries, ropes: int) -> tuple[int, int]:  # pragma: no cover - compiled
    """Find the slot of a set of ropes, or the empty one where it belongs, and what is known of the set."""
    key = np.uint64(ropes)
    slot = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(43))
    while entries[slot] and entries[slot] >> np.uint64(2) != key:
        slot = (slot + 1) & (SLOTS - 1)
    return int(slot), int(entries[slot] & np.uint64(3))


@njit(cache=True, nogil=True)
def _search(
    entries: Entries, walls: Sets, stack: Sets, tried: Sets, depth: int, most: int
) -> tuple[int, int]:  # pragma: no cover - compiled
    """Settle at most `most` sets; return the depth reached (-1 when the first set is settled) and how many.

    A set that is still UNKNOWN is gone into, and met again as LOST or WON when the search is back.
    """
    done = 0
    while depth >= 0 and done < most:
        ropes = stack[depth]
        value = LOST
        at = tried[depth]
        while at < len(walls):
            one, other = walls[at]
            if (one != 0 and ropes & one == one) or (other != 0 and ropes & other == other):
                _, after = _look_up(entries, ropes & ~(1 << at))
                if after != WON:
                    value = WON if after == LOST else UNKNOWN
                    break
            at += 1
        if value == UNKNOWN:
            tried[depth] = at
            depth += 1
            stack[depth] = ropes & ~(1 << at)
            tried[depth] = 0
        else:
            slot, _ = _look_up(entries, ropes)
            entries[slot] = (np.uint64(ropes) << np.uint64(2)) | np.uint64(value)
            depth -= 1
            done += 1
    return depth, done
