"""What holds for every bundled problem, also for those not written yet: one contract over all slugs."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np
import pytest

from app.packages.catalog import bundled
from app.packages.model import Case, Package, write_archive
from app.packages.read import read_archive, read_package
from app.packages.tools import local_workshop
from checkers.doors import AnyChecker, open_checker
from solvers.doors import Solver, open_solver
from tests.builders.packages import verify_package

SLUGS = sorted(bundled())
HEADINGS = ["Instance", "Answer", "Raw score", "Rejected when", "Source"]
STEPS = 5

every_problem = pytest.mark.parametrize("slug", SLUGS)
every_method = pytest.mark.parametrize(
    ("slug", "method"), [(slug, method) for slug in SLUGS for method in open_solver(slug).METHODS]
)


@cache
def package(slug: str) -> Package:
    return read_package(bundled()[slug])


def checker(slug: str) -> AnyChecker:
    return open_checker(package(slug).settings.checker)


def smallest(slug: str) -> Case:
    return min(package(slug).cases, key=lambda case: len(case.input.read()))


def quick_answer(slug: str, method: str, seed: int) -> Any:
    solver: Solver[Any, Any] = open_solver(slug)
    instance = checker(slug).read_instance(smallest(slug).input.read())
    return solver.solve(instance, method=method, seed=seed, seconds=60.0, steps=STEPS)


def same(one: Any, other: Any) -> bool:
    """Equality that looks into dataclasses and arrays."""
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and np.array_equal(one, other)
    if dataclasses.is_dataclass(one):
        pairs = ((getattr(one, f.name), getattr(other, f.name)) for f in dataclasses.fields(one))
        return type(one) is type(other) and all(same(a, b) for a, b in pairs)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other)


def test_there_are_bundled_problems() -> None:
    assert {"comesolo", "rollingballs"} <= set(SLUGS)


@every_problem
def test_the_package_verifies_without_errors_and_warnings(slug: str) -> None:
    lack = local_workshop().lack
    faults = [str(fault) for fault in verify_package(package(slug)) if fault.severity != "note"]
    assert [fault for fault in faults if not lack or lack not in fault] == []


@every_problem
def test_the_package_survives_being_packed(slug: str) -> None:
    assert read_archive(write_archive(package(slug))) == package(slug)


@every_problem
def test_the_statement_is_there_in_english_and_in_the_language_of_the_source(slug: str) -> None:
    settings, statements = package(slug).settings, package(slug).statements
    assert {"en", settings.languages.source or "en"} <= set(statements)


@every_problem
def test_the_solution_text_is_there_in_every_language_of_the_statement(slug: str) -> None:
    assert set(package(slug).solutions) == set(package(slug).statements)
    assert all(text.text.strip() for text in package(slug).solutions.values())


@every_problem
def test_the_doors_of_the_checker_and_the_solver_are_there(slug: str) -> None:
    for door in ("read_instance", "read_answer", "write_answer", "score_answer"):
        assert callable(getattr(checker(slug), door))
    solver = open_solver(slug)
    assert solver.REFERENCE in solver.METHODS
    assert callable(solver.solve)
    assert callable(solver.write_reference)
    reference = package(slug).settings.reference
    assert reference is not None
    assert reference.method in solver.METHODS


@every_problem
def test_the_checker_describes_itself_under_the_same_headings(slug: str) -> None:
    lines = (checker(slug).__doc__ or "").splitlines()
    assert lines[0].endswith("."), "one sentence first"
    assert [line for line in lines[1:] if line and not line.startswith(" ")] == HEADINGS


@every_problem
def test_an_answer_read_and_written_is_the_same(slug: str) -> None:
    for submission in package(slug).submissions:
        if submission.path.startswith("accepted/"):
            files = {file.name.rpartition(".")[0]: file.read() for file in submission.answers}
            for case in package(slug).cases:
                if case.name in files:
                    instance = checker(slug).read_instance(case.input.read())
                    answer = checker(slug).read_answer(files[case.name], instance)
                    again = checker(slug).read_answer(checker(slug).write_answer(answer).encode(), instance)
                    assert same(again, answer), case.name


@every_method
def test_a_method_finds_an_answer_the_checker_accepts_and_the_same_for_the_same_seed(slug: str, method: str) -> None:
    case = smallest(slug)
    instance = checker(slug).read_instance(case.input.read())
    written, again = (checker(slug).write_answer(quick_answer(slug, method, seed=7)).encode() for _ in range(2))
    assert again == written
    score = checker(slug).score_answer(instance, checker(slug).read_answer(written, instance), case.answer.read())
    assert score.raw >= 0
    assert score.max_raw is None or score.raw <= score.max_raw
    assert score.multiplier is None or 0 <= score.multiplier <= 1
    assert len(written) <= package(slug).settings.answers.limit
