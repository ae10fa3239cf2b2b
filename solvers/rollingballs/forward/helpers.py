"""Fill a goal in the open: roll helpers where a ball needs to be stopped, and helpers for the helpers."""

from __future__ import annotations

from numba import njit

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.distances import FARTHEST, measure_dreams, stopper_on_way
from solvers.rollingballs.board.flat import FROM, UNKNOWN, draw, make_roll, measure_ways, undo_rolls, walk_way
from solvers.rollingballs.board.play import POINTS, ROLLS, Play, weigh
from solvers.rollingballs.forward.greedy import fill_goal

MOST_TURNS = 14
LEAST_ROOM = 20
RIGHT_BALL = 24


@njit(cache=True, nogil=True)
def try_helpers(play: Play, goal: int, floor: int) -> int:  # pragma: no cover - compiled
    """Fill `goal` with helpers, refill what that broke; undone if the points end below `floor`. Returns the work."""
    first = play.now[ROLLS]
    count, used = _bring_all(play, goal, first)
    if count > 0:
        points = weigh(play)
        if points < play.now[POINTS]:
            count, used = _refill(play, goal, first, count, used)
            points = weigh(play)
        if points >= floor:
            play.now[ROLLS], play.now[POINTS] = count, points
            play.fails[goal] = 0
            return used
        undo_rolls(play.cells, play.rolls, count, first)
    return used


@njit(cache=True, nogil=True)
def _bring_all(play: Play, goal: int, first: int) -> tuple[int, int]:  # pragma: no cover - compiled
    """Work on a stack of cells to fill, the goal lowest; returns (rolls, work), rolls -1 if it fails."""
    cells, random, count, used = play.cells, play.random, first, 0
    if cells[goal] != EMPTY:
        way = draw(random, 4)
        if cells[goal + play.steps[way]] != EMPTY:
            return -1, 100
        make_roll(cells, play.steps, goal, way, play.rolls, count)
        count += 1
    play.locked[:] = 0
    play.stack[0] = goal
    height, tallest = 1, 2 + draw(random, 4)
    for _ in range(MOST_TURNS):
        cell = play.stack[height - 1]
        wanted = play.target[goal] if height == 1 else -1
        used += measure_ways(cells, play.steps, cell, play.to_goal, play.queue)
        mover = _choose_mover(play, wanted, UNKNOWN - 1)
        walked = walk_way(cells, play.steps, mover, play.to_goal, play.rolls, count) if mover >= 0 else -1
        if walked >= 0:
            count = walked
            play.locked[cell] = 1
            height -= 1
            if height == 0:
                return count, used
            continue
        if height == tallest or count + LEAST_ROOM > len(play.rolls):
            break
        used += measure_dreams(cells, play.steps, cell, play.to_goal, play.buckets)
        mover = _choose_mover(play, wanted, FARTHEST)
        if mover < 0:
            break
        stopper = stopper_on_way(cells, play.steps, mover, play.to_goal, draw(random, 2))
        if stopper < 0 or cells[stopper] != EMPTY:
            break
        play.stack[height] = stopper
        height += 1
    undo_rolls(cells, play.rolls, count, first)
    return -1, used


@njit(cache=True, nogil=True)
def _choose_mover(play: Play, wanted: int, farthest: int) -> int:  # pragma: no cover - compiled
    """Choose a near ball by `to_goal`, rather one that is not right already; of a colour if `wanted` >= 0."""
    best, best_rank = -1, 1 << 30
    noise = 12 << draw(play.random, 4)
    for cell in range(len(play.cells)):
        ball = play.cells[cell]
        if ball < 0 or play.to_goal[cell] > farthest or play.locked[cell] or (wanted >= 0 and ball != wanted):
            continue
        settled = RIGHT_BALL * play.weight[cell] if play.target[cell] == ball else 0
        rank = 4 * play.to_goal[cell] + settled + draw(play.random, noise)
        if rank < best_rank:
            best, best_rank = cell, rank
    return best


@njit(cache=True, nogil=True)
def _refill(play: Play, goal: int, first: int, count: int, used: int) -> tuple[int, int]:  # pragma: no cover - compiled
    """Fill the goals that rolls from `first` on have left, where one ball alone can do it."""
    for i in range(first, count):
        lost = play.rolls[i, FROM]
        if lost == goal or play.target[lost] < 0 or play.cells[lost] == play.target[lost]:
            continue
        used += len(play.cells) * 3
        filled = fill_goal(
            play.cells, play.target, play.steps, lost, play.random, play.to_goal, play.queue, play.rolls, count
        )
        count = max(count, filled)
    return count, used
