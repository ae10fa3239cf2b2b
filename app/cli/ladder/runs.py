"""Run the methods of a solver on many inputs, in processes bounded in time and memory, on all the cores there are."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import psutil

from app.cli.solver_process import command, environment
from app.grading.solver_process import INTERPRETER_BYTES, START_UP_SECONDS, parse

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
"""Called with the summary of every run (see `python -m solvers`), from several threads but never from two at a time."""


@dataclass
class Runner:
    """Runs tasks side by side, once; leaving it by an exception kills what still runs."""

    on_done: OnDone
    _living: set[int] = field(default_factory=set)
    _stopped: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _telling: threading.Lock = field(default_factory=threading.Lock)

    def run(self, tasks: Sequence[Task], *, jobs: int) -> None:
        """Run all tasks, `jobs` at a time; a solver that fails is a summary too, never an exception."""
        with ThreadPoolExecutor(jobs) as pool:
            try:
                for finished in [pool.submit(self._run, task) for task in tasks]:
                    finished.result()
            except BaseException:
                self.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _run(self, task: Task) -> None:
        """One process after another, until every input has its summary: one that dies costs one input only."""
        left = list(task.inputs)
        while left and (process := self._start(task, left)) is not None:
            complaint = "the solver ended without a word"
            for said in self._listen(task, process):
                if "done" in said:
                    left = [path for path in left if path.stem != said["instance"]]
                    self._tell(task, said)
                else:
                    complaint = said.get("error", complaint)
            if left and not self._stopped:
                self._tell(task, failure(left.pop(0).stem, complaint))

    def _tell(self, task: Task, said: dict[str, Any]) -> None:
        with self._telling:
            self.on_done(task, said)

    def _listen(self, task: Task, process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
        """Yield what a process says, but for its progress; kill it where nobody listens to the end."""
        with process:
            watch = Watchdog(process, task.seconds * OVERRUN + START_UP_SECONDS)
            try:
                assert process.stderr is not None  # it is a pipe
                for line in process.stderr:
                    said = parse(line)
                    if "fraction" not in said:
                        watch.rearm()
                        yield said
            except BaseException:  # GeneratorExit too: leaving `with process` would wait for all of its inputs
                process.kill()
                raise
            finally:
                watch.stop()
                with self._lock:
                    self._living.discard(process.pid)
        if watch.barked:
            yield {"error": f"killed: no answer after {OVERRUN:g} times its {task.seconds:g} seconds"}

    def _start(self, task: Task, inputs: Sequence[Path]) -> subprocess.Popen[str] | None:
        """Start a process on the inputs; None once the runner is stopped, so that none is started behind its back."""
        bound = str(task.memory * 2**20 + INTERPRETER_BYTES)
        options = ["--method", task.method, "--seed", str(task.seed), "--seconds", str(task.seconds)]
        files = ["--progress-json", "--out", str(task.out), *map(str, inputs)]
        folders = [f"--read={folder}" for folder in sorted({str(path.parent.resolve()) for path in inputs})]
        solver = [*folders, "solvers", task.problem, *options, *files]
        task.out.mkdir(parents=True, exist_ok=True)  # the one folder that it may write to
        with self._lock:
            if self._stopped:
                return None
            process = subprocess.Popen(
                [*command("app.grading.memory_limit", bound, str(task.out)), *solver],
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

    def stop(self) -> None:
        """Kill what runs, and start nothing more; from any thread."""
        with self._lock:
            self._stopped = True
            for pid in self._living:
                with suppress(psutil.NoSuchProcess):
                    psutil.Process(pid).kill()


class Watchdog:
    """Kills a process that has said nothing for `seconds`."""

    def __init__(self, process: subprocess.Popen[str], seconds: float) -> None:
        self.barked = False
        self._process, self._seconds = process, seconds
        self._timer = self._begin()

    def rearm(self) -> None:
        """Begin to count anew."""
        self.stop()
        self._timer = self._begin()

    def stop(self) -> None:
        """Count no more."""
        self._timer.cancel()

    def _begin(self) -> threading.Timer:
        timer = threading.Timer(self._seconds, self._bark)
        timer.daemon = True
        timer.start()
        return timer

    def _bark(self) -> None:
        self.barked = True
        self._process.kill()


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """While inside, SIGTERM raises SystemExit, so that folders and processes are cleared away as after Ctrl-C.

    Only the main thread hears signals: in another one nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(signum: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + signum)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def failure(instance: str, why: str) -> dict[str, Any]:
    """Make the summary of a run that has left none."""
    return {"done": True, "instance": instance, "unsolved": True, "message": why, "seconds": None, "memory": None}
