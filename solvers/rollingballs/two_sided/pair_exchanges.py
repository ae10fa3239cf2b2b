"""Trips on two boards: pairs meet, with help or at another pair's cost, kept if the whole is worth it."""

from __future__ import annotations

from numba import njit

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.flat import draw
from solvers.rollingballs.two_sided.bring_ball import bring
from solvers.rollingballs.two_sided.helper_moves import free_forward, help_back, help_forward, nearest_free
from solvers.rollingballs.two_sided.meeting_moves import FREE, RIGHT, meet
from solvers.rollingballs.two_sided.two_boards import (
    BACK,
    BACKS,
    DEAREST,
    FORE,
    MATCHED,
    ROLLS,
    TwoBoards,
    choose_unmatched,
    shake,
    undo_both,
)

GOING_ON, ALL_MATCHED = range(2)
LONGEST = 8
DEEPEST = 4
STEAL, BRING, HELP = 25, 55, 88  # of 100: steal below the first, and so on; shake from the last on
TOWARDS_A_GOAL = 60
ROOM = 60


@njit(cache=True, nogil=True)
def go_on_trips(
    two: TwoBoards, balls: int, trips: int, limit: int, dearest: int, allowed: int
) -> int:  # pragma: no cover - compiled
    """Make `trips` trips; `limit` bounds all rolls and un-rolls, `allowed` those of trips that only are not worse."""
    two.now[DEAREST] = dearest
    for _ in range(trips):
        if two.now[MATCHED] == balls:
            return ALL_MATCHED
        _trip(two, limit, allowed)
    return GOING_ON


@njit(cache=True, nogil=True)
def _trip(two: TwoBoards, limit: int, allowed: int) -> None:  # pragma: no cover - compiled
    rolls, backs, matched = two.now[ROLLS], two.now[BACKS], two.now[MATCHED]
    for _ in range(2 + draw(two.random, LONGEST)):
        if two.now[ROLLS] + two.now[BACKS] > limit or max(two.now[ROLLS], two.now[BACKS]) + ROOM > len(two.rolls):
            break
        side, ball = choose_unmatched(two, rolls, backs)
        if ball < 0:
            break
        if not meet(two, side, ball, FREE):
            _disturb(two, side, ball)
        used, gained = two.now[ROLLS] + two.now[BACKS], two.now[MATCHED] - matched
        if gained > 0 and used <= limit and used - rolls - backs <= two.now[DEAREST] * gained:
            return
    cost = two.now[ROLLS] + two.now[BACKS] - rolls - backs
    if two.now[MATCHED] == matched and cost + rolls + backs <= limit and 0 < cost <= draw(two.random, 1 + allowed):
        return
    undo_both(two, rolls, backs, matched)


@njit(cache=True, nogil=True)
def _disturb(two: TwoBoards, side: int, ball: int) -> None:  # pragma: no cover - compiled
    """Do something for a ball that none meets: steal, help it on its own board, or shake what lies around it."""
    own, other = (two.fore, two.back) if side == FORE else (two.back, two.fore)
    kind = draw(two.random, 100)
    if kind < STEAL:
        meet(two, side, ball, RIGHT)
        return
    if kind >= HELP:
        shake(two, side, ball)
        return
    if kind < BRING:
        _bring_to(two, side, ball)
        return
    if side == BACK:
        helped = help_back(two, ball)
    else:
        goal = nearest_free(two, ball) if kind < TOWARDS_A_GOAL else -1
        helped = help_forward(two, ball, goal) if goal >= 0 else free_forward(two, ball)
    if helped and own[ball] >= 0 and own[ball] != other[ball] and not meet(two, side, ball, FREE):
        meet(two, side, ball, RIGHT)


@njit(cache=True, nogil=True)
def _bring_to(two: TwoBoards, side: int, ball: int) -> None:  # pragma: no cover - compiled
    """Bring a ball of the same colour on the other board to where `ball` stands, which matches it."""
    own, other = (two.fore, two.back) if side == FORE else (two.back, two.fore)
    deepest = draw(two.random, DEEPEST + 1)
    if other[ball] == EMPTY:
        bring(two, BACK if side == FORE else FORE, ball, own[ball], deepest)
