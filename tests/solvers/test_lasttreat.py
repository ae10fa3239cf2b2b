"""Lasttreat's solver: every method agrees with brute force, and every kernel with its formula in whole numbers."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from math import isqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers import lasttreat as checker
from checkers.lasttreat import Answer, Instance, read_answer, read_instance, score_answer, write_answer
from checkers.rules import lasttreat as rules
from solvers import lasttreat
from solvers.doors import Report, Unsolved
from solvers.lasttreat.closed_form import partner_of
from solvers.lasttreat.linear import fill_by_pairs
from solvers.lasttreat.progress import Work
from solvers.parts.clock import Clock

GENERATORS = Path(__file__).parents[2] / "problems/lasttreat/generators"
HANDMADE = GENERATORS / "handmade"
SMALL = 700
Move = tuple[int, int]
Position = tuple[int, int, int]


def instance_of(*rows: Position) -> Instance:
    return Instance(np.array(rows, np.int64))


def solved(instance: Instance, method: str, steps: int = 10_000) -> list[Move]:
    answer = lasttreat.solve(instance, method=method, seed=1, seconds=60, steps=steps)
    return [(int(x), int(y)) for x, y in answer.moves]


def moves_from(a: int, b: int, k: int) -> list[Move]:
    """Twin of the rules, in the words of the statement."""
    tries = [move for i in range(1, k + 1) for move in ((i, 0), (0, i), (i, i))]
    return [(x, y) for x, y in tries if x <= a and y <= b]


@cache
def slow_lost(a: int, b: int, k: int) -> bool:
    """Twin of every method: lost if no move leads to a lost position."""
    return not any(slow_lost(a - x, b - y, k) for x, y in moves_from(a, b, k))


def winning(a: int, b: int, k: int) -> list[Move]:
    return [(x, y) for x, y in moves_from(a, b, k) if slow_lost(a - x, b - y, k)]


def slow_lower(n: int) -> int:
    """Twin of the kernel: Python's integers have no largest one."""
    return (n + isqrt(5 * n * n)) // 2


def small_positions() -> list[Position]:
    """Positions with at most 9 treats a pile, drawn again in the same way each time."""
    draws = np.random.default_rng(5)
    drawn = [tuple(row) for row in np.column_stack((draws.integers(0, 10, (SMALL, 2)), draws.integers(1, 12, SMALL)))]
    return [(int(a), int(b), int(k)) for a, b, k in drawn if a + b > 0]


@pytest.mark.parametrize("method", lasttreat.METHODS)
def test_a_method_agrees_with_brute_force_on_hundreds_of_small_positions(method: str) -> None:
    positions = small_positions()
    assert len(positions) > 500
    for position, move in zip(positions, solved(instance_of(*positions), method), strict=True):
        assert move in (winning(*position) or [(0, 0)]), position


@pytest.mark.parametrize("method", [name for name in lasttreat.METHODS if name != "tree"])
def test_a_method_agrees_with_brute_force_where_piles_are_much_larger_than_k(method: str) -> None:
    positions = [(a, b, k) for k in (1, 2, 3, 5, 8) for a in range(27) for b in range(27) if a + b]
    moves = solved(instance_of(*positions), method)
    assert all(move in (winning(*position) or [(0, 0)]) for position, move in zip(positions, moves, strict=True))


def test_there_are_never_more_than_three_winning_moves() -> None:
    assert max(len(winning(*position)) for position in small_positions()) == 3


@given(st.integers(0, 10**18 + 1))
def test_the_formula_in_64_bits_is_the_formula(n: int) -> None:
    assert checker.lower(n) == slow_lower(n)


def test_the_formula_holds_where_doubles_fail_and_at_the_largest_numbers() -> None:
    fibonacci = [1, 2]
    while fibonacci[-1] <= 10**18:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    near = [n + step for n in fibonacci[:-1] for step in (-1, 0, 1)]
    assert 102334155 in near
    assert int(102334155 * (1 + 5**0.5) / 2) != slow_lower(102334155)
    for n in [*near, 10**18, 10**18 + 1]:
        assert checker.lower(n) == slow_lower(n), n


def test_the_formula_holds_for_a_hundred_thousand_numbers_up_to_the_largest() -> None:
    drawn = np.random.default_rng(3).integers(0, 10**18 + 2, 100_000).tolist()
    assert [n for n in drawn if checker.lower(n) != slow_lower(n)] == []


@settings(max_examples=300)
@given(st.one_of(st.integers(0, 300), st.integers(0, 10**18)))
def test_the_partner_of_a_number_makes_a_pair_with_it(number: int) -> None:
    partner = partner_of(number)
    assert slow_lower(abs(partner - number)) == min(partner, number)


@settings(max_examples=300)
@given(st.integers(0, 10**18), st.integers(0, 10**18), st.integers(1, 10**18))
def test_a_position_is_lost_if_its_remainders_are_a_pair(a: int, b: int, k: int) -> None:
    r, s = a % (k + 1), b % (k + 1)
    assert rules.is_lost(a, b, k) == (slow_lower(abs(r - s)) == min(r, s))


@settings(max_examples=300)
@given(st.integers(0, 10**18), st.integers(0, 10**18), st.one_of(st.integers(1, 100), st.integers(1, 10**6)))
def test_the_list_and_the_formula_agree_on_large_piles(a: int, b: int, k: int) -> None:
    instance = instance_of((a, b + 1, k) if b < 10**18 else (a, b, k))
    linear, closed = (lasttreat.solve(instance, method=m, seed=1, seconds=60) for m in ("linear", "closed-form"))
    assert linear.moves.tolist() == closed.moves.tolist()
    assert score_answer(instance, closed).raw == 1


@settings(max_examples=300)
@given(st.integers(0, 10**18), st.integers(1, 10**18), st.integers(1, 10**18))
def test_the_formula_wins_at_the_largest_k_too(a: int, b: int, k: int) -> None:
    instance = instance_of((a, b, k))
    assert score_answer(instance, lasttreat.solve(instance, method="closed-form", seed=1, seconds=60)).raw == 1


@pytest.mark.parametrize(("name", "method"), [("small-12", "sieve"), ("medium-40", "memo"), ("huge-40", "closed-form")])
def test_moves_found_are_among_the_winning_ones_known(name: str, method: str) -> None:
    instance = read_instance((HANDMADE / f"{name}.in").read_bytes())
    lines = (HANDMADE / f"{name}.winning").read_text().splitlines()
    for line, (x, y) in zip(lines, solved(instance, method), strict=True):
        assert f"{x} {y}" in line.split("; ")


def test_every_known_winning_move_is_accepted() -> None:
    for name in ("small-12", "medium-40", "huge-40"):
        instance = read_instance((HANDMADE / f"{name}.in").read_bytes())
        lines = [line.split("; ") for line in (HANDMADE / f"{name}.winning").read_text().splitlines()]
        for turn in range(3):
            text = "".join(f"{line[turn % len(line)]}\n" for line in lines)
            assert score_answer(instance, read_answer(text.encode(), instance)).raw == 1


def several_steps(method: str) -> Instance:
    """Positions that each method needs more than one step for."""
    if method == "closed-form":
        return Instance(np.ones((70_000, 3), np.int64))
    if method == "linear":
        return instance_of((1, 1, 3_000_000), (2, 2, 1))
    return instance_of((3, 4, 2), (5, 3, 3))


@pytest.mark.parametrize("method", lasttreat.METHODS)
def test_a_method_that_is_asked_to_stop_has_no_answer_and_says_how_much_is_done(method: str) -> None:
    heard: list[Report] = []

    def stop(report: Report) -> bool:
        heard.append(report)
        return False

    instance, clock = several_steps(method), Clock(3600.0, 1000, stop, seconds_between_reports=0.0)
    work = Work(clock, np.zeros((instance.count, 2), np.int64))
    lasttreat.warm_up(method)
    lasttreat.METHODS[method].search(instance.rows, work)
    with pytest.raises(Unsolved, match=r"^asked to stop after \d+ of \d+ positions$"):
        work.finish()
    assert heard[-1].fraction == 1.0
    assert heard[-1].steps <= 2


@pytest.mark.parametrize("method", lasttreat.METHODS)
def test_a_method_whose_steps_end_first_has_no_answer(method: str) -> None:
    with pytest.raises(Unsolved, match=r"^its time or steps ended after \d+ of \d+ positions$"):
        solved(several_steps(method), method, steps=1)


@pytest.mark.parametrize("method", lasttreat.METHODS)
def test_a_method_without_any_time_has_no_answer(method: str) -> None:
    with pytest.raises(Unsolved, match=r"^its time or steps ended after 0 of 2 positions$"):
        lasttreat.solve(instance_of((3, 4, 2), (5, 3, 3)), method=method, seed=1, seconds=1e-9)


@pytest.mark.parametrize(
    ("method", "position"),
    [
        ("tree", (5000, 5000, 3)),
        ("memo", (5000, 5000, 3)),
        ("sieve", (10**9, 3, 3)),
        ("period", (10**6, 2, 10**6)),
        ("linear", (1, 2, 10**8)),
    ],
)
def test_what_is_too_large_for_a_method_is_named_before_any_work(method: str, position: Position) -> None:
    found = " ".join(map(str, position))
    with pytest.raises(Unsolved, match=rf"^position 2: this method takes .*, found {found}$"):
        solved(instance_of((1, 1, 1), position), method)


@pytest.mark.parametrize("method", ["memo", "sieve"])
def test_the_largest_tables_of_the_third_group_are_within_reach(method: str) -> None:
    move = solved(instance_of((3000, 2999, 3)), method)
    assert score_answer(instance_of((3000, 2999, 3)), Answer(np.array(move, np.int64))).raw == 1


def test_the_list_of_pairs_is_the_same_however_it_is_cut_into_turns() -> None:
    rows = np.array([[7, 9, 3_000_000], [2_000_001, 1_234_567, 2_500_000]], np.int64)
    work = Work(Clock(60, 100), np.zeros((2, 2), np.int64))
    fill_by_pairs(rows, work)
    assert work.clock.taken > 3
    assert (
        work.moves.tolist() == lasttreat.solve(Instance(rows), method="closed-form", seed=1, seconds=60).moves.tolist()
    )


def test_the_reference_file_is_an_answer() -> None:
    instance = instance_of((1, 2, 3), (4, 4, 2))
    answer = lasttreat.solve(instance, method=lasttreat.REFERENCE, seed=1, seconds=60)
    text = lasttreat.write_reference(instance, answer, seed=1)
    assert score_answer(instance, read_answer(text.encode(), instance)).multiplier == 1


def generate(*params: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, str(GENERATORS / "generate.py"), "--seed", "9", *params]
    return subprocess.run(command, capture_output=True, check=False)


def test_the_most_positions_of_the_largest_size_are_answered_in_a_file_of_at_most_four_mebibytes() -> None:
    data = generate("t=100000", f"n={10**18}", f"least={10**17}", f"most={10**18}").stdout
    instance = read_instance(data)
    assert instance.count == 100_000
    answer = lasttreat.solve(instance, method="closed-form", seed=1, seconds=60)
    written = write_answer(answer).encode()
    assert len(written) <= 4 * 2**20
    assert score_answer(instance, read_answer(written, instance)).raw == 1


@pytest.mark.parametrize("param", ["t=0", "t=100001", "t=x", "n=2", "least=5 most=4", "foo", "foo=1", "kind=other"])
def test_the_generator_says_what_it_does_not_understand(param: str) -> None:
    made = generate(*param.split())
    assert (made.returncode, made.stdout) == (2, b"")
    assert b"expected" in made.stderr
    assert b"Traceback" not in made.stderr


def test_small_lost_and_won_positions_are_both_drawn_often() -> None:
    rows = read_instance(generate("t=300", "n=9", "least=1", "most=8").stdout).rows.tolist()
    lost = sum(slow_lost(a, b, k) for a, b, k in rows)
    assert 50 < lost < 200
