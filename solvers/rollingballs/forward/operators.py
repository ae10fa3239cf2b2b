"""The ways to fill one goal, from the cheapest to the dearest: one ball, helpers, a beam over a few balls."""

from __future__ import annotations

from numba import njit

from solvers.rollingballs.board.distances import FARTHEST, measure_dreams, stopper_on_way
from solvers.rollingballs.board.flat import draw, make_roll, undo_rolls
from solvers.rollingballs.board.play import POINTS, ROLLS, Play, weigh
from solvers.rollingballs.forward.beam import DEEPEST, MOST_MOVERS, WIDEST, search
from solvers.rollingballs.forward.greedy import fill_goal
from solvers.rollingballs.forward.helpers import try_helpers

BEAMS_PER_THOUSAND = 40
BEAM_COST = 8
RIGHT_BALL = 12
NARROWEST, WIDER = 8, 8
SHALLOWEST, DEEPER = 6, 2


@njit(cache=True, nogil=True)
def try_goal(play: Play, goal: int, floor: int) -> int:  # pragma: no cover - compiled
    """Try to fill `goal` so that the weighted points do not end below `floor`; returns the work done."""
    used = len(play.cells)
    if play.target[goal] < 0:
        return used
    used += 5 * len(play.cells)
    if _try_one_ball(play, goal, floor):
        return used
    if draw(play.random, 1000) >= BEAMS_PER_THOUSAND:
        return used + try_helpers(play, goal, floor)
    return used + _try_beam(play, goal, floor)


@njit(cache=True, nogil=True)
def _try_one_ball(play: Play, goal: int, floor: int) -> bool:  # pragma: no cover - compiled
    first = play.now[ROLLS]
    count = fill_goal(
        play.cells, play.target, play.steps, goal, play.random, play.to_goal, play.queue, play.rolls, first
    )
    if count < 0:
        return False
    points = weigh(play)
    if points < floor:
        undo_rolls(play.cells, play.rolls, count, first)
        return False
    play.now[ROLLS], play.now[POINTS] = count, points
    play.fails[goal] = 0
    return True


@njit(cache=True, nogil=True)
def _try_beam(play: Play, goal: int, floor: int) -> int:  # pragma: no cover - compiled
    """Search over the nearest ball of the colour and a few more: few, narrow and shallow first, more as tries fail."""
    random = play.random
    used = measure_dreams(play.cells, play.steps, goal, play.to_goal, play.buckets)
    main = _nearest_ball(play, goal)
    if main < 0:
        return used
    stopper = stopper_on_way(play.cells, play.steps, main, play.to_goal, draw(random, 2))
    used += measure_dreams(play.cells, play.steps, stopper if stopper >= 0 else goal, play.to_stopper, play.buckets)
    play.fails[goal] += 1
    fails = play.fails[goal]
    count = _choose_movers(play, goal, main, 2 + min(fails // 2, MOST_MOVERS - 4) + draw(random, 3))
    gain, length, made = search(
        play.cells, play.target, play.weight, play.steps, play.movers, count, goal, play.to_goal, play.to_stopper,
        min(WIDEST, NARROWEST + WIDER * fails), min(DEEPEST, SHALLOWEST + DEEPER * fails), False, play.beam, random,
    )  # fmt: skip
    if length > 0 and play.now[POINTS] + gain >= floor:
        for i in range(length):
            mover, way = play.beam.found[i, 0], play.beam.found[i, 1]
            at = play.movers[mover]
            play.movers[mover] = make_roll(play.cells, play.steps, at, way, play.rolls, play.now[ROLLS])
            play.now[ROLLS] += 1
        play.now[POINTS] += gain
        play.fails[goal] = 0
    return used + made * BEAM_COST


@njit(cache=True, nogil=True)
def _nearest_ball(play: Play, goal: int) -> int:  # pragma: no cover - compiled
    wanted = play.target[goal]
    main, main_rank = -1, 1 << 30
    for cell in range(len(play.cells)):
        if play.cells[cell] != wanted or play.to_goal[cell] > FARTHEST:
            continue
        settled = RIGHT_BALL * play.weight[cell] if play.target[cell] == wanted else 0
        rank = 4 * play.to_goal[cell] + settled + draw(play.random, 16)
        if rank < main_rank:
            main, main_rank = cell, rank
    return main


@njit(cache=True, nogil=True)
def _choose_movers(play: Play, goal: int, main: int, most: int) -> int:  # pragma: no cover - compiled
    """Fill `movers`: the ball itself, a wrong ball on the goal, and balls near the stopper; returns how many."""
    play.movers[0] = main
    count = 1
    if play.cells[goal] >= 0:
        play.movers[1] = goal
        count = 2
    fixed = count
    for cell in range(len(play.cells)):
        if play.cells[cell] < 0 or cell in (main, goal) or play.to_stopper[cell] > FARTHEST:
            continue
        settled = RIGHT_BALL * play.weight[cell] if play.cells[cell] == play.target[cell] else 0
        rank = 4 * play.to_stopper[cell] + settled + draw(play.random, 16)
        if count < most:
            i = count
            count += 1
        elif most > fixed and rank < play.ranks[count - 1]:
            i = count - 1
        else:
            continue
        while i > fixed and play.ranks[i - 1] > rank:
            play.ranks[i] = play.ranks[i - 1]
            play.movers[i] = play.movers[i - 1]
            i -= 1
        play.ranks[i] = rank
        play.movers[i] = cell
    return count
