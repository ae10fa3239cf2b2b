"""beam-local: local search whose step fills one unfinished goal, after the second-placed program of the match.

A step takes a random unfinished goal, the nearest ball of its colour and a few balls near, and looks for rolls of
these that raise the score; better plays are kept. The match's program did it all with a beam search (`beam.py`: up to
10 balls, 20 rolls deep, 250 wide, by score, then nearness, with noise). What stands around it:

- cheaper steps first (`operators.py`): the beam is left for one try in 25, after one ball alone and after helpers that
  roll where a ball has to be stopped (`helpers.py`), which cost a tenth of a beam;
- the beam and the helpers know which stoppers are missing on a ball's way (`ways.py`);
- goals that nothing in the maze can stop a ball at weigh up to three times as much, so that they are filled while
  there still are loose balls to help;
- steps go in excursions that may first lose points, and are undone as a whole if they end below (`excursion.py`);
- a restart aims at a target un-rolled to cells where balls arrive easily (`rewind.py`), whose unfinished goals may
  un-roll further to meet a ball (`connect.py`); at its end the recorded rolls lead back to the true target, and a
  second phase mends there what was not finished.
"""

from __future__ import annotations

import numpy as np

from checkers.rollingballs import Answer, Instance
from solvers.parts.clock import Clock
from solvers.rollingballs.board import (
    Board,
    Cells,
    Ints,
    lay_out,
    make_roll,
    points_of,
    seed_random,
    to_answer,
)
from solvers.rollingballs.excursion import GOING_ON, go_on_excursions
from solvers.rollingballs.play import BACKS, POINTS, ROLLS, Play, load, make_play
from solvers.rollingballs.rewind import measure_ease, rewind

WORK_PER_STEP = 1_000_000
STEPS_AT_LEAST, STEPS_PER_BALL = 20, 1.0
REWINDS_PER_BALL = 3
ROLLS_FOR_REWOUND = 0.8
ROLLS_AT_ONCE = 0.4


def solve_beam_local(instance: Instance, clock: Clock, seed: int) -> Answer:
    """Restart until the clock stops or the answer is perfect; a step is about 3 ms of search."""
    board = lay_out(instance)
    random = seed_random(seed)
    ease = measure_ease(board)
    play = make_play(board, ease, random)
    best = _Best(board)
    while clock.running() and not best.perfect:
        target, suffix = rewind(board, ease, random, REWINDS_PER_BALL * board.balls)
        limit = int(ROLLS_FOR_REWOUND * board.most_rolls)
        load(play, board.cells, best.nothing, target, suffix)
        _search(play, board, clock, limit, best.points)
        cells, rolls = replay(board, _rolls_of(play))
        best.offer(cells, rolls)
        if not best.perfect:
            load(play, cells, rolls, board.target, best.nothing)
            _search(play, board, clock, board.most_rolls, best.points)
            best.offer(*replay(board, _rolls_of(play)))
    clock.report(best=best.points, final=True)
    return to_answer(board, best.rolls)


class _Best:
    """The best play so far; at first the one without rolls."""

    def __init__(self, board: Board) -> None:
        self.nothing: Ints = np.empty((0, 3), np.int32)
        self.board, self.rolls = board, self.nothing
        self.points = int(points_of(board.cells, board.target))

    @property
    def perfect(self) -> bool:
        return self.points == 2 * self.board.balls

    def offer(self, cells: Cells, rolls: Ints) -> None:
        points = int(points_of(cells, self.board.target))
        if points > self.points and len(rolls) <= self.board.most_rolls:
            self.points, self.rolls = points, rolls


def _search(play: Play, board: Board, clock: Clock, limit: int, best_points: int) -> None:
    """Work on the loaded play until it is perfect, out of rolls, out of time, or stale after its share of time."""
    share = STEPS_AT_LEAST + STEPS_PER_BALL * board.balls
    taken, stale, before = 0, 0, int(play.best[POINTS])
    while clock.step(best=best_points):
        allowed = limit * min(1.0, ROLLS_AT_ONCE + (1 - ROLLS_AT_ONCE) * taken / share)
        state = go_on_excursions(play, board.balls, WORK_PER_STEP, limit, int(allowed))
        taken += 1
        stale = stale + 1 if play.best[POINTS] == before else 0
        before = int(play.best[POINTS])
        if state != GOING_ON or (taken > share and stale > share / 4):
            return


def _rolls_of(play: Play) -> Ints:
    """All rolls of the play's best moment, those from its target to the true one behind."""
    return np.concatenate((play.rolls[: play.best[ROLLS]], play.backs[: play.best[BACKS]][::-1]))


def replay(board: Board, rolls: Ints) -> tuple[Cells, Ints]:
    """Roll from the start; returns the board and the rolls that moved a ball, the others left out."""
    cells, made = board.cells.copy(), np.empty((len(rolls), 3), np.int32)
    count = 0
    for at, way, _ in rolls.tolist():
        if cells[at] >= 0 and make_roll(cells, board.steps, at, way, made, count) != at:
            count += 1
    return cells, made[:count].copy()
