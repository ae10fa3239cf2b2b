"""Mend a true play, forward only: beams and excursions for the goals that are not right."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.parts.clock import Clock
from solvers.rollingballs.board.flat import Board, Cells, Ints, Random, draw, points_of
from solvers.rollingballs.board.play import Play, make_play, set_now
from solvers.rollingballs.board.unroll import measure_ease
from solvers.rollingballs.forward.goal_exchanges import go_on_excursions
from solvers.rollingballs.two_sided.best import Best
from solvers.rollingballs.two_sided.join_boards import shorten_rolls
from solvers.rollingballs.two_sided.one_board_beams import POINTS, ROLLS, SPARE, Side, go_on, make_side

WORK_PER_STEP = 2_000_000
STALE_AT_LEAST, STALE_PER_BALL = 40, 0.5
SLACK = 0.1
SHORTEN_EVERY = 4


class Mending(NamedTuple):
    """A board and its rolls, seen by beams and by excursions."""

    side: Side
    play: Play


def make_mending(board: Board, random: Random) -> Mending:
    """Make room to mend plays of a board."""
    rolls = np.zeros((board.most_rolls + 2 * SPARE, 3), np.int32)
    side = make_side(board.cells.copy(), board.target, board.steps, rolls, random)
    play = make_play(board, measure_ease(board), random)._replace(cells=side.cells, rolls=rolls)
    return Mending(side, play)


def mend(mending: Mending, board: Board, clock: Clock, landed: Best, best: Best) -> None:
    """Go on from the best play landed until it is as good as can be, or stale; a slack of rolls may go for nothing."""
    side = mending.side
    cells, rolls = landed.cells, shorten_rolls(board, landed.rolls)
    _load(side, cells, rolls)
    points, stale = int(side.now[POINTS]), 0
    patience, slack = STALE_AT_LEAST + STALE_PER_BALL * board.balls, SLACK * board.most_rolls
    side.fails[:] = 0
    while clock.step(best=best.points) and stale < patience and not best.proven:
        most = len(rolls) + slack
        _make_step(mending, board, int(min(board.most_rolls, most)))
        stale += 1
        gained = side.now[POINTS] > points
        if not gained and stale % SHORTEN_EVERY and side.now[ROLLS] < most:
            continue
        _load(side, side.cells, shorten_rolls(board, side.rolls[: side.now[ROLLS]]))
        if gained or (side.now[POINTS] == points and side.now[ROLLS] < len(rolls)):
            stale = 0 if gained else stale
            points, cells, rolls = int(side.now[POINTS]), side.cells.copy(), side.rolls[: side.now[ROLLS]].copy()
            best.offer(cells, rolls)
        elif side.now[ROLLS] >= most:
            _load(side, cells, rolls)


def _make_step(mending: Mending, board: Board, allowed: int) -> None:
    side, play = mending
    if draw(side.random, 2):
        go_on(side, board.balls, WORK_PER_STEP, board.most_rolls, allowed)
        return
    set_now(play, int(side.now[ROLLS]))
    go_on_excursions(play, board.balls, WORK_PER_STEP, board.most_rolls, allowed)
    side.now[ROLLS], side.now[POINTS] = play.now[0], points_of(side.cells, side.target)


def _load(side: Side, cells: Cells, rolls: Ints) -> None:
    side.cells[:] = cells
    side.rolls[: len(rolls)] = rolls
    side.now[ROLLS], side.now[POINTS] = len(rolls), points_of(cells, side.target)
