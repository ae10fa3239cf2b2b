"""Points as whole grains: nothing is lost between a problem, its groups and its cases, and sums have no order."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import ldexp
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.contests import EVERY, PROVISIONAL, Aggregation, ScoredProblem
from app.domain.incremental_scoring import all_shown
from app.domain.scoring import BELOW, cut, earned, grain_bits, shown, total_scale, weights
from tests.builders.scoring import problems, share
from tests.builders.slow_board import total_points

amounts = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9, max_denominator=10**9)
shares = st.floats(0, 1)


@given(amounts)
def test_a_grain_is_as_small_as_lets_all_grains_fit(most: Fraction) -> None:
    bits = grain_bits(most)
    assert most * Fraction(2) ** bits < BELOW
    assert most * Fraction(2) ** (bits + 1) >= BELOW


def test_nothing_has_grains_of_a_point() -> None:
    assert grain_bits(Fraction(0)) == 0


@given(st.integers(0, BELOW - 1), shares, shares)
def test_a_larger_share_never_earns_less_and_all_of_it_earns_all(weight: int, one: float, other: float) -> None:
    small, large = sorted((one, other))
    assert 0 <= earned(weight, small) <= earned(weight, large) <= weight
    assert (earned(weight, 0.0), earned(weight, 1.0)) == (0, weight)


@given(problems, st.fractions(min_value=Fraction(1, 997), max_value=1000, max_denominator=997), st.booleans())
def test_cases_are_their_group_and_groups_are_the_problem(problem: ScoredProblem, most: Fraction, finals: bool) -> None:
    problem = replace(problem, rule=replace(problem.rule, max_points=most))
    scale = weights(problem, EVERY if finals else PROVISIONAL)
    assert sum(each.full for each in scale.groups if each.counts) == scale.full
    for each in scale.groups:
        if each.group.aggregation is Aggregation.SUM:
            assert sum(scale.cases[name] for name in each.cases) == each.full
    assert (scale.points(scale.full), scale.points(0)) == (float(most), 0.0)
    assert abs(Fraction(scale.full) / Fraction(2) ** scale.bits - most) <= Fraction(1, 2) / Fraction(2) ** scale.bits


@given(problems)
def test_equal_problems_have_equal_weights_and_one_problem_has_them_worked_out_once(problem: ScoredProblem) -> None:
    twin = replace(problem, rule=replace(problem.rule))
    assert weights(problem, PROVISIONAL) is weights(problem, PROVISIONAL)
    assert weights(twin, PROVISIONAL) == weights(problem, PROVISIONAL)
    richer = replace(problem, rule=replace(problem.rule, max_points=problem.rule.max_points + 1))
    assert weights(richer, PROVISIONAL) != weights(problem, PROVISIONAL)


@given(st.lists(problems, min_size=1, max_size=4), st.lists(shares, min_size=4, max_size=4), st.integers())
def test_a_sum_has_no_order_and_is_that_of_the_exact_grains(
    several: list[ScoredProblem], parts: list[float], seed: int
) -> None:
    scale = total_scale(several)
    points = [float(each.rule.max_points) * part for each, part in zip(several, parts, strict=False)]
    slow = sum(round(Fraction(each) * Fraction(2) ** scale.bits) for each in points)
    shuffled = Random(seed).sample(points, len(points))
    exact = ldexp(float(slow), -scale.bits)
    assert total_points(points, scale) == total_points(shuffled, scale) == shown(exact, scale.most)


def test_a_share_of_a_case_is_what_a_checker_gave() -> None:
    assert earned(2**40, float(share(Fraction(1, 4)).multiplier or 0)) == 2**38


@given(st.floats(0, 1e12), st.floats(0, 1e12))
def test_points_are_rounded_to_nine_decimals_but_the_maximum_is_not(points: float, most: float) -> None:
    points = min(points, most)
    assert all_shown(np.array([points]), most).tolist() == [shown(points, most)]
    assert shown(most, most) == most
    assert abs(shown(points, most) - points) <= max(0.51e-9, points * 2.0**-52)


@pytest.mark.parametrize(
    ("points", "digits", "units"),
    [
        (99.996, 2, 9999),
        (62.99999999999999, 2, 6299),
        (62.99999999999999, 1, 629),
        (0.29, 2, 29),
        (1.15, 2, 115),
        (63.0, 2, 6300),
        (33.333333333, 2, 3333),
        (0.0, 1, 0),
    ],
)
def test_points_are_cut_to_fewer_decimals_and_never_rounded_up(points: float, digits: int, units: int) -> None:
    assert cut(points, digits) == units / 10**digits


@given(st.decimals(0, 10**6, places=9), st.integers(0, 3))
def test_a_decimal_is_cut_as_it_is_written(points: Decimal, digits: int) -> None:
    assert cut(float(points), digits) == int(points * 10**digits) / 10**digits
