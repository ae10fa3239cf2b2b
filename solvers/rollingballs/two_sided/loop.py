"""The loop: one state, one operator a turn, one rule of acceptance, until all goals are matched or the work is done."""

from __future__ import annotations

from solvers.rollingballs.board.arena import (
    BALLS,
    BALLS_B,
    BEST,
    BEST_MOVES,
    BEST_POINTS,
    CHAIN,
    CHAINED,
    COUNT,
    COUNT_B,
    ENDED,
    FEWEST,
    FROZEN,
    GENERATION,
    GENERATIONS,
    HUE,
    ID,
    KEPT,
    KEPT_B,
    LOSS,
    MOST,
    MOST_POINTS,
    PATIENCE,
    POS,
    SIDE,
    STALL,
    STEPS,
    UNMATCHED,
    WORK,
    Floats,
    Ints,
    Words,
)
from solvers.rollingballs.board.kernels import kernel
from solvers.rollingballs.board.moves import (
    act,
    choose_unmatched,
    draw,
    keep_state,
    record,
    restore_state,
    roll_back,
    stop,
)
from solvers.rollingballs.forward.crowd import beam_step, is_early
from solvers.rollingballs.two_sided.across import shorten
from solvers.rollingballs.two_sided.helpers import help_back, help_forward
from solvers.rollingballs.two_sided.meet import meet, meet_other_way, repair

WORK_PER_TURN = 200
PRICE = 20.0


@kernel
def restart(m: Ints, frozen: int) -> None:  # pragma: no cover - compiled
    """Take back all moves and begin anew; with `frozen` nothing is un-rolled."""
    roll_back(m, 0, 0)
    balls = m[BALLS_B]
    m[FROZEN] = frozen
    m[STALL] = 0
    m[LOSS] = 0
    m[GENERATION] = 0
    m[GENERATIONS] = 8 if balls < 60 else 12
    m[PATIENCE] = min(500, max(60, 20 + 5 * balls))
    m[ENDED] = 0
    keep_state(m)
    record(m)


@kernel
def _choose_near(m: Ints, u: Words, k: int, x: int) -> int:  # pragma: no cover - compiled
    """Return a random ball of side k, two times in three one at most 4 rows and columns from `x`, if there is any."""
    if x < 0 or draw(u, 3) == 0:
        return draw(u, m[BALLS + k])
    chosen, n = draw(u, m[BALLS + k]), 0
    row, column = x >> 6, x & 63
    for ball in range(m[BALLS + k]):
        z = m[POS + k * SIDE + ball]
        if abs((z >> 6) - row) + abs((z & 63) - column) <= 4:
            n += 1
            if draw(u, n) == 0:
                chosen = ball
    return chosen


@kernel
def _shake_ball(m: Ints, u: Words, k: int, ball: int) -> None:  # pragma: no cover - compiled
    """Roll or un-roll a ball in a random direction, an un-roll to a random cell of the ray."""
    turn = draw(u, 4)
    at = m[POS + k * SIDE + ball]
    for i in range(4):
        way = (turn + i) & 3
        step = STEPS[way]
        if k == 0:
            to = stop(m, ID, at, step)
            if to != at:
                act(m, 0, ball, to, way)
                return
        elif m[ID + SIDE + at + step] != -1 and m[ID + SIDE + at - step] == -1:
            to = stop(m, ID + SIDE, at, -step)
            length = abs(to - at) // abs(step)
            act(m, 1, ball, at - step * (1 + draw(u, length)), way)
            return


@kernel
def _help(m: Ints, u: Words, x: int, p: int, kind: int) -> bool:  # pragma: no cover - compiled
    """Bring helpers for the ball of B at `x`, or for that of F at `p`, and let them and the helpers meet others.

    `kind` 4 to 6 helps on B, 7 and 8 on F, 9 on both. False if no helper comes, or mostly if it was in vain.
    """
    if kind == 9 and p >= 0:
        help_forward(m, u, p)
    if 7 <= kind <= 8:
        if p < 0 or not help_forward(m, u, p):
            return False
        return meet_other_way(m, u, p) or draw(u, 8) == 0
    if not help_back(m, u, x):
        return False
    chain = m[CHAIN]
    unmatched = m[HUE + x] != m[HUE + SIDE + x]
    if unmatched and not meet(m, u, x, 1 if draw(u, 4) == 0 else 0) and draw(u, 8) > 0:
        return False
    for i in range(chain):
        y = m[CHAINED + i]
        if m[ID + SIDE + y] >= 0 and m[HUE + y] != m[HUE + SIDE + y]:
            meet(m, u, y, 0)
    return True


@kernel
def _disturb(m: Ints, u: Words, x: int, p: int, r: int) -> None:  # pragma: no cover - compiled
    """Make some random moves: un-rolls (`r` below 95), rolls (below 98), or one of each of the unmatched balls."""
    if r < 95:
        for _ in range(1 + draw(u, 3)):
            _shake_ball(m, u, 1, _choose_near(m, u, 1, x))
    elif r < 98:
        for _ in range(1 + draw(u, 3)):
            _shake_ball(m, u, 0, _choose_near(m, u, 0, p))
    else:
        _shake_ball(m, u, 1, m[ID + SIDE + x])
        if p >= 0:
            _shake_ball(m, u, 0, m[ID + p])


@kernel
def _operate(m: Ints, u: Words, f: Floats) -> bool:  # pragma: no cover - compiled
    """Make one operator, chosen by chance; False if it does nothing."""
    x, p = choose_unmatched(m, u, 1), choose_unmatched(m, u, 0)
    r = draw(u, 100)
    if m[FROZEN] == 1 and r >= 40:
        r = draw(u, 40) if r < 90 else (95 if r < 95 else 91)
    if r < (80 if is_early(m) else 40):
        done = beam_step(m, u, f, x)
        if done and draw(u, 4) == 0:
            repair(m, u)
        return done
    done = True
    if r < 92:
        kind = draw(u, 10)
        if kind < 2:
            done = meet(m, u, x, 1)
        elif kind < 4:
            done = p >= 0 and meet_other_way(m, u, p)
        else:
            done = _help(m, u, x, p, kind)
    else:
        _disturb(m, u, x, p, r)
    if done:
        repair(m, u)
    return done


@kernel
def _is_liked(m: Ints, u: Words, unmatched: int, before: int) -> bool:  # pragma: no cover - compiled
    """The rule of acceptance: a turn may cost a share of the rolls that are left, and a goal or two after a stall."""
    now = m[COUNT] + m[COUNT_B]
    if now > m[MOST] or m[UNMATCHED] > m[FEWEST] + m[LOSS] or m[UNMATCHED] > unmatched + 1:
        return False
    cost = now - before
    if m[UNMATCHED] < unmatched or cost <= 0:
        return True
    chance = max(0.0, 1.0 - PRICE * cost / (64.0 * (m[MOST] - now + 1)))
    for _ in range(6):  # (1 - x / 64) ** 64 for exp(-x), the same on every machine
        chance *= chance
    return bool(draw(u, 1 << 20) < (1 << 20) * chance)


@kernel
def _next_generation(m: Ints, u: Words) -> None:  # pragma: no cover - compiled
    """Go back to the restart's best state and shorten it, or end the restart."""
    m[GENERATION] += 1
    m[STALL] = 0
    m[LOSS] = draw(u, 3)
    if m[GENERATION] > m[GENERATIONS]:
        m[ENDED] = 1
        return
    restore_state(m)
    shorten(m, u, 200 + 2 * (m[COUNT] + m[COUNT_B]))
    if m[COUNT] + m[COUNT_B] < m[KEPT] + m[KEPT_B]:
        keep_state(m)
        record(m)


@kernel
def go_on(m: Ints, u: Words, f: Floats, work: int) -> None:  # pragma: no cover - compiled
    """Take turns until `work` is done, all goals are matched or the restart has ended."""
    m[WORK] = 0
    while m[WORK] < work and m[UNMATCHED] > 0 and m[ENDED] == 0 and m[BEST_POINTS] < m[MOST_POINTS]:
        m[STALL] += 1
        rolls, unrolls, unmatched = m[COUNT], m[COUNT_B], m[UNMATCHED]
        m[WORK] += WORK_PER_TURN + m[BALLS]
        if rolls + unrolls > 0.9 * m[MOST] and m[STALL] % 64 == 0:
            shorten(m, u, 200 + (rolls + unrolls) // 4)
        if m[STALL] > m[PATIENCE]:
            _next_generation(m, u)
            if m[ENDED] == 1:
                return
        rolls, unrolls, unmatched = m[COUNT], m[COUNT_B], m[UNMATCHED]
        if not _operate(m, u, f) or not _is_liked(m, u, unmatched, rolls + unrolls):
            roll_back(m, rolls, unrolls)
            continue
        if m[UNMATCHED] < m[FEWEST]:
            m[STALL] = 0
            moves = m[COUNT] + m[COUNT_B]
            if m[BALLS_B] <= 150 or moves > 0.7 * m[MOST]:
                shorten(m, u, 100 + moves // 2)
            keep_state(m)
            record(m)
        elif m[UNMATCHED] == m[FEWEST]:
            if m[COUNT] + m[COUNT_B] < m[KEPT] + m[KEPT_B]:
                keep_state(m)
            record(m)


@kernel
def take_landing(m: Ints, u: Words) -> None:  # pragma: no cover - compiled
    """Go on forward only from the best landing, whose moves become those of F, against a B without un-rolls."""
    roll_back(m, 0, 0)
    for i in range(m[BEST_MOVES]):
        at = BEST + 3 * i
        act(m, 0, m[ID + m[at]], m[at + 1], m[at + 2])
    m[FROZEN] = 1
    m[STALL] = 0
    m[LOSS] = 0
    m[GENERATION] = 0
    shorten(m, u, 1000 + 2 * m[COUNT])
    keep_state(m)
    record(m)
