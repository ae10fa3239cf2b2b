"""RollingBalls' proven maximum: never below what any rolls reach, and as good as known on official seeds."""

from __future__ import annotations

import subprocess
import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from checkers.rollingballs import EMPTY, WALL, read_instance
from solvers.rollingballs.board.flat import Board, lay_out, points_of
from solvers.rollingballs.bound.assignment import most_worth
from solvers.rollingballs.bound.exhaustive import exhaust
from solvers.rollingballs.bound.maximum import find_maximum, find_parts
from solvers.rollingballs.bound.pockets import find_pockets, lose, lost_in_pockets
from solvers.rollingballs.bound.reachable import find_reachable
from tests.builders.examples import examples

GENERATOR = Path(__file__).resolve().parents[2] / "problems/rollingballs/generators/generate.py"
MAZES = examples(400, 1000)


def tiny(random: np.random.Generator) -> Board:
    """A maze of at most 4 x 4 cells with walls around and up to 4 balls of 2 colours."""
    height, width = random.integers(2, 5, 2)
    maze = np.where(random.random((height, width)) < 0.35, WALL, EMPTY).astype(np.int8)
    free = np.flatnonzero(maze.ravel() == EMPTY)
    balls = min(len(free), int(random.integers(1, 5)))
    colours = random.integers(0, 2, balls)
    sides = []
    for _ in range(2):
        side = maze.copy()
        side.ravel()[random.permutation(free)[:balls]] = colours
        sides.append(np.pad(side, 1, constant_values=WALL).ravel())
    steps = np.array([-1, width + 2, 1, -width - 2], np.int32)
    return Board(sides[0], sides[1], steps, int(width + 2), balls, 20 * balls)


def visit_all(board: Board) -> set[bytes]:
    """Twin of the search of a part: every board that any rolls lead to."""
    seen, waiting = {board.cells.tobytes()}, [board.cells]
    while waiting:
        cells = waiting.pop()
        for ball in np.flatnonzero(cells >= 0).tolist():
            for step in board.steps.tolist():
                to = ball
                while cells[to + step] == EMPTY:
                    to += step
                rolled = cells.copy()
                rolled[ball], rolled[to] = EMPTY, cells[ball]
                if rolled.tobytes() not in seen:
                    seen.add(rolled.tobytes())
                    waiting.append(rolled)
    return seen


def test_the_maximum_of_tiny_mazes_is_what_brute_force_reaches_and_no_ball_leaves_its_cells() -> None:
    random = np.random.default_rng(9)
    for _ in range(MAZES):
        board = tiny(random)
        boards = [np.frombuffer(cells, np.int8) for cells in visit_all(board)]
        assert find_maximum(board) == max(points_of(cells, board.target) for cells in boards)
        _, reached = find_reachable(board.cells, board.steps)
        visited = np.any([cells >= 0 for cells in boards], axis=0)
        assert not (visited & ~reached.any(axis=0)).any()


def test_the_bound_of_parts_too_large_to_search_is_never_below_what_brute_force_reaches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("solvers.rollingballs.bound.maximum.exhaust", lambda *_: None)
    random = np.random.default_rng(10)
    for _ in range(MAZES):
        board = tiny(random)
        most = max(points_of(np.frombuffer(cells, np.int8), board.target) for cells in visit_all(board))
        assert most <= find_maximum(board) <= 2 * board.balls


def test_a_part_with_too_many_cells_or_balls_is_not_searched() -> None:
    board = lay_out(read_instance(generate(4)))
    assert [exhaust(board.cells, board.target, board.steps, part) for part in find_parts(board)] == [None]


def test_an_assignment_is_worth_what_the_best_permutation_is_worth() -> None:
    random = np.random.default_rng(11)
    for size in (1, 2, 3, 4, 5):
        for _ in range(20):
            worth = random.integers(0, 3, (size, size)).astype(np.int32)
            rows = range(size)
            assert most_worth(worth) == max(int(worth[rows, list(to)].sum()) for to in permutations(rows))


@pytest.mark.parametrize(
    ("seed", "lost"), [(8, 2), (13, 0), (19, 2), (22, 2), (24, 4), (33, 4), (34, 4), (36, 2), (37, 4), (38, 4), (39, 4)]
)
def test_what_is_proven_lost_on_official_seeds(seed: int, lost: int) -> None:
    board = lay_out(read_instance(generate(seed)))
    assert find_maximum(board) == 2 * board.balls - lost


def drawn(start: str, target: str) -> Board:
    """A board of two mazes written as rows with a slash between."""
    mazes = [
        np.array([["#.0123456789".index(cell) - 2 for cell in row] for row in maze.split("/")], np.int8)
        for maze in (start, target)
    ]
    width = mazes[0].shape[1]
    cells, goals = (np.pad(maze, 1, constant_values=WALL).ravel() for maze in mazes)
    steps = np.array([-1, width + 2, 1, -width - 2], np.int32)
    return Board(cells, goals, steps, width + 2, int((cells >= 0).sum()), 100)


def test_a_pocket_is_what_a_lone_ball_rolls_over() -> None:
    """The lane at the top opens to the room below at its middle, where nothing stops a ball."""
    board = drawn("0...1/##.##/.....", "...../##.##/01...")
    lane = tuple(range(8, 13))
    assert find_pockets(board) & {lane} == {lane}


def test_the_last_ball_of_a_pocket_without_a_goal_is_lost_even_where_others_come_and_go() -> None:
    """A ball from below stops in the lane's middle; of two in the lane one can go there and leave, the other cannot."""
    pocket = tuple(range(8, 12))
    for wall in ("####", "##.#"):
        board = drawn(f"0...#/{wall}#/....1", f"....#/{wall}#/..0.1")
        assert lose(board, pocket) == (0, 2, 1)
        assert lost_in_pockets(board, set(range(len(board.cells)))).all == 2
    assert lose(drawn("0...#/##.##/....1", "...0#/##.##/....1"), pocket) == (0, 0, 0)


def test_a_goal_in_the_middle_of_a_closed_lane_stays_empty() -> None:
    board = drawn("0...#/#####/....1", ".0..#/#####/....1")
    assert lose(board, tuple(range(8, 12))) == (2, 2, 2)


def generate(seed: int) -> bytes:
    return subprocess.run([sys.executable, str(GENERATOR), "--seed", str(seed)], capture_output=True, check=True).stdout
