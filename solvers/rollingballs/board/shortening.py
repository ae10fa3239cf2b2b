"""Fewer moves to the same boards: some moves of one ball become a shorter way of its own, all others stay as they are.

Between the first and the last of the moves replaced the ball waits on one cell. A move of another ball is then legal,
and ends where it did, unless the ball waits on its ray or was the one that stopped it: so no board is replayed to check
it. Of a roll from a to z the ray is everything after a up to z, and what stops it lies behind z; of an un-roll from a
to z the ray is the same, and what stopped the roll lies next to a.
"""

from __future__ import annotations

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.arena import (
    BALLS,
    CELLS,
    COUNT,
    DIST,
    GAME,
    HIST,
    ID,
    LATER,
    MOVER,
    NEXT,
    OWN_MOVE,
    PATH,
    REACH,
    SIDE,
    STAMP,
    STAMP_NOW,
    STEPS,
    STRIDE,
    WINDOW,
    WORK,
    Ints,
    Words,
)
from solvers.rollingballs.board.kernels import kernel
from solvers.rollingballs.board.moves import draw, reach, trace

SPARE = 2
MOST_OWN, FARTHEST = 30, 12


@kernel
def waits(m: Ints, k: int, first: int, last: int, place: int, at: int) -> bool:  # pragma: no cover - compiled
    """True if moves `first` to `last` of side k stay legal while the ball that stands at `place` waits on `at`."""
    for i in range(first, last + 1):
        h = HIST + k * SIDE + 3 * i
        a, z, way = m[h], m[h + 1], m[h + 2]
        if a == place:
            place = z
            continue
        if at == place:
            continue
        support = z + STEPS[way] if k == 0 else a + STEPS[way]
        on_ray = min(a, z) <= at <= max(a, z) and (way & 1 == 0 or (at - a) % STRIDE == 0)
        if support == place or on_ray:
            m[WORK] += i - first
            return False
    m[WORK] += last - first
    return True


@kernel
def rewrite(
    m: Ints, k: int, first: int, last: int, p: int, q: int, way_first: bool, room: int
) -> None:  # pragma: no cover - compiled
    """Put the way that a search found from `p` to `q` in place of the moves of the ball at `p` in `first` to `last`.

    The way comes before the moves of the others or after them.
    """
    length, n, ball, place = trace(m, p, q, room), 0, m[MOVER + first], p
    if not way_first:
        n = -length
    for i in range(first, last + 1):
        h = HIST + k * SIDE + 3 * i
        if m[h] == place:
            place = m[h + 1]
            continue
        w = WINDOW + 4 * (length + n)
        m[w], m[w + 1], m[w + 2], m[w + 3] = m[h], m[h + 1], m[h + 2], m[MOVER + i]
        n += 1
    total, at = length + n, p
    if not way_first:
        total += length
    begin = 0 if way_first else total - length
    for i in range(length):
        w, step = WINDOW + 4 * (begin + i), PATH + 2 * (length - 1 - i)
        m[w], m[w + 1], m[w + 2], m[w + 3] = at, m[step], m[step + 1], ball
        at = m[step]
    old = last + 1 - first
    count = m[COUNT + k]
    if total <= old:
        for i in range(last + 1, count):
            for j in range(3):
                m[HIST + k * SIDE + 3 * (i + total - old) + j] = m[HIST + k * SIDE + 3 * i + j]
            m[MOVER + i + total - old] = m[MOVER + i]
    for i in range(total):
        for j in range(3):
            m[HIST + k * SIDE + 3 * (first + i) + j] = m[WINDOW + 4 * i + j]
        m[MOVER + first + i] = m[WINDOW + 4 * i + 3]
    m[COUNT + k] = count + total - old
    m[WORK] += 3 * (count - first)


@kernel
def link(m: Ints, k: int, first: int) -> None:  # pragma: no cover - compiled
    """Fill `NEXT` from move `first` on."""
    for ball in range(m[BALLS + k]):
        m[LATER + ball] = -1
    for i in range(m[COUNT + k] - 1, first - 1, -1):
        ball = m[MOVER + i]
        m[NEXT + i] = m[LATER + ball]
        m[LATER + ball] = i
    m[WORK] += m[COUNT + k] - first


@kernel
def go_back(m: Ints, k: int, first: int) -> None:  # pragma: no cover - compiled
    """Set `GAME` to the board of side k before move `first`, and `MOVER` from that move on."""
    for z in range(CELLS):
        m[GAME + z] = m[ID + k * SIDE + z]
    for i in range(m[COUNT + k] - 1, first - 1, -1):
        h = HIST + k * SIDE + 3 * i
        ball = m[GAME + m[h + 1]]
        m[GAME + m[h + 1]] = EMPTY
        m[GAME + m[h]] = ball
        m[MOVER + i] = ball
    m[WORK] += 200 + m[COUNT + k] - first


@kernel
def _go_early(m: Ints, u: Words, k: int, first: int) -> bool:  # pragma: no cover - compiled
    """Let the ball go at once to where one of its later moves ends; the furthest that works is taken."""
    p, n, i = m[HIST + k * SIDE + 3 * first], 0, first
    while i >= 0 and n < MOST_OWN:
        m[OWN_MOVE + n] = i
        n += 1
        i = m[NEXT + i]
    reach(m, u, GAME, k, p, min(FARTHEST, n - 1), SPARE)
    stamp, r = m[STAMP_NOW], SPARE * REACH
    for j in range(n - 1, 0, -1):
        last = m[OWN_MOVE + j]
        q = m[HIST + k * SIDE + 3 * last + 1]
        if m[STAMP + r + q] == stamp and m[DIST + r + q] <= j and waits(m, k, first, last, p, q):
            rewrite(m, k, first, last, p, q, True, SPARE)
            return True
    return False


@kernel
def _go_late(m: Ints, u: Words, k: int, first: int) -> bool:  # pragma: no cover - compiled
    """Let the ball wait where it is and go to where one of its next moves ends only when that is made."""
    p, moves, last = m[HIST + k * SIDE + 3 * first], 1, first
    most = 2 + draw(u, 8)
    while m[NEXT + last] >= 0 and moves < most:
        last = m[NEXT + last]
        moves += 1
    if not waits(m, k, first, last, p, p):
        return False
    for i in range(first, last + 1):
        h = HIST + k * SIDE + 3 * i
        m[GAME + m[h + 1]] = m[GAME + m[h]]
        m[GAME + m[h]] = EMPTY
    q = m[HIST + k * SIDE + 3 * last + 1]
    ball = m[GAME + q]
    m[GAME + q] = EMPTY
    m[GAME + p] = ball
    reach(m, u, GAME, k, p, moves - 1, SPARE)
    m[GAME + p] = EMPTY
    m[GAME + q] = ball
    for i in range(last, first - 1, -1):
        h = HIST + k * SIDE + 3 * i
        m[GAME + m[h]] = m[GAME + m[h + 1]]
        m[GAME + m[h + 1]] = EMPTY
    m[WORK] += 2 * (last - first)
    r = SPARE * REACH
    if m[STAMP + r + q] != m[STAMP_NOW]:
        return False
    rewrite(m, k, first, last, p, q, False, SPARE)
    return True


@kernel
def shorten_side(m: Ints, u: Words, k: int, tries: int) -> None:  # pragma: no cover - compiled
    """Pass over the moves of side k and try to shorten at about `tries` of them."""
    n = m[COUNT + k]
    go_back(m, k, 0)
    link(m, k, 0)
    i = 0
    while i < m[COUNT + k]:
        tried = m[NEXT + i] >= 0 and draw(u, n) < tries
        if tried and (_go_early(m, u, k, i) if draw(u, 2) == 0 else _go_late(m, u, k, i)):
            link(m, k, i)
            continue
        h = HIST + k * SIDE + 3 * i
        m[GAME + m[h + 1]] = m[GAME + m[h]]
        m[GAME + m[h]] = EMPTY
        i += 1
