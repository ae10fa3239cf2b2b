"""two-sided."""

from __future__ import annotations

import numpy as np
import os

from checkers.rollingballs import Answer, Instance
from solvers.parts.clock import Clock
from solvers.rollingballs.board import Board, Cells, Ints, draw, lay_out, make_roll, points_of, seed_random, to_answer
from solvers.rollingballs.side import POINTS, Side, go_on, make_side
from solvers.rollingballs.side import ROLLS as MADE
from solvers.rollingballs.give_up import give_up
from solvers.rollingballs.landing import land, shorten_both, shorten_rolls
from solvers.rollingballs.excursion import go_on_excursions
from solvers.rollingballs.play import Play, make_play, weigh
from solvers.rollingballs.unroll import measure_ease
from solvers.rollingballs.trips import ALL_MATCHED, go_on_trips
from solvers.rollingballs.two_boards import BACKS, MATCHED, ROLLS, TwoBoards, count_matched, make_two_boards, restart, swap_colours

P = {k[2:]: float(v) for k, v in os.environ.items() if k.startswith("P_")}
WORK_PER_STEP = 2_000_000
TRIPS_PER_STEP = 100
PRICES = (3, 4, 6, 8, 12, 16, 24, 40)
DEAREST, DEAREST_EQUAL, FULL = 60, 40, 0.9
STALE_AT_LEAST, STALE_PER_BALL = int(P.get("SAL", 40)), P.get("SPB", 0.3)
SLACK = P.get("SL", 0.1)
MEND_AT_LEAST, MEND_PER_BALL = P.get("MAL", 40), P.get("MPB", 0.5)
LAND_BY = P.get("LB", 0.7)
SHORTEN_EVERY = int(P.get('SE', 4))
VERBOSE = "V" in P


def solve_two_sided(instance: Instance, clock: Clock, seed: int) -> Answer:
    board = lay_out(instance)
    random = seed_random(seed)
    two = make_two_boards(board, random)
    beams = make_side(two.fore, two.back, two.steps, two.rolls, random)
    unbeams = make_side(two.back, two.fore, two.steps, two.backs, random, backward=True)
    play = make_play(board, np.full(len(board.cells), 99), random)
    play = play._replace(cells=two.fore, target=two.back, rolls=two.rolls)
    mending = make_side(board.cells.copy(), board.target, board.steps, np.zeros_like(two.rolls), random)
    excursions = make_play(board, measure_ease(board), random)._replace(cells=mending.cells, rolls=mending.rolls)
    best = _Best(board)
    turn = 0
    while clock.running() and not best.perfect:
        restart(two, board)
        landed = _Best(board)
        turn += 1
        if (turn * int(P.get('FWD',34))) % 100 >= int(P.get('FWD',34)):
            _match(two, play, beams, unbeams, board, clock, landed, best.points)
        if VERBOSE: print('   t',round(clock.fraction,2),'matched',two.now[2],'/',board.balls, 'lost',2*board.balls-points_of(two.fore,two.back),'rolls',two.now[0],two.now[1],'/',board.most_rolls,'landed lost',2*board.balls-landed.points,len(landed.rolls),flush=True)
        best.offer(landed.cells, landed.rolls)
        if clock.running() and not best.perfect:
            _mend(mending, excursions, board, clock, best, landed)
            if VERBOSE: print('   mended', round(clock.fraction,2), 2*board.balls-landed.points)
    clock.report(best=best.points, final=True)
    return to_answer(board, best.rolls)


def _match(two: TwoBoards, play: Play, beams: Side, unbeams: Side, board: Board, clock: Clock, landed: _Best, best_points: int) -> None:
    limit = board.most_rolls
    stale = 0
    while "BF" in P and stale < int(P["BF"]) and clock.step(best=best_points):
        now = two.now[MATCHED]
        _beam(two, beams, board, 0)
        stale = 0 if two.now[MATCHED] > now else stale + 1
    if VERBOSE: print("     beams", round(clock.fraction, 2), two.now[:3], board.balls)
    for price in PRICES:
        go_on_trips(two, board.balls, 2 * board.balls, limit, price, 0)
        clock.step(2 * board.balls // TRIPS_PER_STEP, best=best_points)
    shorten_both(two, board)
    beams.fails[:] = 0
    unbeams.fails[:] = 0
    goals = board.target.copy()
    patience = STALE_AT_LEAST + STALE_PER_BALL * board.balls
    land_by = clock.fraction + LAND_BY * (1 - clock.fraction)
    _work(two, play, beams, unbeams, board, clock, best_points, patience, land_by)
    landed.offer(*land(two, board))
    start = clock.fraction
    while two.now[MATCHED] < board.balls and clock.running():
        left = board.balls - two.now[MATCHED]
        if VERBOSE: print("     give up at", two.now[MATCHED], two.now[:2], round(clock.fraction,2), landed.points-2*board.balls)
        if not give_up(two, goals):
            break
        _work(two, play, beams, unbeams, board, clock, best_points, int(P.get("GUP", 6)), min(1.0, clock.fraction + 0.1*(1-clock.fraction)))
        landed.offer(*land(two, board))
    landed.offer(*land(two, board))


def _work(two, play, beams, unbeams, board, clock, best_points, patience, until):
    stale, before, taken = 0, 0, 0
    limit = board.most_rolls
    while clock.step(best=best_points, note=f"{two.now[MATCHED]} of {board.balls} matched") and stale < patience:
        used = int(two.now[ROLLS] + two.now[BACKS])
        equal = int(DEAREST_EQUAL * max(0.0, 1 - used / (FULL * limit)))
        if draw(two.random, 100) < int(P.get("EXC", 30)):
            _excurse(two, play, board, equal)
        elif draw(two.random, 100) < int(P.get("BEAM", 30)):
            if draw(two.random, 100) < int(P.get("UNB", 50)):
                _unbeam(two, unbeams, board, equal)
            else:
                _beam(two, beams, board, equal)
        else:
            go_on_trips(two, board.balls, TRIPS_PER_STEP, limit, DEAREST, equal)
        taken += 1
        now = int(points_of(two.fore, two.back))
        if taken % SHORTEN_EVERY == 0 or now == 2 * board.balls:
            shorten_both(two, board)
        stale = 0 if now > before else stale + 1
        before = max(before, now)
        if now == 2 * board.balls or clock.fraction > until:
            break


def _beam(two: TwoBoards, beams: Side, board: Board, equal: int) -> None:
    beams.now[MADE] = two.now[ROLLS]
    beams.now[POINTS] = points_of(two.fore, two.back)
    limit = board.most_rolls - int(two.now[BACKS])
    go_on(beams, board.balls, WORK_PER_STEP, limit, limit if equal else 0)
    two.now[ROLLS] = beams.now[MADE]
    two.now[MATCHED] = count_matched(two)


def _unbeam(two: TwoBoards, beams: Side, board: Board, equal: int) -> None:
    beams.now[MADE] = two.now[BACKS]
    beams.now[POINTS] = points_of(two.fore, two.back)
    limit = board.most_rolls - int(two.now[ROLLS])
    go_on(beams, board.balls, WORK_PER_STEP, limit, limit if equal else 0)
    two.now[BACKS] = beams.now[MADE]
    two.now[MATCHED] = count_matched(two)


def _excurse(two: TwoBoards, play: Play, board: Board, equal: int) -> None:
    play.now[:] = two.now[ROLLS], weigh(play)
    play.best[:] = two.now[ROLLS], points_of(two.fore, two.back)
    limit = board.most_rolls - int(two.now[BACKS])
    go_on_excursions(play, board.balls, WORK_PER_STEP, limit, limit if equal else 0)
    two.now[ROLLS] = play.now[0]
    two.now[MATCHED] = count_matched(two)


class _Best:
    """The best play so far; at first the one without rolls."""

    def __init__(self, board: Board) -> None:
        self.nothing: Ints = np.empty((0, 3), np.int32)
        self.board, self.cells, self.rolls = board, board.cells, self.nothing
        self.points = int(points_of(board.cells, board.target))

    @property
    def perfect(self) -> bool:
        return self.points == 2 * self.board.balls

    def offer(self, cells: Cells, rolls: Ints) -> bool:
        points = int(points_of(cells, self.board.target))
        if points > self.points and len(rolls) <= self.board.most_rolls:
            self.points, self.cells, self.rolls = points, cells, rolls
            return True
        return False


def _mend(play: Side, excursions: Play, board: Board, clock: Clock, best: _Best, landed: _Best) -> None:
    """Beams from the best play landed until it is perfect or stale; equal boards may cost a slack of rolls."""
    rolls = shorten_rolls(board, landed.rolls)
    cells = landed.cells
    load(play, cells, rolls)
    points, stale = int(play.now[POINTS]), 0
    patience = MEND_AT_LEAST + MEND_PER_BALL * board.balls
    slack = SLACK * board.most_rolls
    play.fails[:] = 0
    while clock.step(best=best.points) and stale < patience:
        allowed = int(min(board.most_rolls, len(rolls) + slack))
        if draw(play.random, 100) < int(P.get("MEXC", 50)):
            excursions.now[:] = play.now[MADE], weigh(excursions)
            excursions.best[:] = play.now[MADE], play.now[POINTS]
            go_on_excursions(excursions, board.balls, WORK_PER_STEP, board.most_rolls, allowed)
            play.now[MADE], play.now[POINTS] = excursions.now[0], points_of(play.cells, play.target)
        else:
            go_on(play, board.balls, WORK_PER_STEP, board.most_rolls, allowed)
        stale += 1
        if play.now[POINTS] > points or stale % SHORTEN_EVERY == 0 or play.now[MADE] >= len(rolls) + slack:
            load(play, play.cells, shorten_rolls(board, play.rolls[: play.now[MADE]]))
            if play.now[POINTS] > points:
                stale = 0
            if play.now[POINTS] >= points and (stale == 0 or play.now[MADE] < len(rolls)):
                points, cells, rolls = int(play.now[POINTS]), play.cells.copy(), play.rolls[: play.now[MADE]].copy()
                landed.offer(cells, rolls)
                best.offer(cells, rolls)
                if best.perfect:
                    return
            elif play.now[MADE] >= len(rolls) + slack:
                load(play, cells, rolls)


def load(play: Side, cells: Cells, rolls: Ints) -> None:
    play.cells[:] = cells
    play.rolls[: len(rolls)] = rolls
    play.now[MADE] = len(rolls)
    play.now[POINTS] = points_of(cells, play.target)
