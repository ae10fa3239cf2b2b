"""Excursions: a few goals tried one after the other, each perhaps at another's cost, kept if the whole is worth it.

The rule of time and rolls: more points are always kept; equal points cost rolls, which a small board has too few of, so
they are kept only now and then and only while fewer rolls are used than the time gone by allows.
"""

from __future__ import annotations

from numba import njit

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.flat import FROM, draw, make_roll, stop_of, undo_rolls
from solvers.rollingballs.board.play import POINTS, ROLLS, Play, note_best, weigh
from solvers.rollingballs.forward.beam import DEEPEST
from solvers.rollingballs.forward.operators import try_goal

GOING_ON, PERFECT, NO_ROLLS_LEFT = range(3)
LONGEST = 6
SLACK = 2
SHAKES_PER_CENT = 20
FOCUS_PER_CENT = 70
EQUALS_PER_THOUSAND = 400


@njit(cache=True, nogil=True)
def go_on_excursions(play: Play, balls: int, work: int, limit: int, allowed: int) -> int:  # pragma: no cover - compiled
    """Search for about `work` units (some 3 ns each); `limit` bounds the rolls, `allowed` those of equal plays."""
    used = 0
    while used < work:
        if play.best[POINTS] == 2 * balls:
            return PERFECT
        if not _has_room(play, limit):
            return NO_ROLLS_LEFT
        used += _excursion(play, limit, allowed)
    return GOING_ON


@njit(cache=True, nogil=True)
def _has_room(play: Play, limit: int) -> bool:  # pragma: no cover - compiled
    return int(play.now[ROLLS]) + 2 * DEEPEST <= limit


@njit(cache=True, nogil=True)
def _excursion(play: Play, limit: int, allowed: int) -> int:  # pragma: no cover - compiled
    first, base = play.now[ROLLS], play.now[POINTS]
    random = play.random
    floor = base - draw(random, SLACK + 1)
    used = len(play.cells)
    _shake(play)
    for _ in range(1 + draw(random, LONGEST)):
        if not _has_room(play, limit):
            break
        goal = _choose_goal(play, first)
        if goal < 0:
            break
        used += try_goal(play, goal, floor)
        if play.now[POINTS] > base and play.now[ROLLS] <= limit:
            note_best(play)
            return used
    fine = play.now[ROLLS] <= allowed and draw(random, 1000) < EQUALS_PER_THOUSAND
    if play.now[POINTS] == base and fine:
        note_best(play)
        return used
    undo_rolls(play.cells, play.rolls, play.now[ROLLS], first)
    play.now[ROLLS], play.now[POINTS] = first, base
    return used


@njit(cache=True, nogil=True)
def _shake(play: Play) -> None:  # pragma: no cover - compiled
    """Now and then roll a ball that is not right, or one in its way."""
    if draw(play.random, 100) < SHAKES_PER_CENT:
        _shake_ball(play)
    play.now[POINTS] = weigh(play)


@njit(cache=True, nogil=True)
def _shake_ball(play: Play) -> None:  # pragma: no cover - compiled
    seen, chosen = 0, -1
    for cell in range(len(play.cells)):
        if play.cells[cell] >= 0 and play.cells[cell] != play.target[cell]:
            seen += 1
            if draw(play.random, seen) == 0:
                chosen = cell
    if chosen < 0:
        return
    if draw(play.random, 2) == 0:
        step = play.steps[draw(play.random, 4)]
        ahead = stop_of(play.cells, chosen, step) + step
        chosen = ahead if play.cells[ahead] >= 0 else chosen
    way = draw(play.random, 4)
    if play.cells[chosen + play.steps[way]] == EMPTY:
        make_roll(play.cells, play.steps, chosen, way, play.rolls, play.now[ROLLS])
        play.now[ROLLS] += 1


@njit(cache=True, nogil=True)
def _choose_goal(play: Play, first: int) -> int:  # pragma: no cover - compiled
    """Choose an unfinished goal: mostly one this excursion broke, else a random one, the hard rather than the easy."""
    made = play.now[ROLLS] - first
    if made > 0 and draw(play.random, 100) < FOCUS_PER_CENT:
        for _ in range(6):
            cell = play.rolls[first + draw(play.random, made), FROM]
            if play.target[cell] >= 0 and play.cells[cell] != play.target[cell]:
                return int(cell)
    total, chosen = 0, -1
    for cell in range(len(play.cells)):
        if play.target[cell] >= 0 and play.cells[cell] != play.target[cell]:
            share = 8 * play.weight[cell] - 7
            total += share
            if draw(play.random, total) < share:
                chosen = cell
    return chosen
