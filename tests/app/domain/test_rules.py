"""A contest's document over a problem's own rule."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from app.contests.schemas import Rule
from app.domain.contests import Carry, Counting, Direction, Kind, ScoringRule
from app.domain.participation import default_rule
from tests.builders.scoring import rules

MOST = Fraction(100)


def read(document: dict[str, Any], kind: Kind = Kind.ABSOLUTE) -> ScoringRule:
    return Rule.model_validate(document).over(kind, Direction.MAXIMISE, MOST)


def test_absolute_problems_count_the_best_of_each_case_and_relative_ones_the_last_submission() -> None:
    assert read({}) == default_rule(Kind.ABSOLUTE, Direction.MAXIMISE, MOST)
    assert (read({}).counting, read({}).carry) == (Counting.BEST_CASE, Carry.BEST)
    assert read({}, Kind.RELATIVE).counting is Counting.LAST
    assert read({"kind": "relative"}).counting is Counting.LAST


@given(rule=rules)
def test_a_rule_that_was_written_is_read_back(rule: ScoringRule) -> None:
    assert Rule.of(rule).over(Kind.RANK, Direction.MINIMISE, Fraction(0)) == rule


def test_points_may_be_exact_ratios() -> None:
    assert read({"max_points": "100/3"}).max_points == Fraction(100, 3)
    assert Rule.of(read({"max_points": "100/3"})).max_points == "100/3"


@pytest.mark.parametrize("document", [{"kind": "best"}, {"max_points": -1}, {"max_points": "1/0"}, {"maximum": 1}])
def test_an_invalid_rule_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(document))):
        read(document)
