"""What `jurado package new` makes is sound, whatever is chosen, and its example submissions earn what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from app.packages.model import Package
from app.packages.read import assemble
from app.packages.skeletons.choices import (
    FITTING,
    CheckerKind,
    Choices,
    Scoring,
    faults_of,
)
from app.packages.skeletons.writing import OWN_FILES, functions, skeleton
from app.packages.tools import ask_here, local_workshop
from app.packages.trials import LocalDesk
from app.packages.verify import examine
from app.programs.model import CaseFiles
from tests.builders.examples import every
from tests.builders.packages import case_of, write_files

SCORINGS: tuple[Scoring, ...] = get_args(Scoring)
OFFERED = [
    pytest.param(scoring, checker, marks=pytest.mark.machine("sandbox") if checker in OWN_FILES else ())
    for scoring in SCORINGS
    for checker in FITTING[scoring]
]


def package_of(scoring: Scoring, checker: CheckerKind) -> Package:
    title = 'What\'s it: a "new" one? #1'
    choices = Choices(title, scoring, checker, ("en", "es", "pt-BR"))
    assert faults_of(choices) == []
    return assemble("fresh", skeleton("fresh", choices))


@pytest.mark.parametrize(("scoring", "checker"), every(2, OFFERED))
def test_a_new_package_of_each_kind_verifies_and_its_examples_earn_what_it_says(
    scoring: Scoring, checker: CheckerKind
) -> None:
    package = package_of(scoring, checker)
    examined = examine(package, LocalDesk(), workshop=local_workshop())
    assert [str(fault) for fault in examined.faults] == []
    simple = "partial/simple" if "partial/simple" in examined.points else "wrong_answer/simple"
    points = [examined.points[name] for name in ("accepted/reference", simple, "wrong_answer/unfinished")]
    assert points == sorted(points, reverse=True)
    assert points[0] == pytest.approx(100, abs=0 if checker != "metric" or scoring in ("minimise", "rank") else 10)
    assert points[2] == 0


@pytest.mark.parametrize(("scoring", "checker"), OFFERED)
def test_a_new_package_has_the_choices_in_its_files(scoring: Scoring, checker: CheckerKind) -> None:
    package = package_of(scoring, checker)
    kind = {"points": "absolute", "pass-fail": "absolute", "rank": "rank"}.get(scoring, "relative")
    assert package.settings.scoring.kind == kind
    assert package.settings.scoring.direction == ("minimise" if scoring in ("minimise", "rank") else "maximise")
    assert (package.program is not None) == (checker in OWN_FILES)
    assert set(package.statements) == set(package.solutions) == {"en", "es", "pt-BR"}
    assert set(package.problem.name.values()) == {'What\'s it: a "new" one? #1'}
    assert package.max_score == 100
    texts = [data.decode() for data in package.files.values()]
    assert not any(mark in text for text in texts for mark in ("{{ ", "{% "))


def test_only_one_checker_of_its_own_lies_in_a_new_package() -> None:
    assert "checker.py" in package_of("points", "python").files
    assert "output_validator/checker.cpp" not in package_of("points", "python").files
    own = package_of("points", "c++").files
    assert {"output_validator/checker.cpp", "include/testlib.h"} <= own.keys()
    assert "checker.py" not in own


def test_the_inputs_of_a_new_package_are_those_that_its_plan_generates() -> None:
    package = package_of("minimise", "metric")
    generate = functions(package.files["generators/generate.py"].decode())["generate"]
    case = case_of(package, "05")
    assert generate(104, houses=300).encode() == case.input.read()
    assert '{group: secret, name: "05", seed: 104' in package.files["generators/cases.yaml"].decode()


def test_what_does_not_go_together_is_named() -> None:
    odd = Choices("", "rank", "tokens", ("english", "en", "en"))
    assert [fault.partition(":")[0] for fault in faults_of(odd)] == ["--title", "--checker", "--language", "--language"]


def test_the_programs_of_a_new_package_run_by_themselves_and_are_written_as_the_project_writes(tmp_path: Path) -> None:
    """A case is made as its README says, by the programs alone."""
    for scoring, checker in (("maximise", "python"), ("rank", "metric"), ("points", "tokens")):
        folder = tmp_path / checker
        write_files(folder, package_of(scoring, checker).files)
        for program in ("input_validators/validate.py", "generators/generate.py", "solver.py"):
            assert (
                subprocess.run(
                    [sys.executable, "-m", "ruff", "format", "--check", "--line-length", "120", folder / program]
                ).returncode
                == 0
            )
        made = subprocess.run(
            [sys.executable, folder / "generators/generate.py", "--seed", "105"], capture_output=True, check=True
        )
        solved = subprocess.run(
            [sys.executable, folder / "solver.py"], input=made.stdout, capture_output=True, check=True
        )
        assert solved.stdout
        judged = subprocess.run([sys.executable, folder / "input_validators/validate.py"], input=made.stdout)
        assert judged.returncode == 42


SQUARE = b"4\n0 0\n3 4\n3 0\n0 4\n"
TOUR = b"0\n2\n1\n3\n"


@pytest.mark.machine("sandbox")
def test_the_small_testlib_rejects_what_testlib_rejects() -> None:
    """Its reader is strict; what is wrong with the jury's own files is a failure, and on no one."""
    program = package_of("pass-fail", "c++").program
    assert program is not None
    refused = {
        b"0 2 1": "Unexpected end of file - token expected",
        b"0 2 1 4": "Integer city equals to 4, violates the range [0, 3]",
        b"0 2 1 -1": "Integer city equals to -1, violates the range [0, 3]",
        b"0 2 1 x": 'Expected integer, but "x" found',
        b"0 2 1 03": 'Expected integer, but "03" found',
        b"0 2 1 99999999999999999999": 'Expected integer, but "99999999999999999999" found',
        b"0 2 1 3 0": "expected 4 cities, found more",
        b"0 2 1 2": "city 2 comes twice",
        b"0 1 2 3": "expected a tour of length 14 or less, found one of length 18",
    }
    cases = [CaseFiles("1-square", SQUARE, TOUR, answer) for answer in (*refused, TOUR, b"3 0 2 1\n\n")]
    opinions = ask_here(program, [*cases, CaseFiles("1-square", SQUARE, b"0 0 0 0", TOUR)])
    for opinion, words in zip(opinions, refused.values(), strict=False):
        assert opinion.decision is not None, opinion.fault
        assert (opinion.decision.score, words in opinion.decision.judges) == (None, True), opinion.decision
    assert [opinion.decision is not None and opinion.decision.score is not None for opinion in opinions[-3:]] == [
        True, True, False,
    ]  # fmt: skip
    assert "FAIL city 0 comes twice (answer)" in opinions[-1].fault
