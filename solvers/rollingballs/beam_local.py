"""beam-local: beams over a few balls, forward only, after the second-placed program of the match.

A goal that is not right is chosen at random, and a beam over the nearest ball of its colour and up to 9 more looks for a
better board (`forward.py`, `beam.py`). Rolls are as scarce as time: a share of them is set free as time goes by, and a
play that has used its share without a gain is rolled back to where it had the most points.
"""

from __future__ import annotations

import numpy as np

from checkers.rollingballs import Answer, Instance
from solvers.parts.clock import Clock
from solvers.rollingballs.board import Ints, lay_out, seed_random, to_answer, undo_rolls
from solvers.rollingballs.side import POINTS, ROLLS, SPARE, Side, go_on, make_side

WORK_PER_STEP = 4_000_000
STALE = 40


def solve_beam_local(instance: Instance, clock: Clock, seed: int) -> Answer:
    """Search until the clock stops or the answer is perfect; a step is about 10 ms of beams."""
    board = lay_out(instance)
    rolls = np.zeros((board.most_rolls + SPARE, 3), np.int32)
    forward = make_side(board.cells.copy(), board.target, board.steps, rolls, seed_random(seed))
    best, best_points, stale = rolls[:0].copy(), int(forward.now[POINTS]), 0
    while clock.step(best=best_points) and best_points < 2 * board.balls:
        before = int(forward.now[POINTS])
        share = int(board.most_rolls * clock.fraction)
        go_on(forward, board.balls, WORK_PER_STEP, board.most_rolls, share)
        stale = 0 if forward.now[POINTS] > before else stale + 1
        if forward.now[POINTS] > best_points:
            best, best_points = rolls[: forward.now[ROLLS]].copy(), int(forward.now[POINTS])
        elif stale == STALE or forward.now[ROLLS] >= board.most_rolls:
            _roll_back(forward, int(forward.random[0] % np.uint64(1 + forward.now[ROLLS])))
            stale = 0
    clock.report(best=best_points, final=True)
    return to_answer(board, best)


def _roll_back(forward: Side, count: int) -> None:
    """Take back all rolls from number `count` on."""
    from solvers.rollingballs.board import points_of
    undo_rolls(forward.cells, forward.rolls, forward.now[ROLLS], count)
    forward.now[ROLLS] = count
    forward.now[POINTS] = points_of(forward.cells, forward.target)
