"""Helpers: a ball brought where it lets an unmatched one go, or stop, where it could not before."""

from __future__ import annotations

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.arena import (
    CANDIDATE,
    CHAIN,
    CHAINED,
    DIST,
    FIRST,
    HUE,
    ID,
    MARK,
    MARK_NOW,
    NEAR,
    POS,
    QUEUE,
    REACH,
    SIDE,
    STAMP,
    STAMP_NOW,
    STEPS,
    Ints,
    Words,
)
from solvers.rollingballs.board.kernels import kernel
from solvers.rollingballs.board.moves import draw, follow, reach
from solvers.rollingballs.two_sided.crowd import insert_nearest

OWN, OTHER, SPARE = 0, 1, 2
MOST_MARKED, FARTHEST_MARKED = 8, 20
FARTHEST, LONGEST_CHAIN, PLACES = 12, 4, 3
FARTHEST_FETCHED, FARTHEST_TRIED, MOST_FETCHED, MOST_TRIED = 12, 14, 40, 6


@kernel
def has_way(m: Ints, k: int, y: int) -> bool:  # pragma: no cover - compiled
    """True if a ball of side 0 could come to rest at `y`, or one of side 1 be un-rolled from there."""
    board = ID + k * SIDE
    for way in range(4):
        step = STEPS[way]
        if m[board + y + step] != EMPTY and m[board + y - step] == EMPTY:
            return True
    return False


@kernel
def mark_reach(m: Ints, u: Words, k: int, hue: int, also_matched: bool) -> None:  # pragma: no cover - compiled
    """Mark all cells that up to eight balls of a colour on side k reach, unmatched ones or any."""
    m[MARK_NOW] += 1
    n, other = 0, (1 - k) * SIDE
    for ball in range(m[FIRST + k * SIDE + hue], m[FIRST + k * SIDE + hue + 1]):
        if also_matched or m[HUE + other + m[POS + k * SIDE + ball]] != hue:
            m[CANDIDATE + n] = ball
            n += 1
    for i in range(min(n, MOST_MARKED)):
        j = i + draw(u, n - i)
        ball = m[CANDIDATE + j]
        m[CANDIDATE + j] = m[CANDIDATE + i]
        count = reach(m, u, ID + k * SIDE, k, m[POS + k * SIDE + ball], FARTHEST_MARKED, SPARE)
        for c in range(count):
            m[MARK + m[QUEUE + SPARE * REACH + c]] = m[MARK_NOW]


@kernel
def fetch(m: Ints, u: Words, k: int, y: int, stays: int, stays_too: int) -> bool:  # pragma: no cover - compiled
    """Bring a ball of side k to the free cell `y`, not one of those at `stays`; False if none can come.

    A search backwards from `y` names balls, each then tried by a search of its own.
    """
    board, r = ID + k * SIDE, SPARE * REACH
    stamp = m[STAMP_NOW] + 1
    m[STAMP_NOW] = stamp
    m[STAMP + r + y] = stamp
    m[DIST + r + y] = 0
    m[QUEUE + r] = y
    head, tail, n = 0, 1, 0
    while head < tail and n < MOST_FETCHED:
        z = m[QUEUE + r + head]
        head += 1
        distance = m[DIST + r + z] + 1
        if distance > FARTHEST_FETCHED:
            break
        for way in range(4):
            step = STEPS[way]
            if k == 0 and m[board + z - step] == EMPTY:
                continue
            to = z + step
            while m[board + to] == EMPTY:
                leads = k == 0 or m[board + to + step] != EMPTY
                if leads and m[STAMP + r + to] != stamp:
                    m[STAMP + r + to] = stamp
                    m[DIST + r + to] = distance
                    m[QUEUE + r + tail] = to
                    tail += 1
                to += step
            leads = m[board + to] >= 0 and (k == 0 or m[board + to + step] != EMPTY)
            if leads and m[STAMP + r + to] != stamp and to != stays and to != stays_too and n < MOST_FETCHED:
                m[STAMP + r + to] = stamp
                m[CANDIDATE + n] = to
                n += 1
    for i in range(min(n, MOST_TRIED)):
        j = i + draw(u, n - i)
        cell = m[CANDIDATE + j]
        m[CANDIDATE + j] = m[CANDIDATE + i]
        reach(m, u, board, k, cell, FARTHEST_TRIED, SPARE)
        if m[STAMP + r + y] == m[STAMP_NOW]:
            follow(m, k, cell, y, SPARE)
            return True
    return False


@kernel
def _fetch_any(m: Ints, u: Words, k: int, count: int, stays: int, stays_too: int) -> int:  # pragma: no cover
    """Bring a ball to one of the first `count` cells in `NEAR` and return it, or -1; the chain grows by that cell."""
    for i in range(count):
        y = m[NEAR + i]
        if fetch(m, u, k, y, stays, stays_too):
            m[CHAINED + m[CHAIN]] = y
            m[CHAIN] += 1
            return int(y)
    return -1


@kernel
def _weigh(u: Words, weight: int, distance: int) -> int:  # pragma: no cover - compiled
    """Weigh a place for a helper by chance: the negative of what it is worth."""
    return -(weight * (100 + draw(u, 1000)) * 10) // (10 + 3 * distance)


@kernel
def help_back(m: Ints, u: Words, x: int) -> bool:  # pragma: no cover - compiled
    """Bring balls of B where the ball at `x`, or where it comes to, can be un-rolled from them; False if none can come.

    The cells of the helpers are in `CHAINED`: a helper that could not be un-rolled itself gets one of its own.
    """
    board = ID + SIDE
    m[CHAIN] = 0
    mark_reach(m, u, 0, m[HUE + SIDE + x], False)
    count = reach(m, u, board, 1, x, FARTHEST, OTHER)
    stamp, n = m[STAMP_NOW], 0
    for i in range(count):
        z = m[QUEUE + REACH + i]
        for way in range(4):
            step = STEPS[way]
            y = z + step
            if m[board + y] != EMPTY or m[board + z - step] != EMPTY:
                continue
            weight, to = 1, z - step
            while m[board + to] == EMPTY:
                if m[MARK + to] == m[MARK_NOW] and m[STAMP + REACH + to] != stamp:
                    weight = 6
                to -= step
            weight *= 5 if has_way(m, 1, y) else 1
            n = insert_nearest(m, n, PLACES, y, _weigh(u, weight, m[DIST + REACH + z]))
    y = _fetch_any(m, u, 1, n, x, x)
    if y < 0:
        return False
    while m[CHAIN] < LONGEST_CHAIN and not has_way(m, 1, y):
        n = 0
        for way in range(4):
            step = STEPS[way]
            if m[board + y + step] == EMPTY and m[board + y - step] == EMPTY:
                weight = 5 if has_way(m, 1, y + step) else 1
                n = insert_nearest(m, n, PLACES, y + step, _weigh(u, weight, 0))
        y = _fetch_any(m, u, 1, n, x, y)
        if y < 0:
            break
    return True


@kernel
def help_forward(m: Ints, u: Words, p: int) -> bool:  # pragma: no cover - compiled
    """Bring a ball of F where it stops the ball at `p`, or where it comes to, inside a roll; False if none can come."""
    m[CHAIN] = 0
    mark_reach(m, u, 1, m[HUE + p], draw(u, 4) == 0)
    count = reach(m, u, ID, 0, p, FARTHEST, OWN)
    n = 0
    for i in range(count):
        z = m[QUEUE + i]
        for way in range(4):
            step = STEPS[way]
            stop = z + step
            while m[ID + stop] == EMPTY and m[ID + stop + step] == EMPTY:
                if has_way(m, 0, stop + step):
                    weight = 8 if m[MARK + stop] == m[MARK_NOW] else 1
                    n = insert_nearest(m, n, PLACES, stop + step, _weigh(u, weight, m[DIST + z]))
                stop += step
    return _fetch_any(m, u, 0, n, p, p) >= 0
