"""Bring two boards to agree: beams first, then balls that meet, then goals given up, and taken up again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.parts.clock import Clock
from solvers.rollingballs.board.flat import Board, Cells, Random, draw, points_of
from solvers.rollingballs.board.play import Play, make_play, set_now
from solvers.rollingballs.forward.goal_exchanges import go_on_excursions
from solvers.rollingballs.two_sided.best import Best
from solvers.rollingballs.two_sided.drop_goals import give_up, take_up
from solvers.rollingballs.two_sided.join_boards import shorten_both
from solvers.rollingballs.two_sided.one_board_beams import POINTS, Side, go_on, make_side
from solvers.rollingballs.two_sided.one_board_beams import ROLLS as MADE
from solvers.rollingballs.two_sided.pair_exchanges import go_on_trips
from solvers.rollingballs.two_sided.two_boards import (
    BACKS,
    MATCHED,
    ROLLS,
    TwoBoards,
    count_matched,
    make_two_boards,
    restart,
)

WORK_PER_STEP, SHORT_WORK = 2_000_000, 400_000
TRIPS_PER_STEP = 100
PRICES = (3, 4, 6, 8, 12, 16, 24, 40)
DEAREST, DEAREST_EQUAL, FULL = 60, 40, 0.9
STALE_BEAMS = 5
STALE_AT_LEAST, STALE_PER_BALL = 25, 0.2
STALE_AFTER_GIVING_UP = 6
SETTLE_BY, IMPROVE_FOR = 0.7, 0.4
EXCURSIONS_PER_CENT, BEAMS_PER_CENT = 10, 30
SHORTEN_EVERY = 4
STALE_IMPROVING, MOST_GIVEN_UP, TRIPS_TO_IMPROVE = 60, 5, 60
ROOMY = 0.8


class Pair(NamedTuple):
    """Two boards, what works on either of them, and the target as it is after giving goals up."""

    board: Board
    two: TwoBoards
    goals: Cells
    play: Play
    rolling: Side
    unrolling: Side


def make_pair(board: Board, random: Random) -> Pair:
    """Make room for two boards and what works on them."""
    two = make_two_boards(board, random)
    play = make_play(board, np.full(len(board.cells), 1 << 20, np.int32), random)
    play = play._replace(cells=two.fore, target=two.back, rolls=two.rolls)
    rolling = make_side(two.fore, two.back, two.steps, two.rolls, random)
    unrolling = make_side(two.back, two.fore, two.steps, two.backs, random, backward=True)
    return Pair(board, two, board.target.copy(), play, rolling, unrolling)


def agree(pair: Pair, clock: Clock, best: int) -> None:
    """Start again and match balls until all are, nothing is won any more, or most of the time left is used."""
    two, board = pair.two, pair.board
    restart(two, board)
    pair.goals[:], pair.rolling.fails[:], pair.unrolling.fails[:] = board.target, 0, 0
    stale = 0
    while stale < STALE_BEAMS and clock.step(best=best, note=_tell(pair)):
        before = int(two.now[MATCHED])
        _roll_beams(pair, WORK_PER_STEP, equal=False)
        stale = 0 if two.now[MATCHED] > before else stale + 1
    for price in PRICES:
        go_on_trips(two, board.balls, 2 * board.balls, board.most_rolls, price, 0)
        clock.step(2 * board.balls // TRIPS_PER_STEP, best=best, note=_tell(pair))
    shorten_both(two, board)
    until = clock.fraction + SETTLE_BY * (1 - clock.fraction)
    _go_on(pair, clock, best, int(STALE_AT_LEAST + STALE_PER_BALL * board.balls), until)


def settle(pair: Pair, clock: Clock, landed: Best, best: int) -> bool:
    """Give up goals until the boards agree; False if time or rolls end first."""
    while pair.two.now[MATCHED] < pair.board.balls:
        if not clock.running() or not give_up(pair.two, pair.goals):
            return False
        _go_on(pair, clock, best, STALE_AFTER_GIVING_UP, min(1.0, clock.fraction + (1 - clock.fraction) / 10))
        landed.offer_landing(pair.two)
    return True


def improve(pair: Pair, clock: Clock, landed: Best, best: int) -> None:
    """Take a goal or two up again and settle anew; kept if no more points2 are lost, else all is as it was."""
    two, board = pair.two, pair.board
    loss, stale = _loss(pair), 0
    until = clock.fraction + IMPROVE_FOR * (1 - clock.fraction)
    while loss and stale < STALE_IMPROVING and clock.fraction < until and clock.running():
        state: list[NDArray[Any]] = [two.fore, two.back, two.rolls, two.backs, two.now, pair.goals]
        saved = [array.copy() for array in state]
        stale += 1
        if not take_up(two, pair.goals, board.target):
            return
        if draw(two.random, 3) == 0:
            take_up(two, pair.goals, board.target)
        _rework(pair, clock, best)
        now = _loss(pair)
        used = int(saved[4][ROLLS] + saved[4][BACKS])
        if two.now[MATCHED] == board.balls and now <= loss and _fits(pair, used, gained=now < loss):
            if now < loss:
                stale = 0
                landed.offer_landing(two)
            loss = now
        else:
            for array, copy in zip(state, saved, strict=True):
                array[:] = copy


def _loss(pair: Pair) -> int:
    """Count the points2 that the goals given up cost."""
    return 2 * pair.board.balls - int(points_of(pair.goals, pair.board.target))


def _rework(pair: Pair, clock: Clock, best: int) -> None:
    """Make some trips, now and then a beam, and give up what is left over."""
    two, board = pair.two, pair.board
    for _ in range(2):
        if two.now[MATCHED] < board.balls and clock.step(best=best, note=_tell(pair)):
            go_on_trips(two, board.balls, TRIPS_TO_IMPROVE, board.most_rolls, DEAREST, DEAREST_EQUAL // 2)
    if two.now[MATCHED] < board.balls and draw(two.random, 5) == 0:
        (_roll_beams if draw(two.random, 2) else _unroll_beams)(pair, SHORT_WORK, equal=False)
    for _ in range(MOST_GIVEN_UP):
        if two.now[MATCHED] == board.balls or not clock.step(best=best) or not give_up(two, pair.goals):
            return
        go_on_trips(two, board.balls, TRIPS_TO_IMPROVE, board.most_rolls, DEAREST, DEAREST_EQUAL // 4)


def _fits(pair: Pair, used: int, *, gained: bool) -> bool:
    """Shorten if need be; True if there are rolls left to go on with, no more than before, or something was gained."""
    two, most = pair.two, pair.board.most_rolls
    roomy = max(used, ROOMY * most)
    if gained or two.now[ROLLS] + two.now[BACKS] > roomy:
        shorten_both(two, pair.board)
    now = int(two.now[ROLLS] + two.now[BACKS])
    return now <= roomy or (gained and now <= most)


def _go_on(pair: Pair, clock: Clock, best: int, patience: int, until: float) -> None:
    """Trips, excursions and beams by chance, until all are matched, `patience` steps won nothing, or it is `until`."""
    two, board = pair.two, pair.board
    stale, most, taken = 0, 0, 0
    while stale < patience and clock.fraction < until and clock.step(best=best, note=_tell(pair)):
        used = int(two.now[ROLLS] + two.now[BACKS])
        equal = int(DEAREST_EQUAL * max(0.0, 1 - used / (FULL * board.most_rolls)))
        _make_step(pair, equal)
        taken += 1
        now = int(points_of(two.fore, two.back))
        stale = 0 if now > most else stale + 1
        most = max(most, now)
        if taken % SHORTEN_EVERY == 0 or now == 2 * board.balls:
            shorten_both(two, board)
        if now == 2 * board.balls:
            return


def _make_step(pair: Pair, equal: int) -> None:
    two, board = pair.two, pair.board
    kind = draw(two.random, 100)
    if kind < EXCURSIONS_PER_CENT:
        set_now(pair.play, int(two.now[ROLLS]))
        limit = board.most_rolls - int(two.now[BACKS])
        go_on_excursions(pair.play, board.balls, WORK_PER_STEP, limit, limit if equal else 0)
        two.now[ROLLS] = pair.play.now[0]
        two.now[MATCHED] = count_matched(two)
    elif kind < BEAMS_PER_CENT:
        (_roll_beams if draw(two.random, 2) else _unroll_beams)(pair, WORK_PER_STEP, equal=equal > 0)
    else:
        go_on_trips(two, board.balls, TRIPS_PER_STEP, board.most_rolls, DEAREST, equal)


def _roll_beams(pair: Pair, work: int, *, equal: bool) -> None:
    _beams(pair, pair.rolling, ROLLS, BACKS, work, equal)


def _unroll_beams(pair: Pair, work: int, *, equal: bool) -> None:
    _beams(pair, pair.unrolling, BACKS, ROLLS, work, equal)


def _beams(pair: Pair, side: Side, own: int, other: int, work: int, equal: bool) -> None:
    """Make beams on one board; its moves are counted in `now[own]`, those of the other in `now[other]`."""
    two, board = pair.two, pair.board
    side.now[MADE], side.now[POINTS] = two.now[own], points_of(two.fore, two.back)
    limit = board.most_rolls - int(two.now[other])
    go_on(side, board.balls, work, limit, limit if equal else 0)
    two.now[own] = side.now[MADE]
    two.now[MATCHED] = count_matched(two)


def _tell(pair: Pair) -> str:
    return f"{pair.two.now[MATCHED]} of {pair.board.balls} matched"
