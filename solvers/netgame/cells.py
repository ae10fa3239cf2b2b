"""The third rung: search over sets of whole cells, remember every one, and stop at the first winning cut.

The memory has a byte for every set, 1 MiB for 20 cells. The stack is kept in arrays, so that the search can be left
and taken up again.
"""

from __future__ import annotations

import numpy as np

from checkers.compiled import njit
from checkers.netgame import Answer, Sets, Table
from solvers.netgame.net import Net, answer_of, go_on
from solvers.parts.clock import Clock

UNKNOWN, LOST, WON = range(3)
STATES_AT_ONCE = 1 << 17


def solve_by_cells(net: Net, clock: Clock) -> Answer:
    """Search from the net given; raises Unsolved when the clock ended it."""
    known = np.zeros(net.whole + 1, np.uint8)
    stack, tried = np.zeros((2, len(net.corners) + 1), np.int64)
    stack[0] = net.whole
    depth, cuts = 0, net.cuts()
    while depth >= 0:
        depth, done = _search(known, cuts, stack, tried, depth, go_on(clock, STATES_AT_ONCE))
        clock.step(done, states=clock.taken + done)
    return answer_of(net, lambda cells: bool(known[cells] == LOST))


@njit(cache=True, nogil=True)
def _search(
    known: Table, cuts: Sets, stack: Sets, tried: Sets, depth: int, most: int
) -> tuple[int, int]:  # pragma: no cover - compiled
    """Settle at most `most` states; return the depth reached (-1 when the first state is settled) and how many.

    A set that is still UNKNOWN is gone into, and met again as LOST or WON when the search is back.
    """
    done = 0
    while depth >= 0 and done < most:
        cells = stack[depth]
        value = LOST
        at = tried[depth]
        while at < len(cuts):
            if cuts[at] & cells:
                after = known[cells & ~cuts[at]]
                if after != WON:
                    value = WON if after == LOST else UNKNOWN
                    break
            at += 1
        if value == UNKNOWN:
            tried[depth] = at
            depth += 1
            stack[depth] = cells & ~cuts[at]
            tried[depth] = 0
        else:
            known[cells] = value
            depth -= 1
            done += 1
    return depth, done
