"""Run the methods of a solver on many inputs, in processes bounded in time and memory, on all the cores there are."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from app.cli.solver_process import command, environment
from app.grading.solver_process import INTERPRETER_BYTES, START_UP_SECONDS

OVERRUN = 2.0
"""A solver that has not answered after this many times its limit (and the start-up) is killed."""


@dataclass(frozen=True, slots=True)
class Task:
    """One method on some inputs, one after the other in one process: limits in seconds and MiB for each of them."""

    problem: str
    method: str
    inputs: tuple[Path, ...]
    out: Path
    seconds: float
    memory: int
    seed: int


OnDone = Callable[[Task, dict[str, Any]], None]
"""Called, from several threads, with the summary of every run (see `python -m solvers`)."""


@dataclass
class Runner:
    """Runs tasks side by side; leaving it by an exception kills what still runs."""

    on_done: OnDone
    _living: set[int] = field(default_factory=set)
    _closed: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, tasks: Sequence[Task], *, jobs: int) -> None:
        """Run all tasks, `jobs` at a time; a solver that fails is a summary too, never an exception."""
        with ThreadPoolExecutor(jobs) as pool:
            try:
                for finished in [pool.submit(self._run, task) for task in tasks]:
                    finished.result()
            except BaseException:
                self._kill_all()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _run(self, task: Task) -> None:
        """One process after another, until every input has its summary: one that dies costs one input only."""
        left = list(task.inputs)
        while left and not self._closed:
            complaint = "the solver ended without a word"
            for said in self._listen(task, left):
                if "done" in said:
                    left = [path for path in left if path.stem != said["instance"]]
                    self.on_done(task, said)
                else:
                    complaint = said.get("error", complaint)
            if left and not self._closed:
                self.on_done(task, failure(left.pop(0).stem, complaint))

    def _listen(self, task: Task, inputs: Sequence[Path]) -> Iterator[dict[str, Any]]:
        """Start a process on the inputs and yield what it says, but for its progress."""
        with self._start(task, inputs) as process:
            watch = Watchdog(process, task.seconds * OVERRUN + START_UP_SECONDS)
            try:
                assert process.stderr is not None  # it is a pipe
                for line in process.stderr:
                    said = parse(line)
                    if "fraction" not in said:
                        watch.rearm()
                        yield said
            finally:
                watch.stop()
                with self._lock:
                    self._living.discard(process.pid)
        if watch.barked:
            yield {"error": f"killed: no answer after {OVERRUN:g} times its {task.seconds:g} seconds"}

    def _start(self, task: Task, inputs: Sequence[Path]) -> subprocess.Popen[str]:
        bound = str(task.memory * 2**20 + INTERPRETER_BYTES)
        options = ["--method", task.method, "--seed", str(task.seed), "--seconds", str(task.seconds)]
        files = ["--progress-json", "--out", str(task.out), *map(str, inputs)]
        solver = command("solvers", task.problem, *options, *files)
        with self._lock:
            process = subprocess.Popen(
                [*command("app.grading.bounded", bound), *solver],
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            self._living.add(process.pid)
        return process

    def _kill_all(self) -> None:
        with self._lock:
            self._closed = True
            for pid in self._living:
                with suppress(psutil.NoSuchProcess):
                    psutil.Process(pid).kill()


class Watchdog:
    """Kills a process that has said nothing for `seconds`."""

    def __init__(self, process: subprocess.Popen[str], seconds: float) -> None:
        self.barked = False
        self._process, self._seconds = process, seconds
        self.rearm()

    def rearm(self) -> None:
        """Begin to count anew."""
        if hasattr(self, "_timer"):
            self.stop()
        self._timer = threading.Timer(self._seconds, self._bark)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """Count no more."""
        self._timer.cancel()

    def _bark(self) -> None:
        self.barked = True
        self._process.kill()


def failure(instance: str, why: str) -> dict[str, Any]:
    """Make the summary of a run that has left none."""
    return {"done": True, "instance": instance, "unsolved": True, "message": why, "seconds": None, "memory": None}


def parse(line: str) -> dict[str, Any]:
    """Read one line of a solver; one that is no JSON (a library's warning) may explain a failure."""
    try:
        said = json.loads(line)
    except ValueError:
        return {"error": line.strip()} if line.strip() else {}
    return said if isinstance(said, dict) else {}
