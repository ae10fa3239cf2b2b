"""The points of a ladder: cases scaled to their groups, relative scores against the best that is known."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from app.core.faults import PackageErrors
from app.packages.catalog import Climb, accepted_outcomes, ladder_points, plan_climb
from app.packages.read import read_package
from app.packages.trials import Outcome
from checkers.doors import Score
from tests.builders.packages import JURADO, write_package

RIGHT, HALF, WRONG = Outcome(Score(4, 4, 1)), Outcome(Score(2, 4, Fraction(1, 2))), Outcome(rejected="no")
LADDER = """\
ladder:
  seconds: 3
  memory: 64
  points: {low: [10, 30], high: 100}
  short: {seconds: 1, cases: ["02"]}
"""


QUOTED = '["02"]'


def climb(tmp_path: Path, *, short: bool = False, ladder: str = LADDER, jurado: str = JURADO) -> Climb:
    return plan_climb(read_package(write_package(tmp_path, {"jurado.yaml": jurado + ladder})), short=short)


def points(climb: Climb, **judged: dict[str, Outcome]) -> list[float]:
    return [told.points for told in ladder_points(climb, judged, {})]


def test_a_ladder_is_told_out_of_a_hundred(tmp_path: Path) -> None:
    assert points(climb(tmp_path), low={"02": RIGHT, "03": WRONG}, high={"02": RIGHT, "03": RIGHT}) == [50, 100]


def test_the_cases_of_a_short_ladder_stand_for_their_whole_group(tmp_path: Path) -> None:
    assert points(climb(tmp_path, short=True), low={"02": HALF}, high={"02": RIGHT}) == [50, 100]


def test_the_short_ladder_has_its_own_time_and_may_have_its_own_points(tmp_path: Path) -> None:
    own = LADDER.replace(QUOTED, QUOTED + ", points: {low: 7}")
    made = climb(tmp_path, short=True, ladder=own)
    assert (made.seconds, made.expected) == (1, {"low": (7, 7), "high": (100, 100)})
    assert climb(tmp_path / "whole", ladder=own).expected["low"] == (10, 30)


def test_relative_points_compare_with_the_best_method(tmp_path: Path) -> None:
    relative = JURADO.replace("absolute", "relative")
    both = {"02": HALF, "03": HALF}
    assert points(climb(tmp_path, jurado=relative), low=both, high={"02": RIGHT, "03": HALF}) == [75, 100]


def test_relative_points_compare_with_the_accepted_examples_too(tmp_path: Path) -> None:
    made = climb(tmp_path, jurado=JURADO.replace("absolute", "relative"))
    known = {"accepted/copy": {"02": RIGHT, "03": RIGHT}}
    assert [told.points for told in ladder_points(made, {"low": {"02": HALF, "03": HALF}}, known)] == [50]


def test_accepted_examples_are_judged_by_the_checker(tmp_path: Path) -> None:
    made = climb(tmp_path)
    outcomes = accepted_outcomes(made)
    assert [sorted(outcomes["accepted/copy"]), outcomes["accepted/copy"]["02"].rejected] == [["02", "03"], None]


def test_a_package_without_a_ladder_has_none_to_climb(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"expected a `ladder` in jurado\.yaml, found none"):
        climb(tmp_path, ladder="")


@pytest.mark.parametrize("cases", ['["01"]', '["99"]'])
def test_a_short_ladder_of_samples_or_unknown_cases_is_a_fault(tmp_path: Path, cases: str) -> None:
    with pytest.raises(ValueError, match=r"ladder\.short\.cases: expected secret cases, found"):
        climb(tmp_path, short=True, ladder=LADDER.replace(QUOTED, cases))


def test_a_case_that_the_short_ladder_names_twice_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ladder\.short\.cases: expected each case once, found 02 again"):
        climb(tmp_path, short=True, ladder=LADDER.replace(QUOTED, '["02", "02"]'))


def test_points_the_wrong_way_round_are_a_fault(tmp_path: Path) -> None:
    folder = write_package(tmp_path, {"jurado.yaml": JURADO + LADDER.replace("[10, 30]", "[30, 10]")})
    with pytest.raises(PackageErrors, match=r"ladder\.points\.low: expected \[least, most\], found \[30, 10\]"):
        read_package(folder)


@pytest.mark.parametrize(
    "ladder",
    [
        LADDER.replace("seconds: 3", "seconds: 0"),
        LADDER.replace("memory: 64", "memory: much"),
        LADDER.replace("[10, 30]", "[10, 30, 50]"),
        LADDER.replace("100}", "101}"),
        LADDER.replace(QUOTED, "[]"),
    ],
)
def test_a_ladder_that_cannot_be_read_is_refused_with_its_place(tmp_path: Path, ladder: str) -> None:
    folder = write_package(tmp_path, {"jurado.yaml": JURADO + ladder})
    with pytest.raises(PackageErrors, match=r"jurado\.yaml.*ladder"):
        read_package(folder)
