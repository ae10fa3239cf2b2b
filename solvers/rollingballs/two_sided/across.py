"""Shortening across both sides: a matched pair meets on another cell, and fewer moves lead to it."""

from __future__ import annotations

from solvers.rollingballs.board.arena import (
    BALLS,
    COUNT,
    DIST,
    GAME,
    HIST,
    HUE,
    ID,
    POS,
    QUEUE,
    REACH,
    SIDE,
    STAMP,
    STAMP_NOW,
    WORK,
    Ints,
    Words,
)
from solvers.rollingballs.board.kernels import kernel
from solvers.rollingballs.board.moves import draw, move, reach
from solvers.rollingballs.board.shortening import go_back, rewrite, shorten_side, waits

MOST_MOVES_BACK = 6
ACROSS_SHARE = 4


@kernel
def _last_moves(m: Ints, k: int, at: int, most: int) -> tuple[int, int, int]:  # pragma: no cover - compiled
    """Walk back to the first of the last `most` moves of the ball at `at`.

    Returns its number (that of moves if there is none), the cell before it, and how many they are.
    """
    n, first, i = 0, m[COUNT + k], m[COUNT + k] - 1
    while i >= 0 and n < most:
        h = HIST + k * SIDE + 3 * i
        if m[h + 1] == at:
            at = m[h]
            first = i
            n += 1
        i -= 1
    m[WORK] += m[COUNT + k] - i
    return first, at, n


@kernel
def shorten_pair(m: Ints, u: Words, ball: int) -> bool:  # pragma: no cover - compiled
    """Try to let a ball of F and the ball matched to it meet elsewhere in fewer moves; True if they do."""
    x = m[POS + ball]
    first_f, p, n = _last_moves(m, 0, x, draw(u, MOST_MOVES_BACK + 1))
    first_b, q, n_b = _last_moves(m, 1, x, draw(u, MOST_MOVES_BACK + 1))
    n += n_b
    if n < 2:
        return False
    go_back(m, 0, first_f)
    count = reach(m, u, GAME, 0, p, n - 1, 0)
    go_back(m, 1, first_b)
    reach(m, u, GAME, 1, q, n - 1, 1)
    other = m[STAMP_NOW]
    last_f, last_b = m[COUNT] - 1, m[COUNT + 1] - 1
    for total in range(n):
        for i in range(count):
            z = m[QUEUE + i]
            if m[STAMP + REACH + z] != other or m[DIST + z] + m[DIST + REACH + z] != total:
                continue
            if waits(m, 0, first_f, last_f, p, z) and waits(m, 1, first_b, last_b, q, z):
                partner = m[ID + SIDE + x]
                rewrite(m, 0, first_f, last_f, p, z, True, 0)
                rewrite(m, 1, first_b, last_b, q, z, True, 1)
                if z != x:
                    move(m, 0, ball, z)
                    move(m, 1, partner, z)
                return True
    return False


@kernel
def shorten(m: Ints, u: Words, tries: int) -> None:  # pragma: no cover - compiled
    """Shorten both sides, and then pairs across them; the set of matched goals stays."""
    for k in range(2):
        if m[COUNT + k] > 1:
            shorten_side(m, u, k, tries)
    for _ in range(tries // ACROSS_SHARE):
        ball = draw(u, m[BALLS])
        z = m[POS + ball]
        if m[HUE + z] == m[HUE + SIDE + z]:
            shorten_pair(m, u, ball)
