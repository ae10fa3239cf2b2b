"""`jurado check` and `jurado package verify` of packages that bring their own checker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.conftest import Jurado
from tests.builders.packages import write_package
from tests.builders.programs import ABSOLUTE, VALIDATOR, own_checker

pytestmark = pytest.mark.machine("sandbox")


def test_one_answer_is_checked_by_the_checker_of_its_package(jurado: Jurado, tmp_path: Path) -> None:
    root = write_package(tmp_path, own_checker({"output_validator/validate.py": VALIDATOR}))
    case = (root, root / "data/secret/02.in", "-", "--reference", root / "data/secret/02.ans", "--json")
    accepted = jurado("check", *case, stdin="7\n")
    assert (accepted.exit_code, json.loads(accepted.stdout)["raw_score"]) == (0, 7)
    rejected = jurado("check", *case, stdin="seven\n")
    assert (rejected.exit_code, json.loads(rejected.stdout)["message"]) == (1, "line 1: expected a number")
    (root / "output_validator/validate.py").write_text("raise SystemExit(3)\n")
    failed = jurado("check", *case, stdin="7\n")
    assert (failed.exit_code, json.loads(failed.stdout)["verdict"]) == (2, "judge_error")


def test_a_package_is_verified_by_its_own_checker(jurado: Jurado, tmp_path: Path) -> None:
    """Its examples are held to its verdicts; a checker that cannot start is one fault, and names its file."""
    code = "def score(given, answer, reference):\n    return int(int(answer) == int(reference))\n"
    root = write_package(tmp_path, own_checker({"checker.py": code}, ABSOLUTE))
    verified = json.loads(jurado("package", "verify", root, "--json").stdout)
    assert (verified["valid"], verified["points"]) == (True, {"accepted/copy": 100.0})
    (root / "checker.py").write_text("def score(:\n")
    broken = json.loads(jurado("package", "verify", root, "--json").stdout)
    assert [fault["file"] for fault in broken["errors"]] == ["checker.py"]
    assert "SyntaxError" in broken["errors"][0]["message"]
