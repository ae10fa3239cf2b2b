"""beam-local: two boards until they agree, then a local search whose step fills one unfinished goal.

A restart (the figures of what each part is worth are in docs/solvers/rollingballs.md):

- match (`two_boards.py`, `meet.py`): one board is rolled forward from the start, the other un-rolled from the target,
  and two balls of a colour meet where both can come alone; cheap meetings come first;
- trips (`trips.py`, `lend.py`): a ball that meets none is helped by a stopper, steals another's partner, or is shaken;
  a trip is kept if as many balls are matched and it costs few rolls, the fewer the fuller the play;
- shorten (`shorten.py`): after every step a ball's moves give way to a shorter way, for rolls are what runs out;
- at last the colours of the unmatched balls are swapped among them: a ball of a wrong colour counts half;
- land (`landing.py`): the un-rolls are played reversed, each ball that an unmatched one disturbed by another way;
- mend (`excursion.py`, `operators.py`): what is not right then is tried goal by goal, after the match's second-placed
  program: a ball alone, helpers that roll where a ball has to be stopped (`helpers.py`), now and then a beam over up
  to 10 balls, 20 rolls deep, 250 wide (`beam.py`, guided by `ways.py`); worse for better in excursions.
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
from solvers.rollingballs.excursion import NO_ROLLS_LEFT, PERFECT, go_on_excursions
from solvers.rollingballs.landing import land, shorten_both, shorten_rolls
from solvers.rollingballs.play import POINTS, Play, load, make_play
from solvers.rollingballs.play import ROLLS as MADE
from solvers.rollingballs.trips import ALL_MATCHED, go_on_trips
from solvers.rollingballs.two_boards import BACKS, MATCHED, ROLLS, TwoBoards, make_two_boards, restart, swap_colours
from solvers.rollingballs.unroll import measure_ease

WORK_PER_STEP = 4_000_000
TRIPS_PER_STEP = 200
PRICES = (3, 4, 6, 8, 12, 16, 24, 40)
DEAREST, DEAREST_EQUAL, FULL = 60, 40, 0.9
STALE_AT_LEAST, STALE_PER_BALL = 40, 0.3
STALE_ANY, DEAREST_ANY = 12, 10
LAND_BY, MEND_BY = 0.6, 0.5
MEND_AT_LEAST, MEND_PER_BALL = 20, 0.5
SHORTEN_EVERY = 4


def solve_beam_local(instance: Instance, clock: Clock, seed: int) -> Answer:
    """Restart until the clock stops or the answer is perfect; a step is about 10 ms of search."""
    board = lay_out(instance)
    random = seed_random(seed)
    two = make_two_boards(board, random)
    play = make_play(board, measure_ease(board), random)
    best = _Best(board)
    while clock.running() and not best.perfect:
        restart(two, board)
        landed = _Best(board)
        _match(two, board, clock, landed, best.points)
        best.offer(landed.cells, landed.rolls)
        if clock.running() and not best.perfect:
            load(play, landed.cells, landed.rolls)
            _mend(play, board, clock, best)
            best.offer(*replay(board, _rolls_of(play)))
    clock.report(best=best.points, final=True)
    return to_answer(board, best.rolls)


def _match(two: TwoBoards, board: Board, clock: Clock, landed: _Best, best_points: int) -> None:
    """Match balls, the cheap meetings first, until all are matched, nothing is won any more or time to land is near."""
    limit = board.most_rolls
    for price in PRICES:
        go_on_trips(two, board.balls, 2 * board.balls, limit, price, 0)
        clock.step(2 * board.balls // TRIPS_PER_STEP, best=best_points)
    shorten_both(two, board)
    land_by = LAND_BY if clock.fraction < MEND_BY else 1.0
    stale, before = 0, 0
    patience = STALE_AT_LEAST + STALE_PER_BALL * board.balls
    while clock.step(best=best_points, note=f"{two.now[MATCHED]} of {board.balls} matched") and stale < patience:
        used = int(two.now[ROLLS] + two.now[BACKS])
        equal = int(DEAREST_EQUAL * max(0.0, 1 - used / (FULL * limit)))
        state = go_on_trips(two, board.balls, TRIPS_PER_STEP, limit, DEAREST, equal)
        shorten_both(two, board)
        stale = 0 if two.now[MATCHED] > before else stale + 1
        before = max(before, int(two.now[MATCHED]))
        if two.now[MATCHED] >= before - 1 and (stale > 0 or state == ALL_MATCHED):
            landed.offer(*land(two, board))
        if state == ALL_MATCHED or clock.fraction > land_by:
            break
    landed.offer(*land(two, board))
    _match_any(two, board, clock, landed, best_points)


def _match_any(two: TwoBoards, board: Board, clock: Clock, landed: _Best, best_points: int) -> None:
    """Give the balls left on `back` each other's colours and go on: half a ball each, and none is in the way."""
    stale, least = 0, board.balls
    while (left := board.balls - int(two.now[MATCHED])) and stale < STALE_ANY:
        if not clock.step(best=best_points, note=f"{left} balls left, colours open"):
            return
        swap_colours(two)
        go_on_trips(two, board.balls, TRIPS_PER_STEP, board.most_rolls, DEAREST, DEAREST_ANY)
        shorten_both(two, board)
        landed.offer(*land(two, board))
        now_left = board.balls - int(two.now[MATCHED])
        stale = 0 if now_left < least else stale + 1
        least = min(least, now_left)


class _Best:
    """The best play so far; at first the one without rolls."""

    def __init__(self, board: Board) -> None:
        self.nothing: Ints = np.empty((0, 3), np.int32)
        self.board, self.cells, self.rolls = board, board.cells, self.nothing
        self.points = int(points_of(board.cells, board.target))

    @property
    def perfect(self) -> bool:
        return self.points == 2 * self.board.balls

    def offer(self, cells: Cells, rolls: Ints) -> None:
        points = int(points_of(cells, self.board.target))
        if points > self.points and len(rolls) <= self.board.most_rolls:
            self.points, self.cells, self.rolls = points, cells, rolls


def _mend(play: Play, board: Board, clock: Clock, best: _Best) -> None:
    """Work on the landed play, forward only, until it is perfect, out of rolls, or stale; shorten it on the way."""
    stale, taken, start = 0, 0, int(play.best[MADE])
    patience = MEND_AT_LEAST + MEND_PER_BALL * board.balls
    while clock.step(best=best.points) and stale < patience:
        taken += 1
        before = int(play.best[POINTS])
        allowed = start + int((board.most_rolls - start) * min(1.0, taken / (2 * patience)))
        state = go_on_excursions(play, board.balls, WORK_PER_STEP, board.most_rolls, allowed)
        stale = stale + 1 if play.best[POINTS] == before else 0
        if state == PERFECT:
            return
        if state == NO_ROLLS_LEFT or taken % SHORTEN_EVERY == 0:
            if play.best[POINTS] > before or state == NO_ROLLS_LEFT:
                cells, rolls = replay(board, _rolls_of(play))
            else:
                cells, rolls = replay(board, play.rolls[: play.now[MADE]])
            load(play, cells, shorten_rolls(board, rolls))


def _rolls_of(play: Play) -> Ints:
    """All rolls of the play's best moment, those from its target to the true one behind."""
    return play.rolls[: play.best[MADE]].copy()


def replay(board: Board, rolls: Ints) -> tuple[Cells, Ints]:
    """Roll from the start; returns the board and the rolls that moved a ball, the others left out."""
    cells, made = board.cells.copy(), np.empty((len(rolls), 3), np.int32)
    count = 0
    for at, way, _ in rolls.tolist():
        if cells[at] >= 0 and make_roll(cells, board.steps, at, way, made, count) != at:
            count += 1
    return cells, made[:count].copy()
