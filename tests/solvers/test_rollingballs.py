"""RollingBalls' solver: its kernels agree with slow twins, and every method gives legal answers and repeats exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from checkers.rollingballs import EMPTY, Instance, read_answer, read_instance, score_answer, write_answer
from solvers import rollingballs
from solvers.doors import Report
from solvers.rollingballs.board import UNKNOWN, lay_out, measure_ways, points_of, seed_random, stop_of
from solvers.rollingballs.connect import connect, undo_backs
from solvers.rollingballs.rewind import measure_ease, rewind

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


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_rolls_of_a_rewound_target_lead_back_to_the_true_one(number: int) -> None:
    board = lay_out(sample(number))
    cells, rolls = rewind(board, measure_ease(board), seed_random(1), 4 * board.balls + 50)
    assert len(rolls) > 0
    for at, way, to in rolls.tolist():
        assert slow_stop(cells, at, int(board.steps[way])) == to
        cells[to], cells[at] = cells[at], EMPTY
    assert cells.tolist() == board.target.tolist()


def test_a_ball_and_a_goal_that_meet_are_rolled_legally_and_can_be_undone() -> None:
    board, met = lay_out(sample(2)), 0
    size = len(board.cells)
    for goal in np.flatnonzero((board.target >= 0) & (board.target != board.cells)).tolist():
        cells, target = board.cells.copy(), board.target.copy()
        rolls, backs = np.zeros((size, 3), np.int32), np.zeros((size, 3), np.int32)
        rooms = np.zeros((5, size), np.int32)
        made, undone, _ = connect(cells, target, board.steps, goal, seed_random(1), rolls, 0, backs, 0, rooms)
        met += made + undone > 0
        again = board.cells.copy()
        for at, way, to in rolls[:made].tolist():
            assert slow_stop(again, at, int(board.steps[way])) == to
            again[to], again[at] = again[at], EMPTY
        assert again.tolist() == cells.tolist()
        for at, way, to in backs[:undone][::-1].tolist():
            assert slow_stop(target.copy(), at, int(board.steps[way])) == to
            target[to], target[at] = target[at], EMPTY
        assert target.tolist() == board.target.tolist()
    assert met > 0


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


def test_beam_local_solves_the_first_sample_and_ends_early() -> None:
    instance = sample(1)
    answer = rollingballs.solve(instance, method="beam-local", seed=1, seconds=60, steps=2000)
    score = score_answer(instance, answer)
    assert score.raw == score.max_raw


def test_the_reference_is_the_answer_itself() -> None:
    instance = sample(1)
    answer = rollingballs.solve(instance, method="greedy", seed=1, seconds=1, steps=1)
    assert rollingballs.write_reference(instance, answer, seed=1) == write_answer(answer)
