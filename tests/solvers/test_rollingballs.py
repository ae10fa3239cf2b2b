"""RollingBalls' solver: its kernels agree with slow twins, and every method gives legal answers and repeats exactly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from checkers.rollingballs import EMPTY, Instance, read_answer, read_instance, score_answer, write_answer
from solvers import rollingballs
from solvers.doors import Report
from solvers.rollingballs.board.flat import UNKNOWN, Board, lay_out, measure_ways, points_of, seed_random, stop_of
from solvers.rollingballs.board.paths import undo_backs
from solvers.rollingballs.board.unroll import measure_ease
from solvers.rollingballs.two_sided.bring_ball import bring
from solvers.rollingballs.two_sided.drop_goals import give_up, take_up
from solvers.rollingballs.two_sided.join_boards import land, shorten_both
from solvers.rollingballs.two_sided.meeting_moves import reach_back, reach_forward
from solvers.rollingballs.two_sided.one_board_beams import POINTS, go_on, make_side
from solvers.rollingballs.two_sided.one_board_beams import ROLLS as MADE
from solvers.rollingballs.two_sided.pair_exchanges import go_on_trips
from solvers.rollingballs.two_sided.two_boards import (
    BACK,
    BACKS,
    FORE,
    MATCHED,
    ROLLS,
    TwoBoards,
    count_matched,
    make_two_boards,
)

DATA = Path(__file__).resolve().parents[2] / "problems/rollingballs/data"


def sample(number: int) -> Instance:
    return read_instance((DATA / f"sample/seed-{number:03d}.in").read_bytes())


def slow_stop(cells: np.ndarray, at: int, step: int) -> int:
    """Twin of a roll: one cell after the other."""
    return at if cells[at + step] != EMPTY else slow_stop(cells, at + step, step)


def slow_ways(cells: np.ndarray, steps: np.ndarray, ball: int) -> dict[int, int]:
    """Twin of the distances, read forwards: the rolls a ball needs to each cell where it can stop."""
    cells = cells.copy()
    cells[ball] = EMPTY
    rolls, layer = {ball: 0}, [ball]
    while layer:
        stops = [slow_stop(cells, at, int(step)) for at in layer for step in steps]
        distance = rolls[layer[0]] + 1
        layer = [stop for stop in dict.fromkeys(stops) if stop not in rolls]
        rolls |= dict.fromkeys(layer, distance)
    return rolls


def test_distances_read_backwards_are_those_read_forwards() -> None:
    board = lay_out(sample(1))
    cells = np.where(board.cells >= 0, EMPTY, board.cells).astype(np.int8)
    free = np.flatnonzero(cells == EMPTY)
    forwards = {int(ball): slow_ways(cells, board.steps, int(ball)) for ball in free}
    distance, queue = np.empty(len(cells), np.int32), np.empty(len(cells), np.int32)
    for goal in free.tolist():
        measure_ways(cells, board.steps, goal, distance, queue)
        assert {int(ball): forwards[int(ball)].get(goal, UNKNOWN) for ball in free} == {
            int(ball): int(distance[ball]) for ball in free
        }


def test_a_roll_ends_where_its_twin_ends() -> None:
    board = lay_out(sample(2))
    for ball in np.flatnonzero(board.cells >= 0).tolist():
        for step in board.steps.tolist():
            assert stop_of(board.cells, ball, step) == slow_stop(board.cells, ball, step)


def test_a_cell_is_as_easy_as_the_cells_are_many_from_which_a_ball_comes() -> None:
    board = lay_out(sample(1))
    cells = np.where(board.cells >= 0, EMPTY, board.cells).astype(np.int8)
    ease = np.zeros(len(cells), np.int32)
    for ball in np.flatnonzero(cells == EMPTY).tolist():
        for goal in slow_ways(cells, board.steps, ball):
            ease[goal] += goal != ball
    assert measure_ease(board).tolist() == ease.tolist()


def slow_roll(cells: np.ndarray, steps: np.ndarray, rolls: np.ndarray) -> np.ndarray:
    """Make the rolls one by one; each must move a ball and end where it says."""
    cells = cells.copy()
    for at, way, to in rolls.tolist():
        assert cells[at] >= 0
        assert at != to
        assert slow_stop(cells, at, int(steps[way])) == to
        cells[to], cells[at] = cells[at], EMPTY
    return cells


def slow_ways_back(cells: np.ndarray, steps: np.ndarray, ball: int) -> dict[int, int]:
    """Twin of un-rolling, read forwards: from which cells one roll ends at a cell already known."""
    cells = cells.copy()
    cells[ball] = EMPTY
    free, known, layer = np.flatnonzero(cells == EMPTY).tolist(), {ball: 0}, {ball}
    while layer:
        distance = max(known.values()) + 1
        layer = {
            at for at in free if at not in known and any(slow_stop(cells, at, int(step)) in layer for step in steps)
        }
        known |= dict.fromkeys(layer, distance)
    return known


@pytest.mark.parametrize(("reach", "twin"), [(reach_forward, slow_ways), (reach_back, slow_ways_back)])
def test_a_ball_reaches_what_its_twin_reaches(reach: Callable[..., int], twin: Callable[..., dict[int, int]]) -> None:
    board = lay_out(sample(1))
    room, queue = np.zeros((3, len(board.cells)), np.int32), np.zeros(len(board.cells), np.int32)
    for cells in (board.cells, board.target):
        for ball in np.flatnonzero(cells >= 0).tolist():
            count = reach(cells, board.steps, ball, UNKNOWN, room, queue)
            expected = twin(cells, board.steps, ball)
            assert {int(cell): int(room[0, cell]) for cell in queue[:count]} == expected
            assert int((room[0] < UNKNOWN).sum()) == count


def played(number: int, trips: int) -> tuple[Board, TwoBoards]:
    """Two boards after some trips of all kinds."""
    board = lay_out(sample(number))
    two = make_two_boards(board, seed_random(5))
    go_on_trips(two, board.balls, trips, board.most_rolls, 40, 20)
    return board, two


def check_boards(board: Board, two: TwoBoards, goals: np.ndarray | None = None) -> None:
    """Both plays are legal and lead from the start to `fore` and from `back` to the target, or to `goals`."""
    assert slow_roll(board.cells, board.steps, two.rolls[: two.now[ROLLS]]).tolist() == two.fore.tolist()
    backs = two.backs[: two.now[BACKS]][::-1]
    assert slow_roll(two.back, board.steps, backs).tolist() == (board.target if goals is None else goals).tolist()
    assert two.now[MATCHED] == ((two.fore >= 0) & (two.fore == two.back)).sum()


@pytest.mark.parametrize("number", [2, 3])
def test_trips_keep_both_plays_legal_and_shortening_keeps_their_ends(number: int) -> None:
    board, two = played(number, 60)
    check_boards(board, two)
    before = two.now.copy()
    shorten_both(two, board)
    check_boards(board, two)
    assert two.now[ROLLS] + two.now[BACKS] < before[ROLLS] + before[BACKS]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_landed_play_is_legal_even_if_balls_are_left(number: int) -> None:
    board, two = played(number, 40)
    cells, rolls = land(two, board)
    assert slow_roll(board.cells, board.steps, rolls).tolist() == cells.tolist()
    assert len(rolls) <= board.most_rolls


def test_two_boards_that_agree_land_on_the_target() -> None:
    board, two = played(2, 3000)
    assert two.now[MATCHED] == board.balls
    assert land(two, board)[0].tolist() == board.target.tolist()


@pytest.mark.parametrize("number", [2, 3])
def test_goals_given_up_and_taken_up_again_leave_legal_plays_for_the_target_as_it_is_then(number: int) -> None:
    board, two = played(number, 40)
    goals = board.target.copy()
    for _ in range(3):
        if two.now[MATCHED] < board.balls:
            assert give_up(two, goals)
        check_boards(board, two, goals)
    assert sorted(goals[goals >= 0]) == sorted(board.target[board.target >= 0])
    while take_up(two, goals, board.target):
        check_boards(board, two, goals)
    assert goals.tolist() == board.target.tolist()


@pytest.mark.parametrize("side", [FORE, BACK])
def test_a_ball_that_was_brought_stands_on_the_cell_and_both_plays_stay_legal(side: int) -> None:
    board, two = played(3, 20)
    cells = two.fore if side == FORE else two.back
    brought = 0
    for cell in np.flatnonzero(cells == EMPTY).tolist():
        before = cells.copy()
        if cells[cell] == EMPTY and bring(two, side, cell, 1, 4):
            brought += 1
            assert cells[cell] == 1
            check_boards(board, two)
        else:
            assert cells.tolist() == before.tolist()
        if brought == 20:
            break
    assert brought == 20


@pytest.mark.parametrize("backward", [False, True])
def test_beams_on_either_board_make_legal_moves_and_gain(backward: bool) -> None:
    board = lay_out(sample(3))
    two = make_two_boards(board, seed_random(5))
    own, other, moves = (two.back, two.fore, two.backs) if backward else (two.fore, two.back, two.rolls)
    side = make_side(own, other, two.steps, moves, two.random, backward=backward)
    before = int(side.now[POINTS])
    go_on(side, board.balls, 3_000_000, board.most_rolls, 0)
    two.now[BACKS if backward else ROLLS] = side.now[MADE]
    two.now[MATCHED] = count_matched(two)
    check_boards(board, two)
    assert side.now[POINTS] == points_of(own, other) > before


def test_undone_un_rolls_leave_the_target_as_it_was() -> None:
    target = np.array([-2, 0, EMPTY, EMPTY, -2], np.int8)
    undo_backs(target, np.array([[1, 2, 3]], np.int32), 1, 0)
    assert target.tolist() == [-2, EMPTY, EMPTY, 0, -2]


@pytest.mark.parametrize("method", rollingballs.METHODS)
def test_a_method_repeats_its_answer_and_it_is_legal(method: str) -> None:
    instance = sample(2)
    first, second = (rollingballs.solve(instance, method=method, seed=3, seconds=1, steps=4) for _ in range(2))
    assert write_answer(first) == write_answer(second)
    read = read_answer(write_answer(first).encode(), instance)
    board = lay_out(instance)
    assert score_answer(instance, read).raw > points_of(board.cells, board.target)


@pytest.mark.parametrize("method", rollingballs.METHODS)
def test_a_search_that_is_stopped_gives_its_best_so_far(method: str) -> None:
    heard: list[Report] = []

    def stop_at_once(report: Report) -> bool:
        heard.append(report)
        return False

    instance = sample(3)
    answer = rollingballs.solve(instance, method=method, seed=1, seconds=60, progress=stop_at_once)
    assert heard
    assert score_answer(instance, read_answer(write_answer(answer).encode(), instance)).raw >= 0


@pytest.mark.parametrize("method", ["beam-local", "two-sided"])
def test_a_method_with_beams_solves_the_first_sample_and_ends_early(method: str) -> None:
    instance = sample(1)
    answer = rollingballs.solve(instance, method=method, seed=1, seconds=60, steps=2000)
    score = score_answer(instance, answer)
    assert score.raw == score.max_raw


def test_the_reference_is_the_answer_itself() -> None:
    instance = sample(1)
    answer = rollingballs.solve(instance, method="greedy", seed=1, seconds=1, steps=1)
    assert rollingballs.write_reference(instance, answer, seed=1) == write_answer(answer)


def test_two_sided_tells_the_proven_maximum_and_when_it_is_reached() -> None:
    heard: list[Report] = []
    rollingballs.solve(sample(1), method="two-sided", seed=1, seconds=60, steps=2000, progress=heard.append)
    assert (heard[-1].best, heard[-1].most, heard[-1].note) == (10, 10, "optimal")
