"""`jurado check` says what the judge would say, with exit codes for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.conftest import BOARD, Jurado

JUMP = b"1\n0 0 2 0\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "board.in").write_bytes(BOARD)
    (tmp_path / "jump.out").write_bytes(JUMP)
    (tmp_path / "wrong.out").write_bytes(b"1\n0 0 2 2\n")
    (tmp_path / "anchors.ans").write_text("par 0\nbest 2\n")
    return tmp_path


def test_an_accepted_answer_is_exit_code_0_and_tells_its_raw_score(jurado: Jurado, files: Path) -> None:
    done = jurado("check", "comesolo", files / "board.in", files / "jump.out")
    assert done.exit_code == 0
    assert done.stdout == "accepted: 1 of 4 pieces eaten; raw score 1 of at most 3\n"


def test_a_rejected_answer_is_exit_code_1_and_tells_where_expected_and_found(jurado: Jurado, files: Path) -> None:
    done = jurado("check", "comesolo", files / "board.in", files / "wrong.out")
    assert done.exit_code == 1
    assert done.stdout.startswith("rejected: jump 1 (line 2): expected a piece to jump over, found an empty cell")


def test_json_has_the_fields_of_the_contract(jurado: Jurado, files: Path) -> None:
    reference = ("--reference", files / "anchors.ans")
    done = jurado("check", "comesolo", files / "board.in", files / "jump.out", *reference, "--json")
    expected = {
        "verdict": "accepted",
        "raw_score": 1,
        "max_raw_score": 3,
        "multiplier": 0.5,
        "message": "1 of 4 pieces eaten",
    }
    assert json.loads(done.stdout) == expected


def test_json_of_a_rejected_answer_has_nulls_for_its_scores(jurado: Jurado, files: Path) -> None:
    done = jurado("check", "comesolo", files / "board.in", files / "wrong.out", "--json")
    said = json.loads(done.stdout)
    assert done.exit_code == 1
    assert said["verdict"] == "rejected"
    assert said["raw_score"] is said["max_raw_score"] is said["multiplier"] is None


@pytest.mark.parametrize("reference", ["par x", ""])
def test_a_damaged_reference_is_the_judges_fault(jurado: Jurado, files: Path, reference: str) -> None:
    (files / "anchors.ans").write_text(reference)
    done = jurado("check", "comesolo", files / "board.in", files / "jump.out", "--reference", files / "anchors.ans")
    assert done.exit_code == 2
    assert done.stderr.startswith("judge error: the checker failed: ValueError: ")


def test_a_damaged_input_is_the_judges_fault(jurado: Jurado, files: Path) -> None:
    done = jurado("check", "comesolo", files / "jump.out", files / "jump.out", "--json")
    assert done.exit_code == 2
    assert json.loads(done.stdout)["verdict"] == "judge_error"


def test_an_answer_over_the_limit_of_jurado_yaml_is_rejected(jurado: Jurado, files: Path) -> None:
    (files / "large.out").write_bytes(b" " * (2**20 + 1))
    done = jurado("check", "comesolo", files / "board.in", files / "large.out")
    assert (done.exit_code, done.stdout) == (1, "rejected: file: expected at most 1048576 bytes, found more\n")


@pytest.mark.parametrize("missing", ["nowhere.out", "."])
def test_a_file_that_cannot_be_read_is_one_clear_line(jurado: Jurado, files: Path, missing: str) -> None:
    done = jurado("check", "comesolo", files / "board.in", files / missing)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"jurado: answer {files / missing}: ")


def test_a_file_that_cannot_be_read_is_json_where_json_is_asked_for(jurado: Jurado, files: Path) -> None:
    done = jurado("check", "comesolo", files / "nowhere.in", files / "jump.out", "--json")
    assert done.exit_code == 2
    assert json.loads(done.stdout)["verdict"] == "judge_error"


def test_a_standard_checker_has_a_name_and_arguments(jurado: Jurado, files: Path) -> None:
    (files / "mine.out").write_text("Yes 1.0\n")
    (files / "case.ans").write_text("yes 1.001\n")
    words = ("check", "tokens", files / "board.in", files / "mine.out", "--reference", files / "case.ans")
    assert jurado(*words).exit_code == 1
    assert jurado(*words, "--arg", "float_tolerance", "--arg", "1e-2").exit_code == 0


@pytest.mark.parametrize("checker", ["tokens", "exact"])
def test_a_standard_checker_without_an_expected_answer_says_what_it_lacks(
    jurado: Jurado, files: Path, checker: str
) -> None:
    done = jurado("check", checker, files / "board.in", files / "good.out")
    assert done.exit_code == 2
    assert done.stderr == f"jurado: the checker {checker} compares with an expected answer: --reference FILE\n"


def test_a_misspelt_problem_gets_the_nearest_name(jurado: Jurado, files: Path) -> None:
    done = jurado("check", "comesola", files / "board.in", files / "jump.out")
    assert (done.exit_code, done.stderr) == (2, "jurado: no problem 'comesola'; did you mean comesolo?\n")
