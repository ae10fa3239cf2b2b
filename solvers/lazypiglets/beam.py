"""A beam of states from one end to the other: a plan, hardly ever far from the shortest.

Level by level the states with the least sum of the four first-jump bounds are kept; no state twice in all levels.
States that cannot lie on a plan as short as wanted are dropped at once.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.lazypiglets.bits import Ranks
from solvers.lazypiglets.bounds import Bounds, Lanes, first_jumps, is_within
from solvers.lazypiglets.maps import Field, list_steps, rank_of, unrank
from solvers.lazypiglets.seen import Seen, Slots, put
from solvers.lazypiglets.work import Work


def search_beam(
    start: int, goal: int, field: Field, bounds: Bounds, *, width: int, limit: int, work: Work
) -> list[Ranks] | None:
    """Look for a plan of at most `limit` steps. `bounds` are those to `goal`; both are ranks.

    Returns the levels from the start on, the last holding the goal alone, or None. Raises Unsolved.
    """
    levels: list[Ranks] = [np.array([start], np.uint32)]
    seen = Seen()
    seen.added(put(seen.slots, start))
    ranks, scores = np.empty(16 * width, np.uint32), np.empty(16 * width, np.int32)
    while levels[-1][0] != goal:
        room = limit - len(levels)
        if room < 0:
            return None
        count = _grow(levels[-1], goal, room, field.offset, field.choose, field.beside,
                      bounds.back, bounds.first, ranks, scores)  # fmt: skip
        if count < 0:
            levels.append(np.array([goal], np.uint32))
            return levels
        work.did(len(levels[-1]), f"a plan of at most {limit} steps is looked for")
        seen.make_room(width)
        chosen = np.empty(width, np.uint32)
        chosen = chosen[: _keep(np.argsort(scores[:count], kind="stable"), ranks, seen.slots, chosen)]
        seen.added(len(chosen))
        if len(chosen) == 0:
            return None
        levels.append(chosen)
    return levels


@njit(cache=True, nogil=True)
def _grow(
    level: Ranks,
    goal: int,
    room: int,
    offset: int,
    choose: NDArray[np.int64],
    beside: NDArray[np.int16],
    back: Lanes,
    first: Lanes,
    ranks: Ranks,
    scores: NDArray[np.int32],
) -> int:  # pragma: no cover - compiled
    """List the children that may need at most `room` steps more, with their scores; -1 if one is the goal."""
    four = np.empty(4, np.int64)
    after = np.empty((16, 4), np.int64)
    count = 0
    for rank in level:
        unrank(np.int64(rank) + offset, choose, four)
        for k in range(list_steps(four, beside, after)):
            if not is_within(after[k], room, back, first):
                continue
            child = rank_of(after[k], choose) - offset
            if child == goal:
                return -1
            ranks[count] = child
            scores[count] = first_jumps(after[k], back, first)
            count += 1
    return count


@njit(cache=True, nogil=True)
def _keep(order: NDArray[np.int64], ranks: Ranks, slots: Slots, chosen: Ranks) -> int:  # pragma: no cover - compiled
    """Keep the first of `order` that were not seen; returns how many."""
    count = 0
    for at in order:
        if count == len(chosen):
            break
        if put(slots, np.int64(ranks[at])):
            chosen[count] = ranks[at]
            count += 1
    return count
