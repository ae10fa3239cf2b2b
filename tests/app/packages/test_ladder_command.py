"""`jurado ladder` runs the methods as processes and tells what each of them earns."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.commands.solver_process import Run, Runner, Task
from app.packages.catalog import bundled
from tests.app.conftest import BOARD, Jurado


def run(tmp_path: Path, **changes: Any) -> list[Run]:
    data = changes.pop("data", BOARD)
    for name in ("one", "two"):
        (tmp_path / f"{name}.in").write_bytes(data)
    inputs = (tmp_path / "one.in", tmp_path / "two.in")
    task: dict[str, Any] = {"problem": "comesolo", "method": "greedy", "inputs": inputs, "out": tmp_path}
    limits = {"seconds": 60.0, "memory": 512, "seed": 1}  # `greedy` ends at once where it has all that can be eaten
    runs: list[Run] = []
    Runner(lambda _task, run: runs.append(run)).run([Task(**(task | limits | changes))], jobs=1)
    return runs


def test_one_process_solves_the_inputs_one_after_the_other(tmp_path: Path) -> None:
    runs = run(tmp_path)
    assert [each.instance for each in runs] == ["one", "two"]
    assert all(each.seconds >= 0 and each.memory >= 0 and not each.unsolved for each in runs)
    assert (tmp_path / "one.out").read_bytes() == (tmp_path / "two.out").read_bytes()


def test_a_solver_that_dies_costs_one_input_and_says_why(tmp_path: Path) -> None:
    runs = run(tmp_path, data=b"nonsense")
    assert [(each.instance, each.unsolved) for each in runs] == [("one", True), ("two", True)]
    assert "expected" in runs[0].message


def test_a_solver_that_is_not_there_is_told_too(tmp_path: Path) -> None:
    assert "no solver for the problem" in run(tmp_path, problem="nosuch")[0].message


def test_what_breaks_off_a_ladder_ends_its_processes(tmp_path: Path) -> None:
    (tmp_path / "one.in").write_bytes(BOARD)
    (tmp_path / "two.in").write_bytes(BOARD)

    def break_off(_task: Task, _run: Run) -> None:
        raise KeyboardInterrupt

    began = time.monotonic()
    quick = Task("comesolo", "greedy", (tmp_path / "one.in",), tmp_path, 60.0, 512, 1)
    endless = Task("comesolo", "greedy", (tmp_path / "two.in",), tmp_path, 3000.0, 512, 1)
    with pytest.raises(KeyboardInterrupt):
        Runner(break_off).run([quick, endless], jobs=2)
    assert time.monotonic() - began < 1000


ENDLESS = b"1\n1000 1000 50\n"
"""A position of lasttreat whose game tree nobody sees the end of."""


def climb_to_the_endless(tmp_path: Path, runner: Runner) -> float:
    """Let `tree` solve a position at once and then begin the endless one; the seconds until all was over."""
    (tmp_path / "one.in").write_bytes(b"1\n1 1 1\n")
    (tmp_path / "two.in").write_bytes(ENDLESS)
    inputs = (tmp_path / "one.in", tmp_path / "two.in")
    began = time.monotonic()
    with suppress(KeyError):
        runner.run([Task("lasttreat", "tree", inputs, tmp_path, 3000.0, 512, 1)], jobs=1)
    return time.monotonic() - began


def test_a_fault_while_a_result_is_taken_ends_the_process_that_gave_it(tmp_path: Path) -> None:
    def fail(_task: Task, run: Run) -> None:
        raise KeyError(run.instance)

    assert climb_to_the_endless(tmp_path, Runner(fail)) < 1000


def test_a_runner_that_was_stopped_starts_nothing_more_and_tells_of_nothing_more(tmp_path: Path) -> None:
    solved: list[str] = []

    def stop(_task: Task, run: Run) -> None:
        solved.append(run.instance)
        runner.stop()

    runner = Runner(stop)
    assert climb_to_the_endless(tmp_path, runner) < 1000
    climb_to_the_endless(tmp_path, runner)
    assert solved == ["one"]


def test_sigterm_ends_a_ladder_and_leaves_no_folder_behind(tmp_path: Path) -> None:
    """The first case is solved at once, the second one takes all of the time it is given."""
    folder, temporary = shutil.copytree(bundled()["comesolo"], tmp_path / "comesolo"), tmp_path / "temporary"
    temporary.mkdir()
    settings = (folder / "jurado.yaml").read_text(encoding="utf-8")
    cases = settings.replace("cases: [104-n15-p70,", "cases: [101-n05-p70, 104-n15-p70,")
    assert cases != settings
    (folder / "jurado.yaml").write_text(cases, encoding="utf-8")
    words = ["ladder", str(folder), "--short", "--method", "greedy", "--seconds", "3000", "--jobs", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "app.commands", *words],
        env=os.environ | {"TMPDIR": str(temporary)},
        stderr=subprocess.DEVNULL,
    )
    with process:
        while not is_any_child_busy(process.pid):  # with the second case: the first one takes less
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
    assert (process.returncode, list(temporary.iterdir())) == (128 + signal.SIGTERM, [])


def is_any_child_busy(pid: int) -> bool:
    """Whether a process below this one has had three seconds of the processor."""
    for child in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if child.cpu_times().user > 3:
                return True
    return False


def test_a_time_limit_has_an_end(jurado: Jurado) -> None:
    done = jurado("ladder", "comesolo", "--seconds", "inf")
    assert (done.exit_code, "--seconds" in done.stderr) == (2, True)


def comesolo_expecting(points: str, tmp_path: Path) -> Path:
    """A copy of comesolo whose greedy method is expected to earn these points."""
    folder = shutil.copytree(bundled()["comesolo"], tmp_path / "comesolo")
    settings = (folder / "jurado.yaml").read_text(encoding="utf-8")
    assert "{greedy: [30, 70]" in settings
    (folder / "jurado.yaml").write_text(settings.replace("{greedy: [30, 70]", f"{{greedy: {points}"), encoding="utf-8")
    return folder


QUICK = ("--short", "--method", "greedy", "--seconds", "0.05")


def test_methods_by_groups_are_a_table(jurado: Jurado, tmp_path: Path) -> None:
    done = jurado("ladder", comesolo_expecting("[0, 99]", tmp_path), *QUICK)
    assert done.exit_code == 0, done.stderr
    rows = [
        [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]
        for line in done.stdout.splitlines()
        if "│" in line or "┃" in line
    ]
    head, greedy, most = rows
    assert (head[0], head[-5:]) == ("method", ["points", "expected", "solved", "slowest s", "most MiB"])
    assert (greedy[0], greedy[-4]) == ("greedy", "0..99")
    assert 0 <= float(greedy[-5]) <= 99
    assert (most[0], most[-5]) == ("out of", "100")
    assert (int(greedy[-3]) >= 0, most[-3]) == (True, "3")


def test_other_points_than_expected_are_exit_code_1_and_named(jurado: Jurado, tmp_path: Path) -> None:
    done = jurado("ladder", comesolo_expecting("[99, 100]", tmp_path), *QUICK, "--json")
    document = json.loads(done.stdout)
    assert (done.exit_code, document["rungs"][0]["as_expected"]) == (1, False)
    assert "other points than expected: greedy" in done.stderr


def test_a_misspelt_method_is_told_with_the_nearest(jurado: Jurado) -> None:
    done = jurado("ladder", "comesolo", "--method", "bean")
    assert (done.exit_code, "did you mean beam?" in done.stderr) == (2, True)


def test_a_package_without_a_ladder_cannot_be_climbed(jurado: Jurado, tmp_path: Path) -> None:
    jurado("package", "new", tmp_path / "sums")
    done = jurado("ladder", tmp_path / "sums")
    assert done.exit_code == 2
    assert "expected a `ladder` in jurado.yaml" in done.stderr


def test_points_of_a_method_that_the_solver_does_not_have_are_a_fault(jurado: Jurado, tmp_path: Path) -> None:
    folder = shutil.copytree(bundled()["comesolo"], tmp_path / "comesolo")
    settings = (folder / "jurado.yaml").read_text(encoding="utf-8")
    (folder / "jurado.yaml").write_text(settings.replace("{greedy: ", "{greed: 3, greedy: "), encoding="utf-8")
    done = jurado("ladder", folder)
    assert done.exit_code == 2
    assert "expected methods of the solver (greedy, dfs, best-first, beam), found greed" in done.stderr
