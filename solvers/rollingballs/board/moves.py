"""Moves on the two boards of an arena: made, taken back, searched for one ball, landed as one play."""

from __future__ import annotations

import numpy as np

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.arena import (
    BALLS,
    BEST,
    BEST_MOVES,
    BEST_POINTS,
    CELLS,
    COL,
    COUNT,
    COUNT_B,
    DIST,
    FEWEST,
    FROZEN,
    HIST,
    HUE,
    ID,
    INIT,
    KEEP,
    KEPT,
    LAND,
    MOST,
    PARENT,
    PATH,
    POS,
    QUEUE,
    REACH,
    ROOM,
    SIDE,
    STAMP,
    STAMP_NOW,
    STEPS,
    UNMATCHED,
    WAY,
    WORK,
    Ints,
    Words,
)
from solvers.rollingballs.board.kernels import kernel

WORK_PER_CELL = 6


@kernel
def draw(u: Words, bound: int) -> int:  # pragma: no cover - compiled
    """Draw from 0..bound-1, bound at most 2^31 (xorshift, Marsaglia 2003)."""
    x = u[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    u[0] = x
    return np.int64(((x >> np.uint64(33)) * np.uint64(bound)) >> np.uint64(31))  # type: ignore[return-value]


@kernel
def move(m: Ints, k: int, ball: int, to: int) -> None:  # pragma: no cover - compiled
    """Put a ball of side k on a free cell: the only writer of `ID`, `HUE`, `POS` and `UNMATCHED`."""
    own, other = HUE + k * SIDE, HUE + (1 - k) * SIDE
    at = m[POS + k * SIDE + ball]
    hue = m[own + at]
    if m[other + at] == hue:
        m[UNMATCHED] += 1
    if m[other + to] == hue:
        m[UNMATCHED] -= 1
    m[own + at] = EMPTY
    m[own + to] = hue
    m[ID + k * SIDE + at] = EMPTY
    m[ID + k * SIDE + to] = ball
    m[POS + k * SIDE + ball] = to


@kernel
def act(m: Ints, k: int, ball: int, to: int, way: int) -> None:  # pragma: no cover - compiled
    """Move a ball and write it down; nothing happens when the history is full, which the loop undoes."""
    n = m[COUNT + k]
    if n >= m[ROOM]:
        return
    at = HIST + k * SIDE + 3 * n
    m[at] = m[POS + k * SIDE + ball]
    m[at + 1] = to
    m[at + 2] = way
    m[COUNT + k] = n + 1
    move(m, k, ball, to)


@kernel
def roll_back(m: Ints, rolls: int, unrolls: int) -> None:  # pragma: no cover - compiled
    """Take back moves until `rolls` are left on side 0 and `unrolls` on side 1."""
    for k in range(2):
        back_to = rolls if k == 0 else unrolls
        for i in range(m[COUNT + k] - 1, back_to - 1, -1):
            at = HIST + k * SIDE + 3 * i
            move(m, k, m[ID + k * SIDE + m[at + 1]], m[at])
        m[COUNT + k] = min(back_to, m[COUNT + k])


@kernel
def stop(m: Ints, board: int, at: int, step: int) -> int:  # pragma: no cover - compiled
    """Return the cell where a ball at `at` comes to rest when it rolls by `step` on the board at offset `board`."""
    while m[board + at + step] == EMPTY:
        at += step
    return at


@kernel
def reach(
    m: Ints, u: Words, board: int, backward: int, p: int, most: int, room: int
) -> int:  # pragma: no cover - compiled
    """Search breadth-first where the ball at `p` can come in at most `most` rolls, or un-rolls if `backward`.

    `board` is the offset of the board, `room` 0..2 the set of tables to fill. Directions are taken in a random
    rotation at every cell, the only noise of the ways. Returns the number of cells in the queue.
    """
    r = room * REACH
    stamp = m[STAMP_NOW] + 1
    m[STAMP_NOW] = stamp
    ball = m[board + p]
    m[board + p] = EMPTY
    m[QUEUE + r] = p
    m[STAMP + r + p] = stamp
    m[DIST + r + p] = 0
    head, tail = 0, 1
    if backward == 1 and m[FROZEN] == 1:
        head = 1
    while head < tail:
        z = m[QUEUE + r + head]
        head += 1
        distance = m[DIST + r + z] + 1
        if distance > most:
            break
        turn = draw(u, 4)
        for i in range(4):
            way = (turn + i) & 3
            step = STEPS[way]
            if backward == 0:
                to = z
                while m[board + to + step] == EMPTY:
                    to += step
                if m[STAMP + r + to] != stamp:
                    m[STAMP + r + to] = stamp
                    m[DIST + r + to] = distance
                    m[PARENT + r + to] = z
                    m[WAY + r + to] = way
                    m[QUEUE + r + tail] = to
                    tail += 1
            elif m[board + z + step] != EMPTY:
                to = z - step
                while m[board + to] == EMPTY:
                    if m[STAMP + r + to] != stamp:
                        m[STAMP + r + to] = stamp
                        m[DIST + r + to] = distance
                        m[PARENT + r + to] = z
                        m[WAY + r + to] = way
                        m[QUEUE + r + tail] = to
                        tail += 1
                    to -= step
    m[board + p] = ball
    m[WORK] += WORK_PER_CELL * tail
    return tail


@kernel
def trace(m: Ints, p: int, q: int, room: int) -> int:  # pragma: no cover - compiled
    """Write the way from `p` to `q` into `PATH`, a cell and a direction each, last move first; return its length."""
    r = room * REACH
    n = 0
    while q != p:
        m[PATH + 2 * n] = q
        m[PATH + 2 * n + 1] = m[WAY + r + q]
        q = m[PARENT + r + q]
        n += 1
    return n


@kernel
def follow(m: Ints, k: int, p: int, q: int, room: int) -> None:  # pragma: no cover - compiled
    """Make the moves that a search of side k from `p` found to `q`."""
    ball = m[ID + k * SIDE + p]
    for i in range(trace(m, p, q, room) - 1, -1, -1):
        act(m, k, ball, m[PATH + 2 * i], m[PATH + 2 * i + 1])


@kernel
def keep_state(m: Ints) -> None:  # pragma: no cover - compiled
    """Keep the moves of both sides as the best state of the restart."""
    for k in range(2):
        n = m[COUNT + k]
        for i in range(3 * n):
            m[KEEP + k * SIDE + i] = m[HIST + k * SIDE + i]
        m[KEPT + k] = n
    m[FEWEST] = m[UNMATCHED]


@kernel
def restore_state(m: Ints) -> None:  # pragma: no cover - compiled
    """Go back to the best state of the restart, by way of the moves that both have in common."""
    for k in range(2):
        h, best = HIST + k * SIDE, KEEP + k * SIDE
        n, common = min(m[COUNT + k], m[KEPT + k]), 0
        while common < 3 * n and m[h + common] == m[best + common]:
            common += 1
        common //= 3
        if k == 0:
            roll_back(m, common, m[COUNT_B])
        else:
            roll_back(m, m[COUNT], common)
        for i in range(common, m[KEPT + k]):
            ball = m[ID + k * SIDE + m[best + 3 * i]]
            act(m, k, ball, m[best + 3 * i + 1], m[best + 3 * i + 2])


@kernel
def land(m: Ints, write: int) -> tuple[int, int]:  # pragma: no cover - compiled
    """Play the rolls of side 0, then the un-rolls of side 1 backwards; return the points2 and the number of moves.

    A roll whose cell is empty or that would not move is left out. With `write` the moves go to `BEST`.
    """
    for z in range(CELLS):
        m[LAND + z] = m[HUE + z] if m[ID + z] != -2 else -2
    n = m[COUNT]
    if write == 1:
        for i in range(3 * n):
            m[BEST + i] = m[HIST + i]
    for i in range(m[COUNT_B] - 1, -1, -1):
        at = m[HIST + SIDE + 3 * i + 1]
        hue = m[LAND + at]
        if hue < 0:
            continue
        way = m[HIST + SIDE + 3 * i + 2]
        to = stop(m, LAND, at, STEPS[way])
        if to == at:
            continue
        m[LAND + at] = EMPTY
        m[LAND + to] = hue
        if write == 1:
            m[BEST + 3 * n] = at
            m[BEST + 3 * n + 1] = to
            m[BEST + 3 * n + 2] = way
        n += 1
    points = 0
    for z in range(CELLS):
        ball = m[INIT + SIDE + z]
        if ball >= 0 and m[LAND + z] >= 0:
            points += 2 if m[LAND + z] == m[COL + SIDE + ball] else 1
    m[WORK] += 2000 + 2 * (m[COUNT] + m[COUNT_B])
    return points, n


@kernel
def record(m: Ints) -> None:  # pragma: no cover - compiled
    """Land the boards as they are and take the play if it has more points2, or as many in fewer moves."""
    points, n = land(m, 0)
    if n > m[MOST]:
        return
    if points > m[BEST_POINTS] or (points == m[BEST_POINTS] and n < m[BEST_MOVES]):
        land(m, 1)
        m[BEST_POINTS] = points
        m[BEST_MOVES] = n


@kernel
def choose_unmatched(m: Ints, u: Words, k: int) -> int:  # pragma: no cover - compiled
    """Return the cell of a random ball of side k that is not matched, or -1 if all are."""
    chosen, n = -1, 0
    for ball in range(m[BALLS + k]):
        z = m[POS + k * SIDE + ball]
        if m[HUE + z] != m[HUE + SIDE + z]:
            n += 1
            if draw(u, n) == 0:
                chosen = z
    return chosen
