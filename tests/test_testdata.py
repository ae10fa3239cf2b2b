"""The test data of every problem can be made again from its plan, byte for byte."""

from __future__ import annotations

import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
import yaml

from tests.conftest import missing_protections

PROJECT = Path(__file__).resolve().parents[1]
PLANS = sorted(PROJECT.glob("problems/*/generators/cases.yaml"))
PLAYED = sorted(PROJECT.glob("problems/games/*/generators/cases.yaml"))
EXAMPLES = sorted(path.with_name("make_examples.py") for path in (*PLANS, *PLAYED))
BY_SLUG = pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.parents[1].name)


def make_testdata(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROJECT / "scripts/make_testdata.py"), "--check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def smallest_case(plan: Path) -> str:
    cases = yaml.safe_load(plan.read_text())["cases"]
    files = [plan.parents[1] / "data" / case["group"] / f"{case['name']}.in" for case in cases]
    return min(files, key=lambda path: path.stat().st_size).stem


@pytest.mark.parametrize("plan", PLANS if missing_protections() else PLANS[:1], ids=lambda plan: plan.parents[1].name)
def test_the_generators_make_every_input_again_byte_for_byte(plan: Path) -> None:
    """Of one problem: `tests/test_problems.py` runs all generators in the sandbox, where there is one."""
    made = make_testdata("--inputs-only", "--problem", plan.parents[1].name)
    assert (made.returncode, "found" in made.stderr) == (0, False), made.stderr


def test_the_reference_and_the_other_methods_make_the_smallest_cases_answers_again() -> None:
    """All in one process: it imports as much for one problem as for all."""
    words = [["--problem", plan.parents[1].name, "--case", smallest_case(plan)] for plan in (*PLANS, *PLAYED)]
    made = make_testdata(*chain.from_iterable(words))
    assert (made.returncode, "found" in made.stderr) == (0, False), made.stderr


def test_what_differs_is_named() -> None:
    made = make_testdata("--inputs-only", "--problem", "nosuchproblem")
    assert made.returncode == 1
    assert "nosuchproblem" in made.stderr


def test_a_problem_may_be_named_by_its_slug_alone_and_a_misspelt_one_gets_the_nearest() -> None:
    made = make_testdata(
        "--inputs-only", "netgame", "--case", smallest_case(PROJECT / "problems/netgame/generators/cases.yaml")
    )
    assert (made.returncode, "found" in made.stderr) == (0, False), made.stderr
    typo = make_testdata("--inputs-only", "netgam")
    assert (typo.returncode, typo.stderr.strip()) == (
        1,
        "no problem 'netgam' with a plan of its test data; did you mean netgame?",
    )


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.parents[1].name)
def test_the_examples_of_good_and_bad_files_are_made_again_byte_for_byte(script: Path, tmp_path: Path) -> None:
    package = script.parents[1]
    copy = tmp_path / package.name
    shutil.copytree(package, copy)
    subprocess.run([sys.executable, str(copy / script.relative_to(package))], check=True)
    assert contents(copy) == contents(package)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
