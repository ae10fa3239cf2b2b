"""The ladder of every bundled problem: each rung earns what its package says, and none more than the reference."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from app.packages.catalog import bundled
from app.packages.model import Package
from app.packages.read import read_package
from scripts.ladders import RECORDS, merged, page, read_records
from solvers.doors import open_solver

SLUGS = sorted(bundled())
MOST_SECONDS = 100
every_problem = pytest.mark.parametrize("slug", SLUGS)


def package(slug: str) -> Package:
    return read_package(bundled()[slug])


@every_problem
def test_every_method_has_its_place_on_the_ladder(slug: str) -> None:
    ladder = package(slug).settings.ladder
    assert ladder is not None
    assert set(ladder.points) == set(open_solver(slug).METHODS)
    assert ladder.points[open_solver(slug).REFERENCE][1] == max(most for _, most in ladder.points.values())


@every_problem
def test_the_short_ladder_is_short(slug: str) -> None:
    ladder = package(slug).settings.ladder
    assert ladder is not None
    assert ladder.short.seconds * len(ladder.short.cases) * len(ladder.points) <= MOST_SECONDS


@pytest.mark.long
@every_problem
def test_the_short_ladder_gives_the_points_that_the_package_expects(slug: str) -> None:
    command = [sys.executable, "-m", "app.commands", "ladder", slug, "--short", "--jobs", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    told = {
        rung["method"]: (rung["points"], rung["expected"], rung["cases"]) for rung in json.loads(done.stdout)["rungs"]
    }
    assert done.returncode == 0, told


def test_every_ladder_is_recorded_and_drawn() -> None:
    assert [told["problem"] for told in read_records()] == SLUGS
    for told in read_records():
        assert (RECORDS / f"{told['problem']}.svg").is_file()
        assert (RECORDS / f"{told['problem']}-time.svg").is_file() is bool(told["curves"])


def test_the_page_of_ladders_says_what_was_recorded() -> None:
    assert (RECORDS / "README.md").read_text() == page(read_records())


@every_problem
def test_the_recorded_ladder_is_that_of_the_package(slug: str) -> None:
    (told,) = [told for told in read_records() if told["problem"] == slug]
    ladder = package(slug).settings.ladder
    assert ladder is not None
    assert {rung["method"]: tuple(rung["expected"]) for rung in told["rungs"]} == ladder.points
    assert all(rung["as_expected"] for rung in told["rungs"])
    secret = {case.name for case in package(slug).cases if case.group != "sample"}
    assert all({case["case"] for case in rung["cases"]} == secret for rung in told["rungs"])


def test_a_method_recorded_alone_replaces_its_rung_and_leaves_the_others() -> None:
    old = {
        "seconds": 1,
        "rungs": [{"method": name, "points": 1} for name in ("first", "gone", "last")],
        "curves": [{"case": case, "method": "last", "points": []} for case in ("a", "b")],
    }
    new = {
        "seconds": 2,
        "rungs": [{"method": "middle", "points": 2}, {"method": "last", "points": 3}],
        "curves": [{"case": "a", "method": "middle", "points": [[0, 1]]}],
    }
    told = merged(old, new, ["first", "middle", "last"])
    assert told["seconds"] == 2
    assert [(rung["method"], rung["points"]) for rung in told["rungs"]] == [("first", 1), ("middle", 2), ("last", 3)]
    assert [(c["case"], c["method"]) for c in told["curves"]] == [("a", "middle"), ("a", "last"), ("b", "last")]
