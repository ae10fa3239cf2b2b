"""Two balls of a colour, one of either side, meet on a cell that both can come to."""

from __future__ import annotations

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.arena import (
    BALLS,
    BALLS_B,
    CANDIDATE,
    COL,
    DIST,
    FIRST,
    HUE,
    ID,
    LIST,
    POS,
    QUEUE,
    REACH,
    SIDE,
    STAMP,
    STAMP_NOW,
    UNMATCHED,
    Ints,
    Words,
)
from solvers.rollingballs.board.kernels import kernel
from solvers.rollingballs.board.moves import draw, follow, reach

MOST_CANDIDATES = 12
FARTHEST = 60
ROUNDS = 3
NOISE = 6
OWN, OTHER = 0, 1


@kernel
def meet(m: Ints, u: Words, x: int, steal: int) -> bool:  # pragma: no cover - compiled
    """Lead the ball of B at `x` and an unmatched ball of F to a cell in the fewest moves; False if none can come.

    With `steal` 1 the ball of F may be matched to another goal; with 2 it may have any colour and stands on no goal.
    """
    hue = m[HUE + SIDE + x]
    first, end = m[FIRST + hue], m[FIRST + hue + 1]
    if steal == 2:
        first, end = 0, m[BALLS]
    n = 0
    for ball in range(first, end):
        z = m[POS + ball]
        goal = m[HUE + SIDE + z]
        if z != x and (steal == 1 or (goal == EMPTY if steal == 2 else goal != hue)):
            m[CANDIDATE + n] = ball
            n += 1
    if n == 0:
        return False
    reach(m, u, ID + SIDE, 1, x, FARTHEST, OTHER)
    stamp = m[STAMP_NOW]
    best, best_ball, best_cell, ties = FARTHEST + 1, -1, -1, 0
    for i in range(min(n, MOST_CANDIDATES)):
        j = i + draw(u, n - i)
        ball = m[CANDIDATE + j]
        m[CANDIDATE + j] = m[CANDIDATE + i]
        count = reach(m, u, ID, 0, m[POS + ball], best, OWN)
        for c in range(count):
            z = m[QUEUE + c]
            if m[STAMP + REACH + z] != stamp:
                continue
            total = m[DIST + z] + m[DIST + REACH + z]
            if total < best:
                best, best_ball, best_cell, ties = total, ball, z, 1
            elif total == best and best_ball >= 0:
                ties += 1
                if draw(u, ties) == 0:
                    best_ball, best_cell = ball, z
    if best_ball < 0:
        return False
    p = m[POS + best_ball]
    reach(m, u, ID, 0, p, best, OWN)
    follow(m, 0, p, best_cell, OWN)
    follow(m, 1, x, best_cell, OTHER)
    return True


@kernel
def meet_other_way(m: Ints, u: Words, p: int) -> bool:  # pragma: no cover - compiled
    """Lead the ball of F at `p` to the place of any ball of B of its colour, matched or not; False if none is near."""
    hue = m[HUE + p]
    first, n = m[FIRST + SIDE + hue], m[FIRST + SIDE + hue + 1] - m[FIRST + SIDE + hue]
    if n == 0:
        return False
    reach(m, u, ID, 0, p, 20, OWN)
    stamp = m[STAMP_NOW]
    best, best_ball, best_cell = FARTHEST + 1, -1, -1
    for i in range(n):
        m[CANDIDATE + i] = first + i
    for i in range(min(n, MOST_CANDIDATES)):
        j = i + draw(u, n - i)
        ball = m[CANDIDATE + j]
        m[CANDIDATE + j] = m[CANDIDATE + i]
        x = m[POS + SIDE + ball]
        if x == p:
            continue
        count = reach(m, u, ID + SIDE, 1, x, 20, OTHER)
        for c in range(count):
            z = m[QUEUE + REACH + c]
            if m[STAMP + z] != stamp:
                continue
            total = m[DIST + z] + m[DIST + REACH + z] + draw(u, NOISE)
            if total < best:
                best, best_ball, best_cell = total, ball, z
    if best_ball < 0:
        return False
    x = m[POS + SIDE + best_ball]
    reach(m, u, ID + SIDE, 1, x, 20, OTHER)
    follow(m, 0, p, best_cell, OWN)
    follow(m, 1, x, best_cell, OTHER)
    return True


@kernel
def fill(m: Ints, u: Words) -> None:  # pragma: no cover - compiled
    """Lead balls of other colours to unmatched goals that have none.

    A wrong colour is worth half, and the rest of B's play ends as it should.
    """
    n = 0
    for ball in range(m[BALLS_B]):
        if m[HUE + m[POS + SIDE + ball]] == EMPTY:
            m[LIST + n] = ball
            n += 1
    for i in range(n):
        j = i + draw(u, n - i)
        x = m[POS + SIDE + m[LIST + j]]
        m[LIST + j] = m[LIST + i]
        if m[HUE + x] == EMPTY:
            meet(m, u, x, 2)


@kernel
def scatter(m: Ints, u: Words) -> None:  # pragma: no cover - compiled
    """Lead half of F's balls that stand on no goal to random cells: where they are they may block B's play."""
    for ball in range(m[BALLS]):
        z = m[POS + ball]
        if m[HUE + SIDE + z] != EMPTY or draw(u, 2) == 0:
            continue
        count = reach(m, u, ID, 0, z, FARTHEST, OWN)
        to = m[QUEUE + draw(u, count)]
        if m[HUE + SIDE + to] == EMPTY:
            follow(m, 0, z, to, OWN)


@kernel
def repair(m: Ints, u: Words) -> None:  # pragma: no cover - compiled
    """Let every unmatched ball of B meet one of F, in random order, for up to three rounds that join any."""
    for _ in range(ROUNDS):
        n = 0
        for ball in range(m[BALLS_B]):
            z = m[POS + SIDE + ball]
            if m[HUE + z] != m[COL + SIDE + ball]:
                m[LIST + n] = ball
                n += 1
        before = m[UNMATCHED]
        for i in range(n):
            j = i + draw(u, n - i)
            ball = m[LIST + j]
            m[LIST + j] = m[LIST + i]
            m[LIST + i] = ball
            x = m[POS + SIDE + ball]
            if m[HUE + x] != m[HUE + SIDE + x]:
                meet(m, u, x, 0)
        if m[UNMATCHED] == 0 or m[UNMATCHED] >= before:
            return
