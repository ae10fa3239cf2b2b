"""RollingBalls' printed program: its beam plays the rolls of a slow twin, and its answers keep the rules."""

from __future__ import annotations

import random

import numpy as np
import pytest

from checkers.rollingballs import Instance, read_answer, read_instance, score_answer, write_answer
from solvers.parts.clock import Clock
from solvers.rollingballs.forward import printed_beam, printed_tree
from solvers.rollingballs.forward.printed_beam import Maze, maze_of
from solvers.rollingballs.forward.printed_tree import make_tree
from tests.builders.examples import every

SIZE = 10
Board = dict[int, int]
"""The cell of each ball."""


def drawn(seed: int, balls: int = 5) -> Instance:
    """A maze of 10 x 10 with a dozen walls and balls of two colours."""
    draws = random.Random(seed)
    cells = draws.sample(range(SIZE * SIZE), 12 + 2 * balls)
    colours = [draws.choice("01") for _ in range(balls)]
    mazes = []
    for places in (cells[12 : 12 + balls], cells[12 + balls :]):
        rows = ["."] * (SIZE * SIZE)
        for cell in cells[:12]:
            rows[cell] = "#"
        for cell, colour in zip(places, colours, strict=True):
            rows[cell] = colour
        mazes += [str(SIZE), *("".join(rows[at : at + SIZE]) for at in range(0, SIZE * SIZE, SIZE))]
    return read_instance(("\n".join(mazes) + "\n").encode())


def slow_draw(state: list[int]) -> float:
    """Twin of the random numbers: SplitMix64 in whole numbers, its upper 53 bits."""
    state[0] = (state[0] + 0x9E3779B97F4A7C15) % 2**64
    z = (state[0] ^ (state[0] >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return ((z ^ (z >> 31)) >> 11) / 2**53


def slow_stop(maze: Maze, board: Board, ball: int, direction: int) -> int:
    """Twin of a roll: one cell after the other."""
    cell, taken = board[ball], set(board.values())
    while True:
        after = cell + int(maze.delta[direction])
        if maze.ball[after] == printed_tree.NO_CELL or after in taken:
            return cell
        cell = after


def slow_beam(
    maze: Maze, movers: list[int], target: int, steps: np.ndarray, state: list[int], limits: tuple[int, int]
) -> list[tuple[int, int]]:
    """Twin of the beam search: whole boards in lists, in the words of the notes."""
    depth, width = limits
    colour = {ball: int(maze.colour[ball]) for ball in range(len(maze.place))}

    def away(ball: int, cell: int) -> float:
        return 1e9 if cell == target and maze.wanted[target] != colour[ball] else float(steps[cell])

    def right(board: Board) -> int:
        return sum(maze.wanted[board[ball]] == colour[ball] for ball in movers)

    start = {ball: int(cell) for ball, cell in enumerate(maze.place)}
    seen = {frozenset((start[ball], colour[ball]) for ball in movers)}
    level = [(-right(start), sum(away(ball, start[ball]) for ball in movers), 0, start, [])]
    count, best = 0, None
    for turn in range(depth + 1):
        after = []
        for score, distance, _number, board, moves in level:
            if turn > 0 and (best is None or (score, distance) < best[:2]):
                best = (score, distance, moves)
            if turn < depth and (turn == 0 or -score < len(movers)):
                for ball in movers:
                    for direction in range(4):
                        stop = slow_stop(maze, board, ball, direction)
                        child = {**board, ball: stop}
                        key = frozenset((child[one], colour[one]) for one in movers)
                        if stop == board[ball] or key in seen:
                            continue
                        seen.add(key)
                        far = distance - away(ball, board[ball]) + away(ball, stop) + 1e-2 * slow_draw(state)
                        count += 1
                        after.append((-right(child), far, count, child, [*moves, (ball, direction)]))
            if turn > 0 and -score == len(movers):
                break
        level = sorted(after, key=lambda node: node[:3])[:width]
        if not level:
            break
    return best[2] if best else []


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_beam_plays_the_rolls_of_its_slow_twin(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in every(2, range(6), count % 2):
        maze = maze_of(drawn(seed))
        target = int(maze.targets[seed % len(maze.targets)])
        if maze.is_right(target):
            continue
        steps = printed_beam.walk_from(maze, target)
        movers = printed_beam.movers_of(maze, target, steps, count)
        before, state = maze.place.tolist(), np.array([seed], np.uint64)
        moves = printed_beam.beam(maze, make_tree(), movers, target, steps, state)
        limits = (printed_tree.DEPTH, printed_tree.WIDTH)
        twin_state = [seed]
        assert moves == slow_beam(maze, movers.tolist(), target, steps, twin_state, limits), seed
        assert int(state[0]) == twin_state[0]
        assert maze.place.tolist() == before


def corridor(start: str, target: str) -> Maze:
    """A maze whose first row is given and whose other rows are walls."""
    rows = ["#" * SIZE] * (SIZE - 1)
    return maze_of(read_instance("\n".join([str(SIZE), start, *rows, str(SIZE), target, *rows, ""]).encode()))


def test_the_best_board_is_played_though_it_gains_nothing() -> None:
    """Worked by hand: the only ball of a corridor can only roll to its ends; the right one is nearer."""
    maze = corridor("0.........", "......0...")
    target = int(maze.targets[0])
    steps = printed_beam.walk_from(maze, target)
    moves = printed_beam.beam(maze, make_tree(), np.array([0], np.int32), target, steps, np.array([1], np.uint64))
    assert moves == [(0, 2)]
    maze.play(moves)
    assert (maze.right, maze.moved) == (0, [(0, SIZE + 2 + 1, 2)])
    maze.take_back(0)
    assert maze.place.tolist() == [SIZE + 2 + 1]


def test_a_wrong_colour_on_the_target_is_as_far_as_can_be() -> None:
    """Worked by hand: ball 1 stands where ball 0 should; every roll of ball 1 is better than leaving it there."""
    maze = corridor("0...1.....", "....0....1")
    target = int(maze.targets[0])
    steps = printed_beam.walk_from(maze, target)
    assert printed_beam.movers_of(maze, target, steps, 2).tolist() == [0, 1]
    moves = printed_beam.beam(maze, make_tree(), np.array([0, 1], np.int32), target, steps, np.array([1], np.uint64))
    assert (1, 2) in moves


def test_the_numbers_of_balls_are_shuffled_without_loss() -> None:
    state = np.array([7], np.uint64)
    orders = {tuple(printed_beam.shuffled(10, state)) for _ in range(50)}
    assert len(orders) == 50
    assert all(sorted(order) == list(range(1, 11)) for order in orders)


@pytest.mark.parametrize("seed", range(3))
def test_answers_are_legal_keep_to_the_rolls_and_repeat(seed: int) -> None:
    instance = drawn(seed, balls=8)
    first, second = (printed_beam.solve_printed_beam(instance, Clock(1.0, 30), seed) for _ in range(2))
    assert first.rolls.tolist() == second.rolls.tolist()
    answer = read_answer(write_answer(first).encode(), instance)
    empty = read_answer(b"0\n", instance)
    assert score_answer(instance, answer).raw >= score_answer(instance, empty).raw
