"""The test data of every problem can be made again from its plan, byte for byte."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[1]
PLANS = sorted(PROJECT.glob("problems/*/generators/cases.yaml"))
BY_SLUG = pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.parents[1].name)


def make_testdata(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROJECT / "scripts/make_testdata.py"), "--check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def smallest_case(plan: Path) -> str:
    cases = yaml.safe_load(plan.read_text())["cases"]
    files = [plan.parents[1] / "data" / case["group"] / f"{case['name']}.in" for case in cases]
    return min(files, key=lambda path: path.stat().st_size).stem


@BY_SLUG
def test_the_generators_make_every_input_again_byte_for_byte(plan: Path) -> None:
    made = make_testdata("--inputs-only", "--problem", plan.parents[1].name)
    assert (made.returncode, "found" in made.stderr) == (0, False), made.stderr


@BY_SLUG
def test_the_reference_and_the_other_methods_make_the_smallest_cases_answers_again(plan: Path) -> None:
    made = make_testdata("--problem", plan.parents[1].name, "--case", smallest_case(plan))
    assert (made.returncode, "found" in made.stderr) == (0, False), made.stderr


def test_what_differs_is_named() -> None:
    made = make_testdata("--inputs-only", "--problem", "nosuchproblem")
    assert made.returncode == 1
    assert "nosuchproblem" in made.stderr
