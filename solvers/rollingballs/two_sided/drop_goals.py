"""Giving up a goal: the ball it lacks ends where it is, so that all other balls land exactly.

A ball left over on both boards is in the way on one and missing on the other when the un-rolls are played, which costs
far more than its own goal. So the target is changed: the goal is empty and the ball stands on a cell that it can reach
on `fore`. The un-rolls are made again from there; the few that needed the goal's ball, or cross the new cell, go
another way.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from checkers.rollingballs import EMPTY
from solvers.rollingballs.board.flat import FROM, TO, UNKNOWN, WAY, Cells, Ints, draw
from solvers.rollingballs.board.paths import play_back, play_forward
from solvers.rollingballs.two_sided.meeting_moves import reach_back, reach_forward
from solvers.rollingballs.two_sided.two_boards import BACKS, MATCHED, ROLLS, TwoBoards, count_matched

MOST_TRIED, NEAREST = 12, 4


def give_up(two: TwoBoards, goals: Cells) -> bool:
    """Give up the goal, of a few tried, that breaks least; changes `goals`, the target. False if none can be."""
    old = two.backs[: two.now[BACKS]].copy()
    best, ball, goal, cell = -1, -1, -1, -1
    for _ in range(MOST_TRIED):
        choice = _choose(two, goals, old)
        if choice is not None and (matched := _try(two, goals, old, *choice)) > best:
            best, (ball, goal, cell) = matched, choice
    if best < 0:
        return False
    room, queue = two.rooms[0:3], two.rooms[9]
    reach_forward(two.fore, two.steps, ball, UNKNOWN, room, queue)
    rolls = play_forward(two.fore, ball, cell, room[1], room[2], two.rolls, two.now[ROLLS], queue)
    if rolls < 0:
        return False
    two.now[ROLLS] = rolls
    where = _where(goals, goal)
    goals[:] = _without(goals, goal, cell)
    _unroll_again(two, goals, old, where)
    return True


def _choose(two: TwoBoards, goals: Cells, old: Ints) -> tuple[int, int, int] | None:
    """Choose at random a ball left over on `fore`, a goal of its colour, and a near cell where the ball can end."""
    fore_left = np.flatnonzero((two.fore >= 0) & (two.fore != two.back))
    back_left = np.flatnonzero((two.back >= 0) & (two.fore != two.back))
    ball = int(fore_left[draw(two.random, len(fore_left))])
    same = back_left[two.back[back_left] == two.fore[ball]]
    if not len(same):
        return None
    goal = origin_of(old, int(same[draw(two.random, len(same))]))
    reach_forward(two.fore, two.steps, ball, UNKNOWN, two.rooms[0:3], two.rooms[9])
    cells = np.flatnonzero((two.rooms[0] < UNKNOWN) & (goals == EMPTY))
    if not len(cells):
        return None
    near = cells[np.argsort(two.rooms[0][cells], kind="stable")[:NEAREST]]
    return ball, goal, int(near[draw(two.random, len(near))])


def _try(two: TwoBoards, goals: Cells, old: Ints, ball: int, goal: int, cell: int) -> int:
    """Count the balls that would be matched if `goal` were given up and `ball` ended on `cell`."""
    back = _without(goals, goal, cell)
    _again(back, two.steps, old, _where(goals, goal), np.zeros_like(two.backs), two.rooms)
    fore = two.fore.copy()
    colour = fore[ball]
    fore[ball] = EMPTY
    fore[cell] = colour
    return int(((fore >= 0) & (fore == back)).sum())


def take_up(two: TwoBoards, goals: Cells, target: Cells) -> bool:
    """Give a goal that was given up its ball back on `back`; False if there is none."""
    missing = np.flatnonzero((target >= 0) & (goals == EMPTY))
    if not len(missing):
        return False
    goal = int(missing[draw(two.random, len(missing))])
    extra = np.flatnonzero((goals == target[goal]) & (target != goals))
    if not len(extra):
        return False
    cell = int(extra[draw(two.random, len(extra))])
    old = two.backs[: two.now[BACKS]].copy()
    where = _where(goals, cell)
    goals[goal], goals[cell] = goals[cell], EMPTY
    _unroll_again(two, goals, old, where)
    return True


def _unroll_again(two: TwoBoards, goals: Cells, old: Ints, where: Ints) -> None:
    """Set `back` to the changed target and make its un-rolls again."""
    two.back[:] = goals
    two.now[BACKS] = _again(two.back, two.steps, old, where, two.backs, two.rooms)
    two.now[MATCHED] = count_matched(two)


def origin_of(backs: Ints, cell: int) -> int:
    """Return the target cell that the ball now at `cell` was un-rolled from."""
    for i in range(len(backs) - 1, -1, -1):
        if backs[i, FROM] == cell:
            cell = int(backs[i, TO])
    return cell


def _without(goals: Cells, goal: int, cell: int) -> Cells:
    """Move the ball of `goal` to the free cell `cell`."""
    changed = goals.copy()
    changed[cell], changed[goal] = goals[goal], EMPTY
    return changed


def _where(goals: Cells, goal: int) -> Ints:
    """Tell where each ball of the target is before any un-roll: there; that of `goal` is not followed, -1."""
    where = np.where(goals >= 0, np.arange(len(goals)), -1).astype(np.int32)
    where[goal] = -1
    return where


@njit(cache=True, nogil=True)
def _again(
    back: Cells, steps: Ints, old: Ints, where: Ints, backs: Ints, rooms: Ints
) -> int:  # pragma: no cover - compiled
    """Make the un-rolls `old` again with the balls meant, another way where one cannot; returns how many were made."""
    count = 0
    for i in range(len(old)):
        meant, to, step = old[i, TO], old[i, FROM], steps[old[i, WAY]]
        at = where[meant]
        where[meant] = -1
        if at < 0:
            continue
        good = at == meant and back[at + step] != EMPTY
        cell = at
        while good and cell != to:
            cell -= step
            good = back[cell] == EMPTY
        if good and count < len(backs):
            backs[count] = old[i]
            count += 1
            back[to] = back[at]
            back[at] = EMPTY
            at = to
        elif back[to] == EMPTY:
            reach_back(back, steps, at, UNKNOWN, rooms[0:3], rooms[9])
            if rooms[0, to] < UNKNOWN:
                made = play_back(back, at, to, rooms[1], rooms[2], backs, count, rooms[9])
                if made >= 0:
                    at, count = to, made
        where[to] = at
    return count
