"""RollingBalls' solver: every method gives legal answers and repeats exactly; the flat board agrees with slow twins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from checkers.rollingballs import EMPTY, Instance, read_answer, read_instance, score_answer, write_answer
from solvers import rollingballs
from solvers.doors import Report
from solvers.rollingballs.board.flat import UNKNOWN, lay_out, measure_ways, points_of, stop_of

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
    reports: list[Report] = []

    def stop_at_once(report: Report) -> bool:
        reports.append(report)
        return False

    instance = sample(3)
    answer = rollingballs.solve(instance, method=method, seed=1, seconds=60, progress=stop_at_once)
    assert reports
    assert score_answer(instance, read_answer(write_answer(answer).encode(), instance)).raw >= 0


@pytest.mark.parametrize("method", ["beam-local", "two-sided"])
def test_a_method_with_beams_solves_the_first_sample_and_ends_early(method: str) -> None:
    instance = sample(1)
    answer = rollingballs.solve(instance, method=method, seed=1, seconds=60, steps=2000)
    score = score_answer(instance, answer)
    assert score.raw == score.max_raw


@pytest.mark.parametrize("method", ["two-sided"])
@pytest.mark.parametrize("steps", [1, 12])
def test_the_score_reported_is_the_one_that_the_checker_gives(method: str, steps: int) -> None:
    reports: list[Report] = []
    instance = sample(3)
    answer = rollingballs.solve(instance, method=method, seed=2, seconds=60, steps=steps, progress=reports.append)
    assert score_answer(instance, read_answer(write_answer(answer).encode(), instance)).raw == reports[-1].best


def test_the_reference_is_the_answer_itself() -> None:
    instance = sample(1)
    answer = rollingballs.solve(instance, method="greedy", seed=1, seconds=1, steps=1)
    assert rollingballs.write_reference(instance, answer, seed=1) == write_answer(answer)


def test_two_sided_reports_the_proven_maximum_and_when_it_is_reached() -> None:
    reports: list[Report] = []
    rollingballs.solve(sample(1), method="two-sided", seed=1, seconds=60, steps=2000, progress=reports.append)
    assert (reports[-1].best, reports[-1].most, reports[-1].note) == (10, 10, "optimal")
