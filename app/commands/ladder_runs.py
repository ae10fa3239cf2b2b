"""Run the methods of a solver on many inputs, in processes bounded in time and memory, on all the cores there are."""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from app.core.commands.modules import environment
from app.judging.service.solver_process import START_UP_SECONDS, Bounds, SolverProcess, Summary
from app.programs.tools import SolverReport

# A solver that has not answered after this many times its limit (and the start-up) is killed.
OVERRUN = 2.0
SILENT = "the solver ended without a word"


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


@dataclass(frozen=True, slots=True)
class Run:
    """A method's run on one input; seconds, start-up seconds and MiB are None where the solver left no summary."""

    instance: str
    unsolved: bool
    message: str
    raw: int | float | None = None
    seconds: float | None = None
    start_up: float | None = None
    memory: float | None = None


# Called with every run, from several threads but never from two at a time.
OnDone = Callable[[Task, Run], None]


@dataclass
class Runner:
    """Runs tasks side by side, once; leaving it by an exception kills the processes that still run."""

    on_done: OnDone
    _running: set[SolverProcess] = field(default_factory=set)
    _stopped: bool = False
    _lock: threading.RLock = field(default_factory=threading.RLock)  # who is told of a run may stop the runner

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
        """Run one process after another, until every input has its run: a process that dies costs one input only."""
        left = list(task.inputs)

        def on_report(report: SolverReport | Summary) -> None:
            if "done" in report:
                run = run_of(report)
                left[:] = [path for path in left if path.stem != run.instance]
                with self._lock:
                    self.on_done(task, run)

        while left and (process := self._start(task, left)) is not None:
            reason = f"killed: no answer after {OVERRUN:g} times its {task.seconds:g} seconds"
            try:
                ended = process.listen(on_report, task.seconds * OVERRUN + START_UP_SECONDS, reason)
            finally:
                with self._lock:
                    self._running.remove(process)
            if left and not self._stopped:
                why = ended.killed or ended.complaint or SILENT
                with self._lock:
                    self.on_done(task, Run(left.pop(0).stem, unsolved=True, message=why))

    def _start(self, task: Task, inputs: Sequence[Path]) -> SolverProcess | None:
        """Start a process on the inputs; None once the runner is stopped, so that none is started behind its back."""
        options = ["--method", task.method, "--seed", str(task.seed), "--seconds", str(task.seconds)]
        files = ["--out", str(task.out), *map(str, inputs)]
        bounds = Bounds(task.memory, task.out, sorted({path.parent.resolve() for path in inputs}))
        task.out.mkdir(parents=True, exist_ok=True)  # the one folder that it may write to
        process = SolverProcess()
        with self._lock:
            if self._stopped:
                return None
            process.start([task.problem, *options, *files], environment(), bounds=bounds)
            self._running.add(process)
        return process

    def stop(self) -> None:
        """Kill what runs, and start nothing more; from any thread."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.kill()


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


def run_of(summary: Summary) -> Run:
    """Take a run from the summary that `python -m solvers` gives of it."""
    return Run(
        summary["instance"],
        summary["unsolved"],
        summary["message"],
        summary["raw"],
        summary["seconds"],
        summary["start_up"],
        summary["memory"],
    )
