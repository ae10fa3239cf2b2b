"""What holds for every bundled package that is played."""

from __future__ import annotations

from functools import cache

import pytest

from app.packages.catalog import bundled, bundled_games
from app.packages.model import Package, write_archive
from app.packages.read import read_archive, read_package
from app.packages.tools import local_workshop
from app.packages.trials import LocalDesk
from app.packages.verify import Examination, examine
from games import checker
from games.catalog import names, open_game
from games.transcript import read

SLUGS = sorted(bundled_games())
MOST_MOVES = 100
every_package = pytest.mark.parametrize("slug", SLUGS)
LEVELS = {
    "1-ten": (10, 10),
    "2-two-hundred": (200, 200),
    "3-three-thousand": (3000, 3000),
    "4-two-thousand": (50_000, 2000),
    "5-million": (2 * 10**7, 10**6),
}
"""The largest pile and the largest K of each level of the source; a game of more moves than a pile can hold is none."""


@cache
def package(slug: str) -> Package:
    return read_package(bundled_games()[slug])


@cache
def examined(slug: str) -> Examination:
    return examine(package(slug), LocalDesk(), workshop=local_workshop())


def test_each_game_has_a_package_and_the_six_problems_are_as_they_were() -> None:
    assert {package(slug).settings.game.name for slug in SLUGS} == set(names())
    assert not set(SLUGS) & set(bundled())
    assert len(bundled()) == 6


@every_package
def test_the_package_verifies_without_errors_and_warnings(slug: str) -> None:
    lack = local_workshop().lack
    faults = [str(fault) for fault in examined(slug).faults if fault.severity != "note"]
    assert [fault for fault in faults if not lack or lack not in fault] == []


@every_package
def test_the_package_survives_being_packed(slug: str) -> None:
    assert read_archive(write_archive(package(slug))) == package(slug)


@every_package
def test_statement_and_solution_are_there_in_english_and_in_the_language_of_the_source(slug: str) -> None:
    languages = {"en", package(slug).settings.languages.source}
    assert set(package(slug).statements) == set(package(slug).solutions) == languages


@every_package
def test_every_case_is_won_within_few_moves_by_who_plays_well(slug: str) -> None:
    for case in package(slug).cases:
        checker.check_instance(checker.read_instance(case.input.read()))
        assert len(read(case.answer.read().decode()).moves) <= MOST_MOVES, case.name


def test_the_last_treat_has_the_levels_of_its_source_with_20_points_each() -> None:
    groups = {group.name.removeprefix("secret/"): group for group in package("lasttreatduel").groups[1:]}
    assert {name: group.max_score for name, group in groups.items()} == dict.fromkeys(LEVELS, 20)
    assert {group.aggregation for group in groups.values()} == {"pass-fail"}
    for case in package("lasttreatduel").cases:
        if case.group != "sample":
            start = checker.read_instance(case.input.read())
            a, b, k = open_game("lasttreat").start(start.instance).piles
            pile, most = LEVELS[case.group.removeprefix("secret/")]
            assert max(a, b) <= pile, case.name
            assert k <= most, case.name


def test_the_strategy_that_was_printed_wins_no_level_and_a_table_of_200_the_first_two() -> None:
    points = examined("lasttreatduel").points
    assert points["wrong_answer/mirror"] == 0
    assert points["partial/table"] == 40
    assert points["accepted/reference"] == 100
