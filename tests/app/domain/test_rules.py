"""A contest's document over a problem's own rule."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from app.domain.contests import Carry, Counting, Direction, Kind, ScoringRule
from app.domain.rules import default_rule, read_rule, write_rule
from tests.builders.scoring import rules

MOST = Fraction(100)


def read(document: dict[str, Any], kind: Kind = Kind.ABSOLUTE) -> ScoringRule:
    return read_rule(document, kind, Direction.MAXIMISE, MOST)


def test_absolute_problems_count_the_best_of_each_case_and_relative_ones_the_last_submission() -> None:
    assert read({}) == default_rule(Kind.ABSOLUTE, Direction.MAXIMISE, MOST)
    assert (read({}).counting, read({}).carry) == (Counting.BEST_CASE, Carry.BEST)
    assert read({}, Kind.RELATIVE).counting is Counting.LAST
    assert read({"kind": "relative"}).counting is Counting.LAST


@given(rule=rules)
def test_a_rule_that_was_written_is_read_back(rule: ScoringRule) -> None:
    assert read(write_rule(rule)) == rule


def test_points_may_be_exact_ratios() -> None:
    assert read({"max_points": "100/3"}).max_points == Fraction(100, 3)
    assert write_rule(read({"max_points": "100/3"}))["max_points"] == "100/3"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"kind": "best"}, "rule.kind: expected one of absolute, relative, rank, found 'best'"),
        ({"carry": 1}, "rule.carry: expected one of best, latest, none, found 1"),
        ({"reference_counts": "yes"}, "rule.reference_counts: expected true or false, found 'yes'"),
        ({"max_points": -1}, "rule.max_points: expected a number of points from 0 up, found -1"),
        ({"max_points": "1/0"}, "rule.max_points: expected a number of points from 0 up, found '1/0'"),
        ({"max_points": True}, "rule.max_points: expected a number of points from 0 up, found True"),
        ({"maximum": 1, "mode": 2}, "rule: expected the keys .*, found maximum, mode"),
    ],
)
def test_a_rule_that_is_not_one_says_where_it_goes_wrong(document: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(document)
