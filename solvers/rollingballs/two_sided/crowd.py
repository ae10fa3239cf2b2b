"""The beams of the loop: which balls they move, to which goal, and how wide they are."""

from __future__ import annotations

import numpy as np

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.arena import (
    BALLS,
    BALLS_B,
    CELLS,
    FAR,
    FIRST,
    HUE,
    ID,
    INIT,
    MARK,
    MARK_NOW,
    MOST_MOVERS,
    MOVERS,
    NEAR,
    POS,
    QUEUE,
    REACH,
    SIDE,
    STEPS,
    STRIDE,
    UNMATCHED,
    WALK,
    WALK_OWNER,
    WALK_SLOTS,
    WORK,
    Floats,
    Ints,
    Words,
)
from solvers.rollingballs.board.kernels import kernel
from solvers.rollingballs.board.moves import draw, follow, reach
from solvers.rollingballs.two_sided.beam import beam

WIDTHS = np.array([250, 120, 60, 30], np.int64)
OTHER, FARTHEST_AIM = 1, 12


@kernel
def is_early(m: Ints) -> bool:  # pragma: no cover - compiled
    """True while many goals are unmatched."""
    return bool(m[UNMATCHED] > 3 and 20 * m[UNMATCHED] > m[BALLS_B])


@kernel
def measure_walk(m: Ints, x: int) -> int:  # pragma: no cover - compiled
    """Return the offset of the walking distances to `x`, made if they are not at hand."""
    slot = x % WALK_SLOTS
    walk = WALK + slot * CELLS
    if m[WALK_OWNER + slot] == x:
        return walk
    m[WALK_OWNER + slot] = x
    for z in range(CELLS):
        m[walk + z] = FAR
    m[walk + x] = 0
    m[QUEUE] = x
    head, tail = 0, 1
    while head < tail:
        z = m[QUEUE + head]
        head += 1
        for way in range(4):
            to = z + STEPS[way]
            if m[INIT + to] >= EMPTY and m[walk + to] == FAR:
                m[walk + to] = m[walk + z] + 1
                m[QUEUE + tail] = to
                tail += 1
    m[WORK] += 2 * tail
    return walk


@kernel
def insert_nearest(m: Ints, n: int, room: int, ball: int, distance: int) -> int:  # pragma: no cover - compiled
    """Put a ball among the nearest `room`, of which there are `n`; return how many there are now."""
    if n == room:
        if room == 0 or m[NEAR + MOST_MOVERS + n - 1] <= distance:
            return n
        n -= 1
    i = n
    while i > 0 and m[NEAR + MOST_MOVERS + i - 1] > distance:
        m[NEAR + i] = m[NEAR + i - 1]
        m[NEAR + MOST_MOVERS + i] = m[NEAR + MOST_MOVERS + i - 1]
        i -= 1
    m[NEAR + i] = ball
    m[NEAR + MOST_MOVERS + i] = distance
    return n + 1


@kernel
def choose_movers(m: Ints, u: Words, k: int, x: int, n: int, walk: int) -> int:  # pragma: no cover - compiled
    """Fill `MOVERS` with up to `n` balls of side k for a beam to the goal at `x`; return how many, 0 if none can come.

    The first has the goal's colour and is unmatched (one time in four it may be matched), half the time the nearest of
    those, otherwise one of the nearest five; the others are the nearest to it or, as often, to the goal.
    """
    own, other = k * SIDE, (1 - k) * SIDE
    hue = m[HUE + other + x]
    also_matched = draw(u, 4) == 0
    count = 0
    for ball in range(m[FIRST + own + hue], m[FIRST + own + hue + 1]):
        z = m[POS + own + ball]
        if m[walk + z] < FAR and (also_matched or m[HUE + other + z] != hue):
            count = insert_nearest(m, count, 5, ball, 16 * m[walk + z] + draw(u, 16))
    if count == 0:
        return 0
    main = m[NEAR + (0 if draw(u, 2) == 0 else draw(u, count))]
    m[MOVERS] = main
    row, column = m[POS + own + main] // STRIDE, m[POS + own + main] % STRIDE
    by_walk = draw(u, 2) == 0
    count = 0
    for ball in range(m[BALLS + k]):
        if ball == main:
            continue
        z = m[POS + own + ball]
        distance = m[walk + z] if by_walk else abs(z // STRIDE - row) + abs(z % STRIDE - column)
        count = insert_nearest(m, count, n - 1, ball, 16 * distance + draw(u, 16))
    for i in range(count):
        m[MOVERS + 1 + i] = m[NEAR + i]
    return count + 1


@kernel
def beam_step(m: Ints, u: Words, f: Floats, k: int, x: int, wide: int) -> bool:  # pragma: no cover - compiled
    """Make a beam of a random size over balls of side k to the goal at `x` of the other side; False if none can come.

    With `wide` the first ball is led to any cell that the goal's ball comes to by itself, where they meet.
    """
    if is_early(m):
        n = 1 + (draw(u, 5) if draw(u, 2) == 0 else draw(u, 10))
        width = WIDTHS[draw(u, 2)]
    else:
        n = 1 + draw(u, 10)
        width = WIDTHS[draw(u, 4)]
    walk = measure_walk(m, x)
    n = choose_movers(m, u, k, x, n, walk)
    if n == 0:
        return False
    m[MARK_NOW] += 1
    if wide == 1:
        count = reach(m, u, ID + (1 - k) * SIDE, 1 - k, x, FARTHEST_AIM, OTHER)
        for i in range(count):
            m[MARK + m[QUEUE + OTHER * REACH + i]] = m[MARK_NOW]
    beam(m, u, f, k, x, n, width, walk)
    at = m[POS + k * SIDE + m[MOVERS]]
    if at != x and m[MARK + at] == m[MARK_NOW]:
        follow(m, 1 - k, x, at, OTHER)
    return True
