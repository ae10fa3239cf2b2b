"""Puzzles of the day: the same everywhere, as hard as they say, and proved by programs that share nothing with them."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date, timedelta
from functools import cache
from hashlib import sha256
from itertools import pairwise, product

import pytest

from checkers import comesolo as comesolo_checker
from checkers import netgame as netgame_checker
from checkers import optimiza as optimiza_checker
from solvers import netgame, optimiza
from solvers.daily import MAKERS, make
from solvers.daily.comesolo import PLAYS, SHORT, jumps_of, play_on, taken_back
from solvers.daily.draws import SplitMix64, draws_of
from solvers.daily.netgame import winning_ropes
from solvers.daily.optimiza import APART, best_walk, greedy_sums, steps_of, write_board
from solvers.daily.puzzle import SIZES
from solvers.optimiza.board import board_of
from solvers.optimiza.greedy import walk_to_greatest, walk_to_others
from solvers.parts.clock import Clock

DAY = date(2026, 11, 23)
PRINTED = {
    ("optimiza", "small"): "5\n2 2 4 2 3\n3 3 1 5 4\n3 1 2 4 1\n3 4 4 4 1\n2 1 1 3 2\n",
}
"""Puzzles that have been published: they may never change."""
FINGERPRINT = "d8122603302787dc9306da4fb5f4052a2325e3ee3fc42a0069019c89e14810d5"


def test_a_date_gives_the_same_puzzles_on_every_machine_and_in_every_version() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "solvers.daily", DAY.isoformat()],
        capture_output=True,
        check=True,
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": "."},
    )
    puzzles = {(each["kind"], each["size"]): each for each in json.loads(done.stdout)["puzzles"]}
    assert [*puzzles] == [(kind, size) for kind in MAKERS for size in SIZES]
    assert all(puzzles[place]["instance"] == instance for place, instance in PRINTED.items())
    assert sha256("".join(each["instance"] for each in puzzles.values()).encode()).hexdigest() == FINGERPRINT


def test_puzzles_of_other_days_kinds_and_sizes_are_others() -> None:
    first = {draws_of(DAY, kind, size).next() for kind in MAKERS for size in SIZES}
    following = {draws_of(DAY + timedelta(days=1), kind, size).next() for kind in MAKERS for size in SIZES}
    assert len(first | following) == 18


@pytest.mark.parametrize("size", SIZES)
def test_levels_of_optimiza_lie_far_apart(size: str) -> None:
    for ahead in range(5):
        puzzle = make(DAY + timedelta(days=ahead), "optimiza", size)
        assert puzzle.x is not None
        assert puzzle.y is not None
        levels = (puzzle.x, puzzle.y, puzzle.z)
        assert all(APART * (higher - lower) >= puzzle.z for lower, higher in pairwise(levels))
        instance = optimiza_checker.read_instance(puzzle.instance.encode())
        assert optimiza_checker.read_answer(puzzle.answer.encode(), instance).total == puzzle.z


@pytest.mark.parametrize(("size", "side"), [("small", 5), ("medium", 7), ("large", 9)])
def test_levels_of_optimiza_are_what_the_solvers_collect(size: str, side: int) -> None:
    draws = SplitMix64(side)
    for _ in range(4):  # any boards, not only those that are hard by the measure
        values = [value for value in range(1, side) for _ in range(side + 1)] + [side]
        draws.shuffle(values)
        text = write_board(side, values)
        instance = optimiza_checker.read_instance(text.encode())
        board, clock = board_of(instance), Clock(60.0, 10**6)
        greedy = tuple(board.sum_of(walk(board, clock).walk) for walk in (walk_to_greatest, walk_to_others))
        assert greedy_sums(values, steps_of(text, values)) == greedy
        proved = optimiza.METHODS["layered"].search(board, clock)
        assert proved.proved
        assert board.sum_of(proved.walk) == sum(values[cell] for cell in best_walk(values, steps_of(text, values)))


@pytest.mark.parametrize("size", SIZES)
def test_all_pieces_but_one_can_be_eaten_and_random_plays_stay_short(size: str) -> None:
    puzzle = make(DAY, "comesolo", size)
    instance = comesolo_checker.read_instance(puzzle.instance.encode())
    assert comesolo_checker.read_answer(puzzle.answer.encode(), instance).count == puzzle.z == instance.pieces - 1
    assert puzzle.x is not None
    assert puzzle.y is not None
    assert puzzle.x < puzzle.y <= puzzle.z - SHORT[size]
    board = [bool(cell) for cell in instance.board]
    draws = SplitMix64(1)
    others = [len(play_on(instance.size, board, draws)) for _ in range(PLAYS // 4)]
    assert max(others) <= puzzle.z


@cache
def longest(pieces: frozenset[int]) -> int:
    """The longest play on a board of 4 x 4: all plays are looked at, by the rule as a person says it."""
    most = 0
    for piece, down, right in product(pieces, (-1, 0, 1), (-1, 0, 1)):
        row, column = piece // 4 + 2 * down, piece % 4 + 2 * right
        over, to = piece + 4 * down + right, 4 * row + column
        if 0 <= row < 4 and 0 <= column < 4 and over in pieces - {piece} and to not in pieces:
            most = max(most, 1 + longest(pieces - {piece, over} | {to}))
    return most


@pytest.mark.parametrize("seed", range(5))
def test_jumps_taken_back_are_the_longest_play_that_an_exhaustive_search_finds(seed: int) -> None:
    board, play = taken_back(4, 8, SplitMix64(seed))
    assert longest(frozenset(cell for cell, piece in enumerate(board) if piece)) == len(play)
    assert len(jumps_of(3)) == 16


@pytest.mark.parametrize("size", SIZES)
def test_one_cut_alone_wins_by_grundy_numbers_too(size: str) -> None:
    puzzle = make(DAY, "netgame", size)
    instance = netgame_checker.read_instance(puzzle.instance.encode())
    answer = netgame.solve(instance, method="grundy", seed=1, seconds=60.0)
    reference = netgame.write_reference(instance, answer, seed=1)
    assert reference == puzzle.answer  # the winner, and all ropes that win


def test_cuts_that_win_are_told_from_those_that_lose() -> None:
    beside = [0b01, 0b01, 0b01, 0b10, 0b10, 0b10, 0b11]  # two cells, the last rope between them
    assert winning_ropes(beside, 2) == [7]
    assert winning_ropes([0b01] * 4 + [0b10] * 4, 2) == []
