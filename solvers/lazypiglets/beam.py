"""A beam of states from one end to the other: a plan, hardly ever far from the shortest.

Level by level the states with the least sum of the four first-jump bounds are kept, and those that cannot lie on a plan
as short as wanted are dropped. A state that is met once, kept or not, never comes back: the way to it is longer then.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.lazypiglets.bits import Ranks
from solvers.lazypiglets.bounds import Bounds, Lanes, Pairs, assignment, first_jumps, is_within
from solvers.lazypiglets.maps import Field, list_steps, rank_of, unrank
from solvers.lazypiglets.runs import Bits, count_runs
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
    ranks, scores = np.empty(16 * width, np.uint32), np.empty(16 * width, np.int16)
    while levels[-1][0] != goal:
        room = limit - len(levels)
        if room < 0:
            return None
        seen.make_room(16 * len(levels[-1]))
        is_there, met, count = _grow(
            levels[-1], goal, room, field.offset, field.choose, field.beside, bounds.pairs, bounds.leap, bounds.back,
            bounds.runs.cells, bounds.runs.counts, seen.slots, ranks, scores,
        )  # fmt: skip
        seen.added(met)
        if is_there:
            levels.append(np.array([goal], np.uint32))
            return levels
        work.did(len(levels[-1]), f"a plan of at most {limit} steps is looked for")
        if count == 0:
            return None
        levels.append(ranks[np.argsort(scores[:count], kind="stable")[:width]])
    return levels


@njit(cache=True, nogil=True)
def _grow(
    level: Ranks,
    goal: int,
    room: int,
    offset: int,
    choose: NDArray[np.int64],
    beside: NDArray[np.int16],
    pairs: Pairs,
    leap: Lanes,
    back: Lanes,
    run_cells: Bits,
    run_counts: Bits,
    slots: Slots,
    ranks: Ranks,
    scores: NDArray[np.int16],
) -> tuple[bool, int, int]:  # pragma: no cover - compiled
    """List the new children that may need at most `room` steps more, with their scores.

    Returns whether one is the goal, how many are new, and how many are listed.
    """
    four = np.empty(4, np.int64)
    after = np.empty((16, 4), np.int64)
    met = 0
    count = 0
    for rank in level:
        unrank(np.int64(rank) + offset, choose, four)
        for k in range(list_steps(four, beside, after)):
            child = rank_of(after[k], choose) - offset
            if child == goal:
                return True, met, count
            if not put(slots, child):
                continue
            met += 1
            least = assignment(after[k], leap, back) + count_runs(after[k], run_cells, run_counts)
            if least <= room and is_within(after[k], room, pairs):
                ranks[count] = child
                scores[count] = first_jumps(after[k], pairs)
                count += 1
    return False, met, count
