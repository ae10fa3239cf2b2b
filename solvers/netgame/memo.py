"""The second and the third rung: search from the start, remember every state, and stop at the first winning cut.

A state is the set of uncut ropes (`ropes`) or the set of whole cells (`cells`). The table has a byte for every set;
the stack is kept in arrays, so that the search can be left and taken up again.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from checkers.netgame import SECOND, Answer
from solvers.netgame.net import Masks, Net, answer_of
from solvers.parts.clock import Clock

MOST_ROPES = 25
UNKNOWN, LOST, WON = range(3)
STATES_AT_ONCE = 1 << 17

Table = NDArray[np.uint8]


def solve_by_ropes(net: Net, clock: Clock) -> Answer | None:
    """Search sets of ropes; None for nets of more than 25 ropes (a table of 32 MiB) or when the clock ended it."""
    count = len(net.sides)
    if count > MOST_ROPES:
        return None
    if not net.corners:
        return Answer(SECOND)
    everything = (1 << count) - 1
    ropes = np.array([1 << number for number in range(count)], np.int64)
    table = search(everything, ropes, np.array(net.walls, np.int64), clock)
    if table is None:
        return None
    lost = {net.whole & ~cells for number, cells in enumerate(net.sides) if table[everything & ~(1 << number)] == LOST}
    return answer_of(net, lambda cells: cells in lost)


def solve_by_cells(net: Net, clock: Clock) -> Answer | None:
    """Search sets of cells; None when the clock ended it."""
    table = search(net.whole, net.cuts(), np.zeros(0, np.int64), clock)
    return None if table is None else answer_of(net, lambda cells: bool(table[cells] == LOST))


def search(start: int, cuts: Masks, walls: Masks, clock: Clock) -> Table | None:
    """Find out who wins from `start`, and the table that shows it; None if the clock ended the search.

    cuts   what each cut takes out of a state: a rope, or the cells it opens
    walls  where states are sets of ropes, the ropes of each cell; empty where they are sets of cells
    """
    table = np.zeros(start + 1, np.uint8)
    stack, tried = np.zeros(64, np.int64), np.zeros(64, np.int64)
    stack[0] = start
    depth = 0
    while depth >= 0:
        if not clock.running():
            return None
        left = STATES_AT_ONCE if clock.steps is None else min(STATES_AT_ONCE, clock.steps - clock.taken)
        depth, done = _search(table, cuts, walls, stack, tried, depth, left)
        clock.step(done, states=clock.taken + done)
    return table


@njit(cache=True, nogil=True)
def _search(
    table: Table, cuts: Masks, walls: Masks, stack: Masks, tried: Masks, depth: int, most: int
) -> tuple[int, int]:  # pragma: no cover - compiled
    """Settle at most `most` states; return the depth reached (-1 when the first state is settled) and how many."""
    done = 0
    while depth >= 0 and done < most:
        state = stack[depth]
        found = LOST
        at = tried[depth]
        while at < len(cuts):
            legal = (cuts[at] & state) != 0
            if legal and len(walls):
                legal = False
                for cell in range(len(walls)):
                    if (walls[cell] & cuts[at]) != 0 and (walls[cell] & state) == walls[cell]:
                        legal = True
            if legal:
                known = table[state & ~cuts[at]]
                if known != WON:
                    found = WON if known == LOST else UNKNOWN
                    break
            at += 1
        if found == UNKNOWN:
            tried[depth] = at
            depth += 1
            stack[depth] = state & ~cuts[at]
            tried[depth] = 0
        else:
            table[state] = found
            depth -= 1
            done += 1
    return depth, done
