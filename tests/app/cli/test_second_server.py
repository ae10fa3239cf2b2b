"""Two servers want one home: one serves, the other says so or waits, and takes over once the first is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from app.cli.demo.service_process import stop
from app.packages.catalog import bundled


@contextmanager
def serving(home: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Start `jurado serve` on a home and a free port; stop it on the way out."""
    problems = home.parent / "problems"
    if not problems.exists():
        problems.mkdir()
        (problems / "comesolo").symlink_to(bundled()["comesolo"])
    command = [sys.executable, "-m", "app.cli", "serve", "--port", "0", "--home", str(home), *options]
    env = {**os.environ, "JURADO_PROBLEMS": str(problems), "JURADO_GRADERS": "1"}
    process = subprocess.Popen(
        command, cwd=home.parent, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        stop(process)
        assert process.stderr is not None
        process.stderr.close()


def first_line(process: subprocess.Popen[str]) -> str:
    """What it prints once it serves; empty if it ends before."""
    assert process.stdout is not None
    return process.stdout.readline()


def test_of_two_first_starts_at_once_one_serves_and_the_other_says_so(tmp_path: Path) -> None:
    with ExitStack() as stack:
        both = [stack.enter_context(serving(tmp_path / "var")) for _ in range(2)]
        lines = {process: first_line(process) for process in both}
        loser, winner = sorted(both, key=lambda process: lines[process])
        assert lines[winner].startswith("Jurado serves http://")
        assert lines[loser] == ""
        assert loser.wait(60) == 1
        assert loser.stderr is not None
        assert f"{(tmp_path / 'var').resolve()} is in use by " in loser.stderr.read()
        assert httpx.get(f"{lines[winner].split()[2]}/health/ready", timeout=60).status_code == 200


def test_a_standby_waits_and_takes_over_from_a_server_that_is_killed(tmp_path: Path) -> None:
    with serving(tmp_path / "var") as first, ExitStack() as stack:
        assert first_line(first).startswith("Jurado serves")
        second = stack.enter_context(serving(tmp_path / "var", "--standby"))
        assert second.stderr is not None
        waiting = second.stderr.readline()
        assert "waiting: " in waiting
        assert f"process {first.pid}" in waiting
        first.kill()
        line = first_line(second)
        assert line.startswith("Jurado serves")
        assert httpx.get(f"{line.split()[2]}/health/ready", timeout=60).status_code == 200
