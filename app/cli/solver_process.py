"""Solvers run as processes of their own: `python -m solvers`, with progress read from its standard error."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Any

import app
from app.cli.output import Failure

ROOT = Path(app.__file__).resolve().parents[1]

OnProgress = Callable[[dict[str, Any]], None]
"""Called with every report, and with every summary."""


@dataclass(frozen=True)
class Solved:
    """An answer file and the summary of the run that made it."""

    answer: bytes
    summary: dict[str, Any]


def list_methods(problem: str) -> dict[str, Any]:
    """Ask a solver for its methods: {"reference": name, "methods": {name: {summary, anytime, seconds}}}."""
    done = subprocess.run(
        command("solvers", problem, "--methods"), env=environment(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise Failure(last_line(done.stderr))
    listed: dict[str, Any] = json.loads(done.stdout)
    return listed


def run_solver(problem: str, data: bytes, options: Sequence[str], on_progress: OnProgress) -> Solved:
    """Run a solver on an input. SIGINT and SIGTERM are passed on: the first one gives the best answer so far."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as target:
        source.write(data)
        source.seek(0)
        (summary,) = run([problem, *options], source, target, on_progress)
        target.seek(0)
        return Solved(target.read(), summary)


def run_solver_on_files(
    problem: str, files: Sequence[Path], out: Path, options: Sequence[str], on_progress: OnProgress
) -> list[dict[str, Any]]:
    """Run one solver process on file after file; the answers are out/NAME.out. Gives a summary of each run."""
    words = [problem, *options, "--out", str(out), *map(str, files)]
    with tempfile.TemporaryFile() as nothing:
        return run(words, nothing, nothing, on_progress)


def run(words: Sequence[str], source: IO[bytes], target: IO[bytes], on_progress: OnProgress) -> list[dict[str, Any]]:
    """Run `python -m solvers` and give what it says of its runs; raises Failure with its reason where it fails."""
    process = subprocess.Popen(
        command("solvers", "--progress-json", *words),
        env=environment(),
        stdin=source,
        stdout=target,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process, passing_signals_to(process):
        summaries, complaint = listen(process, on_progress)
    if process.returncode != 0 or not summaries:
        text = complaint or f"the solver ended with {process.returncode}"
        raise Failure(text, 2 if process.returncode == 2 else 1)
    return summaries


def command(module: str, *arguments: str) -> list[str]:
    """Give the command line of one of our own modules."""
    return [sys.executable, "-m", module, *arguments]


def environment() -> dict[str, str]:
    """Let the process find our modules, wherever it was started."""
    return os.environ | {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}


def last_line(text: str) -> str:
    """Take the last line that says something."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def listen(process: subprocess.Popen[str], on_progress: OnProgress) -> tuple[list[dict[str, Any]], str]:
    """Read the solver's lines until it ends; returns the summaries, and the error or the last line in no JSON."""
    summaries: list[dict[str, Any]] = []
    complaint = ""
    assert process.stderr is not None
    for line in process.stderr:
        said = json.loads(line) if line.startswith("{") else {"error": line.strip() or complaint}
        if "fraction" in said:
            on_progress(said)
        elif "done" in said:
            on_progress(said)
            summaries.append(said)
        else:
            complaint = said["error"]
    process.wait()
    return summaries, complaint


@contextmanager
def passing_signals_to(process: subprocess.Popen[str]) -> Iterator[None]:
    """While inside, SIGINT and SIGTERM go to the process; leaving by an exception kills it.

    Only the main thread hears signals: in another one the process is left alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def pass_on(signum: int, _frame: FrameType | None) -> None:
        process.send_signal(signum)

    before = {signum: signal.signal(signum, pass_on) for signum in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except BaseException:
        process.kill()
        raise
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
