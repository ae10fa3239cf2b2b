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

import psutil

from app.packages.catalog import bundled
from tests.app.conftest import Jurado


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
