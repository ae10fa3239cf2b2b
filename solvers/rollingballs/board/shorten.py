"""Shorten a play: the moves of a ball are replaced by a shorter way, early or late, where all others stay as they are.

Let a ball's moves, with others between them, lead it from p over some cells to q. It may go to q at once by a shortest
way on the board before the first, or wait at p and go by a shortest way on the board after the last, if each of the
moves between still ends where it did. Every replacement is checked by rolling these moves again.
"""

from __future__ import annotations

from numba import njit

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.flat import FROM, TO, WAY, Cells, Ints, stop_of
from solvers.rollingballs.two_sided.meeting_moves import reach_forward

MOST_OWN = 12
FARTHEST_WINDOW = 1500


@njit(cache=True, nogil=True)
def shorten(
    cells: Cells, steps: Ints, rolls: Ints, count: int, scratch: Cells, room: Ints, queue: Ints, spare: Ints
) -> int:  # pragma: no cover - compiled
    """Shorten `rolls[:count]`, a play that starts at `cells`, in place; returns the new count.

    All rolls must move a ball. `cells` ends as the board after the play; `scratch`, `room`, `queue`, `spare` are room.
    """
    times = queue[len(queue) - MOST_OWN :]
    i = 0
    while i < count:
        at = rolls[i, FROM]
        own, cell, last = 0, at, min(count, i + FARTHEST_WINDOW)
        for t in range(i, last):
            if rolls[t, FROM] == cell:
                times[own] = t
                own += 1
                cell = rolls[t, TO]
                if own == MOST_OWN:
                    break
        shorter = count
        if own > 1:
            shorter = _go_early(cells, steps, rolls, count, times, own, scratch, room, queue, spare)
            if shorter == count:
                shorter = _go_late(cells, steps, rolls, count, times, own, scratch, room, queue, spare)
        if shorter < count:
            count = shorter
            continue
        cells[rolls[i, TO]] = cells[at]
        cells[at] = EMPTY
        i += 1
    return count


@njit(cache=True, nogil=True)
def _go_early(
    cells: Cells,
    steps: Ints,
    rolls: Ints,
    count: int,
    times: Ints,
    own: int,
    scratch: Cells,
    room: Ints,
    queue: Ints,
    spare: Ints,
) -> int:  # pragma: no cover - compiled
    first = times[0]
    at = rolls[first, FROM]
    reach_forward(cells, steps, at, own - 1, room, queue)
    for m in range(own, 1, -1):
        to = rolls[times[m - 1], TO]
        if room[0, to] >= m:
            continue
        scratch[:] = cells
        scratch[at] = EMPTY
        scratch[to] = cells[at]
        good, next_own = True, 1
        for t in range(first + 1, times[m - 1] + 1):
            if t == times[next_own]:
                next_own += 1
                continue
            good = _again(scratch, steps, rolls, t)
            if not good:
                break
        if good:
            return _replace(rolls, count, times, m, room, at, to, True, spare)
    return count


@njit(cache=True, nogil=True)
def _go_late(
    cells: Cells,
    steps: Ints,
    rolls: Ints,
    count: int,
    times: Ints,
    own: int,
    scratch: Cells,
    room: Ints,
    queue: Ints,
    spare: Ints,
) -> int:  # pragma: no cover - compiled
    first = times[0]
    at = rolls[first, FROM]
    scratch[:] = cells
    m = 1
    for t in range(first + 1, times[own - 1] + 1):
        if t != times[m]:
            if not _again(scratch, steps, rolls, t):
                return count
            continue
        m += 1
        to = rolls[t, TO]
        reach_forward(scratch, steps, at, m - 1, room, queue)
        if room[0, to] < m:
            return _replace(rolls, count, times, m, room, at, to, False, spare)
    return count


@njit(cache=True, nogil=True)
def _again(cells: Cells, steps: Ints, rolls: Ints, t: int) -> bool:  # pragma: no cover - compiled
    """Make roll `t` again if it still ends where it did."""
    at, to = rolls[t, FROM], rolls[t, TO]
    if stop_of(cells, at, steps[rolls[t, WAY]]) != to:
        return False
    cells[to] = cells[at]
    cells[at] = EMPTY
    return True


@njit(cache=True, nogil=True)
def _replace(
    rolls: Ints, count: int, times: Ints, m: int, room: Ints, at: int, to: int, early: bool, spare: Ints
) -> int:  # pragma: no cover - compiled
    """Put the way from `at` to `to` that `room` knows in place of the first `m` own moves; returns the new count."""
    first, last, length = times[0], times[m - 1], room[0, to]
    others = last - first + 1 - m
    left = 0
    next_own = 0
    for t in range(first, last + 1):
        if next_own < m and t == times[next_own]:
            next_own += 1
            continue
        spare[left] = rolls[t]
        left += 1
    start = first if early else first + others
    place = start + length
    cell = to
    while cell != at:
        place -= 1
        rolls[place, FROM] = room[1, cell]
        rolls[place, WAY] = room[2, cell]
        rolls[place, TO] = cell
        cell = room[1, cell]
    start = first + length if early else first
    for i in range(others):
        rolls[start + i] = spare[i]
    saved = m - length
    for t in range(last + 1, count):
        rolls[t - saved] = rolls[t]
    return int(count - saved)
