"""The loop: one state, one operator a turn, one rule of acceptance, until all goals are matched or the work is done."""

from __future__ import annotations

from checkers.rollingballs import EMPTY
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
    STRIDE,
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
from solvers.rollingballs.two_sided.across import shorten
from solvers.rollingballs.two_sided.crowd import beam_step, is_early
from solvers.rollingballs.two_sided.helpers import help_back, help_forward
from solvers.rollingballs.two_sided.meet import fill, meet, meet_other_way, repair, scatter

WORK_PER_TURN = 200
BEAMS_EARLY, BEAMS_LATE = 80, 60
"""Turns of 100 that are beams while many goals are unmatched, and later. Then come, up to the numbers that follow:"""
MEETINGS_END, UN_ROLLS_END, ROLLS_END = 92, 95, 98
FROZEN_BEAMS_END, FROZEN_ROLLS_END = 90, 95
"""Where nothing is un-rolled meetings seldom succeed, so that nine turns of ten are beams; the rest are meetings."""
BACK_BEAMS = 40
"""Late beams of 100 that un-roll balls of B. On boards of few moves they win what rolls cannot, and cost moves."""
REPAIRED_BEAMS = 4
"""One beam in so many is followed by a repair, which costs more than it wins where a beam has changed little."""
STEALS_END, OTHER_WAYS_END, BACK_HELPS_END, FORWARD_HELPS_END = 2, 4, 7, 9
"""Meetings of ten: with a matched ball, at another goal, helped on B, helped on F; the rest are helped on both."""
VAIN_HELP, STEAL_HELPED = 8, 4
"""One helper in eight stays though no one met; one meeting in four after it takes a ball that is matched."""
NEAR_ENOUGH = 4
"""Rows and columns within which a disturbed ball may open a way for the one it is chosen for."""

PRICE, SQUARINGS = 20.0, 6
"""A turn that costs a twentieth of the moves left is taken with the chance exp(-1), made by six squarings."""
MOST_LOSS = 2
MOST_FILLED = 6
"""Unmatched goals above which wrong colours would be overtaken by the next gain anyhow."""
SCARCE, TURNS_BETWEEN = 0.9, 64
"""Above this share of the moves allowed histories are shortened every so many turns, or nothing is liked any longer."""
ALWAYS_SHORT, SHORT_SHARE = 150, 0.7
"""Balls up to which every gain is followed by a shortening; more take too long while few moves are used."""
SMALL, SMALL_GENERATIONS, LARGE_GENERATIONS = 100, 4, 12
"""Fewer balls than SMALL are matched again so soon that a restart wins more than another stall does."""
LEAST_PATIENCE, MOST_PATIENCE = 60, 500
_ONE = 1 << 20


@kernel
def restart(m: Ints, frozen: int) -> None:  # pragma: no cover - compiled
    """Take back all moves and begin again; with `frozen` nothing is un-rolled."""
    roll_back(m, 0, 0)
    balls = m[BALLS_B]
    m[FROZEN] = frozen
    m[STALL] = 0
    m[LOSS] = 0
    m[GENERATION] = 0
    m[GENERATIONS] = SMALL_GENERATIONS if balls < SMALL else LARGE_GENERATIONS
    m[PATIENCE] = min(MOST_PATIENCE, max(LEAST_PATIENCE, 20 + 5 * balls))
    m[ENDED] = 0
    keep_state(m)
    record(m)


@kernel
def _choose_near(m: Ints, u: Words, k: int, x: int) -> int:  # pragma: no cover - compiled
    """Return a random ball of side k, two times in three one near `x` if there is any."""
    if x < 0 or draw(u, 3) == 0:
        return draw(u, m[BALLS + k])
    chosen, n = draw(u, m[BALLS + k]), 0
    row, column = x // STRIDE, x % STRIDE
    for ball in range(m[BALLS + k]):
        z = m[POS + k * SIDE + ball]
        if abs(z // STRIDE - row) + abs(z % STRIDE - column) <= NEAR_ENOUGH:
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
        elif m[ID + SIDE + at + step] != EMPTY and m[ID + SIDE + at - step] == EMPTY:
            to = stop(m, ID + SIDE, at, -step)
            length = abs(to - at) // abs(step)
            act(m, 1, ball, at - step * (1 + draw(u, length)), way)
            return


@kernel
def _help(m: Ints, u: Words, x: int, p: int, kind: int) -> bool:  # pragma: no cover - compiled
    """Bring helpers for the ball of B at `x`, or for that of F at `p`, and let them and the helpers meet others.

    `kind` is a number of ten, see `BACK_HELPS_END`. False if no helper comes, or mostly if it was in vain.
    """
    if kind >= FORWARD_HELPS_END and p >= 0:
        help_forward(m, u, p)
    if BACK_HELPS_END <= kind < FORWARD_HELPS_END:
        if p < 0 or not help_forward(m, u, p):
            return False
        return meet_other_way(m, u, p) or draw(u, VAIN_HELP) == 0
    if not help_back(m, u, x):
        return False
    chain = m[CHAIN]
    unmatched = m[HUE + x] != m[HUE + SIDE + x]
    if unmatched and not meet(m, u, x, 1 if draw(u, STEAL_HELPED) == 0 else 0) and draw(u, VAIN_HELP) > 0:
        return False
    for i in range(chain):
        y = m[CHAINED + i]
        if m[ID + SIDE + y] >= 0 and m[HUE + y] != m[HUE + SIDE + y]:
            meet(m, u, y, 0)
    return True


@kernel
def _disturb(m: Ints, u: Words, x: int, p: int, r: int) -> None:  # pragma: no cover - compiled
    """Make random moves, chosen by the turn's number `r`: un-rolls, rolls, or one of each of the unmatched balls."""
    if r < UN_ROLLS_END:
        for _ in range(1 + draw(u, 3)):
            _shake_ball(m, u, 1, _choose_near(m, u, 1, x))
    elif r < ROLLS_END:
        for _ in range(1 + draw(u, 3)):
            _shake_ball(m, u, 0, _choose_near(m, u, 0, p))
    else:
        _shake_ball(m, u, 1, m[ID + SIDE + x])
        if p >= 0:
            _shake_ball(m, u, 0, m[ID + p])


@kernel
def _make_beam(m: Ints, u: Words, f: Floats, x: int, p: int) -> bool:  # pragma: no cover - compiled
    """Make a beam to the goal at `x`, or, late, one of un-rolls to the ball of F at `p`; False if no ball can come.

    Late beams end wherever the two balls can meet. Early ones go to the goal itself, and more balls of the crowd with
    them.
    """
    if is_early(m):
        done = beam_step(m, u, f, 0, x, 0)
    elif m[FROZEN] == 0 and p >= 0 and draw(u, 100) < BACK_BEAMS:
        done = beam_step(m, u, f, 1, p, 1)
    else:
        done = beam_step(m, u, f, 0, x, 1)
    if done and draw(u, REPAIRED_BEAMS) == 0:
        repair(m, u)
    return done


@kernel
def _operate(m: Ints, u: Words, f: Floats) -> bool:  # pragma: no cover - compiled
    """Make one operator, chosen by chance; False if it does nothing."""
    x, p = choose_unmatched(m, u, 1), choose_unmatched(m, u, 0)
    r = draw(u, 100)
    if m[FROZEN] == 1:
        r = 0 if r < FROZEN_BEAMS_END else UN_ROLLS_END if r < FROZEN_ROLLS_END else MEETINGS_END - 1
    if r < (BEAMS_EARLY if is_early(m) else BEAMS_LATE):
        return _make_beam(m, u, f, x, p)
    done = True
    if r < MEETINGS_END:
        kind = draw(u, 10)
        if kind < STEALS_END:
            done = meet(m, u, x, 1)
        elif kind < OTHER_WAYS_END:
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
    chance = max(0.0, 1.0 - PRICE * cost / ((1 << SQUARINGS) * (m[MOST] - now + 1)))
    for _ in range(SQUARINGS):  # (1 - x / 64) ** 64 for exp(-x), the same on every machine
        chance *= chance
    return bool(draw(u, _ONE) < _ONE * chance)


@kernel
def _next_generation(m: Ints, u: Words) -> None:  # pragma: no cover - compiled
    """Go back to the restart's best state and shorten it, or end the restart."""
    m[GENERATION] += 1
    m[STALL] = 0
    m[LOSS] = draw(u, MOST_LOSS + 1)
    if m[GENERATION] > m[GENERATIONS]:
        m[ENDED] = 1
        return
    restore_state(m)
    shorten(m, u, 200 + 2 * (m[COUNT] + m[COUNT_B]))
    if m[COUNT] + m[COUNT_B] < m[KEPT] + m[KEPT_B]:
        keep_state(m)
        record(m)


@kernel
def _record_filled(m: Ints, u: Words) -> None:  # pragma: no cover - compiled
    """Record the landing with other balls on the last unmatched goals, or out of the way; the boards do not change."""
    if m[UNMATCHED] > MOST_FILLED or 2 * m[BALLS_B] - max(2, m[UNMATCHED]) <= m[BEST_POINTS]:
        return
    rolls, unrolls = m[COUNT], m[COUNT_B]
    fill(m, u)
    scatter(m, u)
    record(m)
    roll_back(m, rolls, unrolls)


@kernel
def _take_note(m: Ints, u: Words) -> None:  # pragma: no cover - compiled
    """Keep and record the boards after a turn that is liked, if none of the restart is better."""
    moves = m[COUNT] + m[COUNT_B]
    if m[UNMATCHED] < m[FEWEST]:
        m[STALL] = 0
        if m[BALLS_B] <= ALWAYS_SHORT or moves > SHORT_SHARE * m[MOST]:
            shorten(m, u, 100 + moves // 2)
        keep_state(m)
        record(m)
    elif m[UNMATCHED] == m[FEWEST]:
        if moves < m[KEPT] + m[KEPT_B]:
            keep_state(m)
        record(m)
    if m[UNMATCHED] <= m[FEWEST] + 1:
        _record_filled(m, u)


@kernel
def go_on(m: Ints, u: Words, f: Floats, work: int) -> None:  # pragma: no cover - compiled
    """Take turns until `work` is done, all goals are matched or the restart has ended."""
    m[WORK] = 0
    while m[WORK] < work and m[UNMATCHED] > 0 and m[ENDED] == 0 and m[BEST_POINTS] < m[MOST_POINTS]:
        m[STALL] += 1
        m[WORK] += WORK_PER_TURN + m[BALLS]
        moves = m[COUNT] + m[COUNT_B]
        if moves > SCARCE * m[MOST] and m[STALL] % TURNS_BETWEEN == 0:
            shorten(m, u, 200 + moves // 4)
        if m[STALL] > m[PATIENCE]:
            _next_generation(m, u)
            if m[ENDED] == 1:
                return
        rolls, unrolls, unmatched = m[COUNT], m[COUNT_B], m[UNMATCHED]
        if not _operate(m, u, f) or not _is_liked(m, u, unmatched, rolls + unrolls):
            roll_back(m, rolls, unrolls)
            continue
        _take_note(m, u)


@kernel
def take_landing(m: Ints, u: Words) -> None:  # pragma: no cover - compiled
    """Continue forward only from the best landing, whose moves become those of F, against a B without un-rolls."""
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
