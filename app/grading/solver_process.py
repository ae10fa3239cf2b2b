"""One run of a reference solver, as a process of its own: bounded in time and memory, killable with its whole tree."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from app.grading.environment import clean_environment
from app.grading.leftovers import solver_folder

INTERPRETER_BYTES = 2 * 2**30  # what Python, numpy and the compiler map before a solver has stored anything
START_UP_SECONDS = 120.0  # kernels may have to be compiled first
KEPT_OUTPUT = 64 * 2**20


class SolverFailed(Exception):
    """The solver ended without an answer; the text says how."""


@dataclass(frozen=True, slots=True)
class SolverRun:
    """What to run: `memory` in MiB, `seconds` of search."""

    solver: str
    method: str
    seed: int
    seconds: float
    memory: int


@dataclass(frozen=True, slots=True)
class Solved:
    """The answer, the expected-answer file made from it, and the solver's summary (its provenance)."""

    answer: bytes
    reference: bytes
    summary: dict[str, Any]


class SolverProcess:
    """Runs one solver. `kill` may be called from another thread at any time; the run then raises SolverFailed."""

    def __init__(self, run: SolverRun) -> None:
        self._run = run
        self._process: subprocess.Popen[str] | None = None
        self._killed = ""
        self._lock = threading.Lock()

    def solve(self, data: bytes, on_report: Callable[[dict[str, Any]], None]) -> Solved:
        """Feed the input, pass progress on, and wait for the answer. Raises SolverFailed."""
        with solver_folder() as folder:
            (folder / "input").write_bytes(data)
            timer = threading.Timer(self._run.seconds + START_UP_SECONDS, self.kill, ["it ran over its time"])
            timer.start()
            try:
                summary = self._watch(folder, on_report)
            finally:
                timer.cancel()
                self.kill("the run is over")
            return Solved(_read(folder / "answer"), _read(folder / "reference"), summary)

    def kill(self, why: str = "it was cancelled") -> None:
        """End the process and everything it started."""
        with self._lock:
            self._killed = self._killed or why
            if self._process is None or self._process.poll() is not None:
                return
            with contextlib.suppress(psutil.NoSuchProcess):
                root = psutil.Process(self._process.pid)
                for process in [*root.children(recursive=True), root]:
                    with contextlib.suppress(psutil.NoSuchProcess):
                        process.kill()

    def _watch(self, folder: Path, on_report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        last: dict[str, Any] = {}
        with self._start(folder) as process:
            assert process.stderr is not None  # it is a pipe
            for line in process.stderr:
                last = parse(line) or last
                if "fraction" in last:
                    on_report(last)
            status = process.wait()
        if last.get("done") and status == 0:
            return last
        raise SolverFailed(last.get("error") or self._killed or f"it ended with status {status}")

    def _start(self, folder: Path) -> subprocess.Popen[str]:
        run = self._run
        memory = str(run.memory * 2**20 + INTERPRETER_BYTES)
        solver = ["solvers", run.solver, "--method", run.method, "--seed", str(run.seed)]
        options = ["--seconds", str(run.seconds), "--progress-json", "--reference", str(folder / "reference")]
        bounded = [sys.executable, "-m", "app.grading.memory_limit", memory, str(folder)]
        with self._lock, (folder / "input").open("rb") as given, (folder / "answer").open("wb") as out:
            if self._killed:
                raise SolverFailed(self._killed)
            self._process = subprocess.Popen(
                [*bounded, *solver, *options],
                stdin=given,
                stdout=out,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
                env={**clean_environment(), "TMPDIR": str(folder)},
            )
        return self._process


def parse(line: str) -> dict[str, Any]:
    """Read one line of a solver; one that is no JSON (a library's warning) is kept as the error it may explain."""
    try:
        found = json.loads(line)
    except ValueError:
        return {"error": line.strip()} if line.strip() else {}
    return found if isinstance(found, dict) else {}


def _read(path: Path) -> bytes:
    if path.stat().st_size > KEPT_OUTPUT:
        raise SolverFailed(f"it wrote more than {KEPT_OUTPUT} bytes")
    return path.read_bytes()
