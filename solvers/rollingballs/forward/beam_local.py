"""beam-local: beams over a few balls, forward only, after the second-placed program of the match.

A goal that is not right is chosen at random, and a beam over the nearest ball of its colour and up to 9 more looks for
a better board (`side.py`, `beam.py`). Rolls are as scarce as time: a share of them is set free as time goes by for
boards that are only as good, and a play that gains no more is rolled back to a random moment.
"""

from __future__ import annotations

import numpy as np

from checkers.rollingballs import Answer, Instance
from solvers.parts.clock import Clock
from solvers.rollingballs.board.flat import draw, lay_out, points_of, seed_random, to_answer, undo_rolls
from solvers.rollingballs.two_sided.one_board_beams import POINTS, ROLLS, SPARE, Side, go_on, make_side

WORK_PER_STEP = 4_000_000
STALE = 40


def solve_beam_local(instance: Instance, clock: Clock, seed: int) -> Answer:
    """Search until the clock stops or the answer is perfect; a step is about 10 ms of beams."""
    board = lay_out(instance)
    rolls = np.zeros((board.most_rolls + SPARE, 3), np.int32)
    side = make_side(board.cells.copy(), board.target, board.steps, rolls, seed_random(seed))
    best, best_points, stale = rolls[:0].copy(), int(side.now[POINTS]), 0
    while clock.step(best=best_points) and best_points < 2 * board.balls:
        before = int(side.now[POINTS])
        share = int(board.most_rolls * clock.fraction)
        go_on(side, board.balls, WORK_PER_STEP, board.most_rolls, share)
        stale = 0 if side.now[POINTS] > before else stale + 1
        if side.now[POINTS] > best_points:
            best, best_points = rolls[: side.now[ROLLS]].copy(), int(side.now[POINTS])
        elif stale == STALE or side.now[ROLLS] >= board.most_rolls:
            roll_back(side, int(draw(side.random, 1 + int(side.now[ROLLS]))))
            stale = 0
    clock.report(best=best_points, final=True)
    return to_answer(board, best)


def roll_back(side: Side, count: int) -> None:
    """Take back all rolls from number `count` on."""
    undo_rolls(side.cells, side.rolls, side.now[ROLLS], count)
    side.now[ROLLS] = count
    side.now[POINTS] = points_of(side.cells, side.target)
