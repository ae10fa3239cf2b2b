"""The RollingBalls checker: what it reads, what it refuses, and that its kernel rolls as the rules say."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import yaml

from checkers import rollingballs as checker
from checkers.doors import Rejected

PACKAGE = Path(__file__).resolve().parents[2] / "problems/rollingballs"
STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))


def maze_text(cells: np.ndarray) -> str:
    """Write a maze as rows of characters."""
    return "".join("".join({-2: "#", -1: "."}.get(int(x), str(x)) for x in row) + "\n" for row in cells)


def random_instance(random: np.random.Generator) -> checker.Instance:
    """Draw a small legal instance through the reader, so that the reader is used too."""
    height, width = random.integers(10, 14, 2)
    start = random.choice([-2, -1, 0, 1, 2], (height, width), p=[0.2, 0.6, 0.1, 0.05, 0.05])
    start[0, 0] = 0
    target = start.copy()
    free = np.argwhere(start != -2)
    target[tuple(free.T)] = random.permutation(start[tuple(free.T)])
    text = f"{height}\n{maze_text(start)}{height}\n{maze_text(target)}"
    return checker.read_instance(text.encode())


def roll_slowly(instance: checker.Instance, rolls: list[tuple[int, int, int]]) -> tuple[list[list[int]], int]:
    """The slow twin: roll in plain Python; return the maze and how many rolls were possible."""
    maze = instance.start.tolist()
    for done, (at_row, at_column, way) in enumerate(rolls):
        row, column = at_row, at_column
        inside = 0 <= row < instance.height and 0 <= column < instance.width and 0 <= way < 4
        if not inside or maze[row][column] < 0:
            return maze, done
        ball, maze[row][column] = maze[row][column], -1
        down, right = STEPS[way]
        while (
            0 <= row + down < instance.height
            and 0 <= column + right < instance.width
            and maze[row + down][column + right] == -1
        ):
            row, column = row + down, column + right
        maze[row][column] = ball
    return maze, len(rolls)


def random_rolls(instance: checker.Instance, random: np.random.Generator) -> list[tuple[int, int, int]]:
    """Draw rolls of balls that are there, now and then followed by an impossible one."""
    rolls: list[tuple[int, int, int]] = []
    for _ in range(int(random.integers(0, instance.most_rolls))):
        maze, _ = roll_slowly(instance, rolls)
        row, column = random.choice(np.argwhere(np.array(maze) >= 0))
        rolls.append((int(row), int(column), int(random.integers(0, 4))))
    if rolls and random.random() < 0.3:
        rolls[-1] = (int(random.integers(0, 16)), int(random.integers(0, 16)), int(random.integers(0, 5)))
    return rolls


def test_the_kernel_rolls_as_its_slow_twin():
    random = np.random.default_rng(1)
    for _ in range(12):
        instance = random_instance(random)
        rolls = random_rolls(instance, random)
        cells = instance.start.copy()
        done = checker._simulate(cells, np.array(rolls, np.int64).reshape(-1, 3))
        assert (cells.tolist(), done) == roll_slowly(instance, rolls)


def test_the_score_counts_two_for_a_right_ball_and_one_for_another_colour():
    random = np.random.default_rng(2)
    for _ in range(8):
        instance = random_instance(random)
        rolls = random_rolls(instance, random)
        maze, done = roll_slowly(instance, rolls)
        answer = checker.Answer(np.array(rolls[:done], np.int64).reshape(-1, 3))
        pairs = zip(np.ravel(maze), instance.target.ravel(), strict=True)
        points = sum((2 if ball == wanted else 1) for ball, wanted in pairs if ball >= 0 and wanted >= 0)
        score = checker.score_answer(instance, answer)
        assert (score.raw, score.max_raw) == (points, 2 * instance.balls)
        assert score.multiplier == Fraction(points, 2 * instance.balls)
        assert f"after {done} rolls" in score.message.text


def test_an_answer_that_is_written_is_read_back():
    instance = random_instance(np.random.default_rng(3))
    answer = checker.Answer(np.array(random_rolls(instance, np.random.default_rng(5))[:-1], np.int64).reshape(-1, 3))
    again = checker.read_answer(checker.write_answer(answer).encode(), instance)
    assert again.rolls.tolist() == answer.rolls.tolist()


@pytest.mark.parametrize("path", sorted((PACKAGE / "data/invalid_output").glob("*.out")), ids=lambda path: path.stem)
def test_an_invalid_output_is_refused_with_the_reason_noted_beside_it(path: Path):
    instance = checker.read_instance(path.with_suffix(".in").read_bytes())
    expected = yaml.safe_load(path.with_suffix(".yaml").read_text())["description"]
    with pytest.raises(Rejected) as refused:
        checker.read_answer(path.read_bytes(), instance)
    assert expected.endswith(str(refused.value))


@pytest.mark.parametrize("path", sorted((PACKAGE / "data/valid_output").glob("*.out")), ids=lambda path: path.stem)
def test_a_valid_output_scores_what_is_noted_beside_it(path: Path):
    instance = checker.read_instance(path.with_suffix(".in").read_bytes())
    noted = yaml.safe_load(path.with_suffix(".yaml").read_text())["description"]
    score = checker.score_answer(instance, checker.read_answer(path.read_bytes(), instance))
    assert noted.endswith(f"{score.raw} of {score.max_raw}")


@pytest.mark.parametrize("path", sorted((PACKAGE / "data/invalid_input").glob("*.in")), ids=lambda path: path.stem)
def test_an_invalid_input_is_refused(path: Path):
    with pytest.raises(Rejected):
        checker.read_instance(path.read_bytes())


def test_an_answer_above_the_size_bound_is_refused():
    instance = random_instance(np.random.default_rng(4))
    with pytest.raises(Rejected, match="at most 4194304 bytes"):
        checker.read_answer(b"0" + b" " * checker.LARGEST_ANSWER, instance)


def test_a_wrong_roll_is_named_by_its_line_and_number():
    data = (PACKAGE / "data/invalid_output/ball-has-gone.in").read_bytes()
    with pytest.raises(Rejected, match=r"line 3, roll 2: expected a ball at \(0, 0\), found an empty cell"):
        checker.read_answer(b"2\n0 0 2\n0 0 1\n", checker.read_instance(data))
