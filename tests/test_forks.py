"""Processes that are forked for tests are real: with what they were given, killed as others are, and never left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import psutil

from tests.conftest import forked
from tests.forks import KILLED, Forked

ITSELF = "import os, sys; print(os.environ['WORD'], os.getcwd(), os.getpid(), os.getsid(0), 'app.main' in sys.modules)"
WAITING = "import signal; print('up', flush=True); signal.pause()"


@contextmanager
def running(program: str, folder: Path, **variables: str) -> Iterator[tuple[Forked, IO[str]]]:
    """A process, with its output, that runs a program by the standard library's timeit, which runs any once."""
    command = [sys.executable, "-m", "timeit", "-n", "1", "-r", "1", program]
    env = {"PATH": os.environ["PATH"], **variables}
    process = forked(command, env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    with process.stdout as output:
        yield process, output
    process.give_up()


def test_a_process_has_its_environment_folder_and_session_and_the_imports_of_others(tmp_path: Path) -> None:
    with running(ITSELF, tmp_path, WORD="given") as (process, output):
        assert output.readline().split() == ["given", str(tmp_path), *[str(process.pid)] * 2, "True"]
        assert process.wait(60) == 0


def test_an_exception_is_printed_and_ends_a_process_with_1(tmp_path: Path) -> None:
    with running("1 / 0", tmp_path) as (process, output):
        assert "ZeroDivisionError" in output.read()
        assert process.wait(60) == 1


def test_a_process_that_is_killed_is_gone_with_that_status(tmp_path: Path) -> None:
    with running(WAITING, tmp_path) as (process, output):
        assert output.readline() == "up\n"
        assert process.poll() is None
        process.kill()
        assert process.wait(60) == KILLED == -signal.SIGKILL
        assert not psutil.pid_exists(process.pid)


def test_a_process_ends_with_whoever_asked_for_it(tmp_path: Path) -> None:
    with running(WAITING, tmp_path) as (process, output):
        assert output.readline() == "up\n"
        process.give_up()
        assert output.read() == ""  # the last one that could write has gone
