"""`python -m solvers`: what programs that start it rely on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BOARD = b"3\nooo\no..\n...\n"
SMALL = ("--method", "greedy", "--steps", "2", "--progress-json")


def solvers(*words: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "solvers", *map(str, words)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False)


def lines(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stderr.splitlines()]


def test_reports_come_first_and_the_summary_is_the_last_line(tmp_path: Path) -> None:
    done = solvers("comesolo", *SMALL, "--reference", tmp_path / "case.ans", stdin=BOARD)
    *reports, summary = lines(done)
    assert done.returncode == 0
    assert all(set(report) == {"fraction", "best", "states", "note"} for report in reports)
    assert summary["done"] is True
    keys = {"method", "seed", "seconds", "steps", "states", "raw", "max_raw", "version"}
    assert keys <= set(summary)
    assert done.stdout.startswith(str(summary["raw"]).encode() + b"\n")
    assert (tmp_path / "case.ans").read_text().startswith("par ")


def test_nothing_but_errors_is_on_stderr_unless_progress_is_asked_for() -> None:
    done = solvers("comesolo", "--method", "greedy", "--steps", "2", stdin=BOARD)
    assert (done.returncode, done.stderr) == (0, b"")


def test_many_files_are_solved_in_one_process(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.in").write_bytes(BOARD)
    done = solvers("comesolo", *SMALL, "--out", tmp_path, tmp_path / "one.in", tmp_path / "two.in")
    assert done.returncode == 0
    assert [line["instance"] for line in lines(done) if "done" in line] == ["one", "two"]
    assert (tmp_path / "one.out").read_bytes() == (tmp_path / "two.out").read_bytes() != b""


def test_the_start_up_of_a_later_file_does_not_hold_the_searches_before_it(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.in").write_bytes(BOARD)
    words = ("--method", "greedy", "--seconds", "1.5", "--progress-json", "--out", tmp_path)
    done = solvers("comesolo", *words, tmp_path / "one.in", tmp_path / "two.in")
    first, second = (line for line in lines(done) if "done" in line)
    assert second["start_up"] < first["start_up"]  # type: ignore[operator]  # which holds the start of the process


@pytest.mark.parametrize(
    ("words", "stdin", "error"),
    [
        (("comesolo",), b"nonsense", "input: line 1: expected a size from 1 to 30"),
        (("comesolo", "--method", "magic"), BOARD, "no method 'magic' for comesolo"),
        (("comesolo", "--method", "baem"), BOARD, "no method 'baem' for comesolo; did you mean beam?"),
        (("comesola",), BOARD, "no solver for the problem 'comesola'; did you mean comesolo?"),
        (("comesolo", "--out", ".", "nowhere.in"), b"", "nowhere.in: No such file or directory"),
        (("comesolo", "nowhere.in"), BOARD, "expected an input on standard input"),
    ],
)
def test_what_cannot_be_done_is_exit_code_2_and_an_error_in_json(
    words: tuple[str, ...], stdin: bytes, error: str
) -> None:
    done = solvers(*words, "--progress-json", stdin=stdin)
    assert done.returncode == 2
    assert done.stdout == b""
    (said,) = lines(done)
    assert str(said["error"]).startswith(error)


@pytest.mark.parametrize("words", [("--seed", "-1"), ("--seed", str(2**63)), ("--seconds", "nan"), ("--steps", "x")])
def test_numbers_out_of_range_are_wrong_usage(words: tuple[str, str]) -> None:
    assert solvers("comesolo", *words, stdin=BOARD).returncode == 2


def test_methods_are_listed_as_json() -> None:
    listed = json.loads(solvers("comesolo", "--methods").stdout)
    assert set(listed["methods"][listed["reference"]]) == {"summary", "anytime", "seconds"}


ROW = b"14\n" + b"".join(b"%d 0 %d 0\n" % (x, x + 1) for x in range(14))
"""One rope more than netgame's table of figures has."""


def test_a_method_without_an_answer_says_why_and_writes_none() -> None:
    done = solvers("netgame", "--method", "figures", "--progress-json", stdin=ROW)
    assert (done.returncode, done.stdout) == (1, b"")
    assert str(lines(done)[-1]["error"]).startswith("no answer found: ")


def test_an_input_without_an_answer_has_a_summary_and_the_next_one_follows(tmp_path: Path) -> None:
    (tmp_path / "long.in").write_bytes(ROW)
    (tmp_path / "short.in").write_bytes(b"1\n0 0 1 0\n")
    words = ("--method", "figures", "--progress-json", "--out", tmp_path, tmp_path / "long.in", tmp_path / "short.in")
    done = solvers("netgame", *words)
    told = [(said["instance"], said["unsolved"], said["raw"]) for said in lines(done) if "done" in said]
    assert (done.returncode, told) == (0, [("long", True, None), ("short", False, 1)])
    assert not (tmp_path / "long.out").exists()
