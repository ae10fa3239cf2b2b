"""`jurado solve`, `methods` and `generate` find answers and inputs without a server."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from checkers.doors import open_checker
from tests.app.conftest import BOARD, Jurado

SMALL = ("--method", "greedy", "--steps", "3")


def test_the_answer_goes_to_stdout_and_a_summary_is_the_last_line_on_stderr(jurado: Jurado) -> None:
    done = jurado("solve", "comesolo", *SMALL, stdin=BOARD)
    assert done.exit_code == 0
    checker = open_checker("comesolo")
    assert checker.read_answer(done.stdout_bytes, checker.read_instance(BOARD)).count >= 1
    summary = done.stderr.splitlines()[-1]
    assert re.match(r"comesolo greedy: \d of 4 pieces eaten; raw \d of at most 3, .* s after .* s of start-up", summary)


def test_the_summary_is_json_where_json_is_asked_for(jurado: Jurado) -> None:
    done = jurado("solve", "comesolo", *SMALL, "--seed", "7", "--json", stdin=BOARD)
    summary = json.loads(done.stderr.splitlines()[-1])
    assert summary["done"] is True
    assert (summary["method"], summary["seed"], summary["steps"], summary["max_raw"]) == ("greedy", 7, 3, 3)
    assert {"seconds", "start_up", "states", "raw", "optimal", "version"} <= set(summary)


def test_the_same_seed_and_steps_give_the_same_answer(jurado: Jurado) -> None:
    board = jurado("generate", "comesolo", "--seed", "1").stdout_bytes
    first, second = (jurado("solve", "comesolo", *SMALL, stdin=board).stdout_bytes for _ in range(2))
    assert first == second != b""


def test_the_reference_file_is_written_beside_the_answer(jurado: Jurado, tmp_path: Path) -> None:
    jurado("solve", "comesolo", *SMALL, "--reference", tmp_path / "case.ans", stdin=BOARD)
    assert re.fullmatch(r"par \d+\nbest \d+\n", (tmp_path / "case.ans").read_text())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("comesol",), "no problem 'comesol'; did you mean comesolo?"),
        (("comesolo", "--method", "magic"), "no method 'magic' for comesolo; there are greedy"),
        (("comesolo",), "input: line 1: expected a size from 1 to 30"),
    ],
)
def test_wrong_usage_is_one_clear_line_and_exit_code_2(jurado: Jurado, words: tuple[str, ...], said: str) -> None:
    done = jurado("solve", *words, stdin=b"\x00junk")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert said in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gives_the_best_answer_so_far(signum: signal.Signals, jurado: Jurado) -> None:
    board = jurado("generate", "comesolo", "--seed", "3", "--param", "n=20").stdout_bytes
    command = [sys.executable, "-m", "solvers", "comesolo", "--method", "greedy", "--seconds", "250", "--progress-json"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(board)
        process.stdin.close()
        process.stdin = None
        process.stderr.readline()  # the search is on its way
        process.send_signal(signum)
        answer, talk = process.communicate()
    summary = json.loads(talk.splitlines()[-1])
    assert process.returncode == 0
    assert summary["stopped"] is True
    checker = open_checker("comesolo")
    assert checker.read_answer(answer, checker.read_instance(board)).count == summary["raw"]


def test_methods_are_listed_with_the_reference_among_them(jurado: Jurado) -> None:
    listed = json.loads(jurado("methods", "comesolo", "--json").stdout)
    assert listed["reference"] in listed["methods"]
    assert "greedy" in jurado("methods", "comesolo").stdout


def test_the_same_seed_generates_the_same_input(jurado: Jurado) -> None:
    words = ("generate", "comesolo", "--seed", "5", "--param", "n=6", "--param", "density=50")
    first = jurado(*words)
    assert first.stdout_bytes.startswith(b"6\n")
    assert jurado(*words).stdout_bytes == first.stdout_bytes


@pytest.mark.parametrize("param", ["n", "=3", "--out=x"])
def test_a_parameter_without_name_or_value_is_refused(jurado: Jurado, param: str) -> None:
    done = jurado("generate", "comesolo", "--seed", "1", f"--param={param}")
    assert done.exit_code == 2
    assert "expected NAME=VALUE" in done.stderr
