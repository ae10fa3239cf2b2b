"""Solvers run on a person's behalf: signals are passed on, and what fails is a Failure.

- `jurado generate`: make a test case's input with the problem's own generator.
- Run the methods of a solver on many inputs, in processes bounded in time and memory, on all the cores there are.
"""

import json
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, Annotated

import typer

from app.core.commands import output, registry
from app.judging.service.solver_process import START_UP_SECONDS, Bounds, OnReport, SolverProcess, SolverReport, Summary
from app.sandbox.child import environment, last_line, module_command

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


@dataclass(frozen=True)
class Solved:
    """An answer file and the summary of the run that made it."""

    answer: bytes
    summary: Summary


def list_methods(problem: str) -> output.JsonMapping:
    """Ask a solver for its `methods` and its `reference`; raises Failure with its last line where it has none."""
    done = subprocess.run(
        module_command("solvers", problem, "--methods"), env=environment(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise output.Failure(last_line(done.stderr))
    methods: output.JsonMapping = json.loads(done.stdout)
    return methods


def run_solver(problem: str, data: bytes, options: Sequence[str], on_report: OnReport) -> Solved:
    """Run a solver on an input. SIGINT and SIGTERM are passed on: the first one gives the best answer so far."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as target:
        source.write(data)
        source.seek(0)
        (summary,) = run([problem, *options], source, target, on_report)
        target.seek(0)
        return Solved(target.read(), summary)


def run_solver_on_files(
    problem: str, files: Sequence[Path], out: Path, options: Sequence[str], on_report: OnReport
) -> list[Summary]:
    """Run one solver process on file after file; the answers are out/NAME.out. Gives a summary of each run."""
    words = [problem, *options, "--out", str(out), *map(str, files)]
    with tempfile.TemporaryFile() as nothing:
        return run(words, nothing, nothing, on_report)


def run(words: Sequence[str], source: IO[bytes], target: IO[bytes], on_report: OnReport) -> list[Summary]:
    """Run `python -m solvers` and give the summaries of its runs; raises Failure with its reason where it fails."""
    process = SolverProcess()
    process.start(words, environment(), source=source, target=target)
    with passing_signals_to(process):
        ended = process.listen(on_report)
    if ended.status != 0 or not ended.summaries:
        text = ended.complaint or f"the solver ended with {ended.status}"
        raise output.Failure(text, 2 if ended.status == 2 else 1)
    return list(ended.summaries)


@contextmanager
def passing_signals_to(process: SolverProcess) -> Iterator[None]:
    """While inside, SIGINT and SIGTERM go to the process.

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
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


@registry.command("generate")
def generate(
    problem: registry.BundledProblem,
    seed: Annotated[int, typer.Option(help="same seed and parameters, same bytes", min=0)],
    param: Annotated[list[str] | None, typer.Option(metavar="K=V", help="a parameter of the generator")] = None,
) -> None:
    """Write a test case's input to standard output; the generator's own README says which parameters it has.

    Examples:
      jurado generate comesolo --seed 7 --param kind=random --param n=12 > board.in
      jurado generate rollingballs --seed 42 > maze.in
    """
    for pair in param or []:
        if "=" not in pair or pair.startswith(("-", "=")):
            raise output.Failure(f"--param: expected NAME=VALUE, found {pair!r}")
    sys.stdout.buffer.write(generated(problem, seed, param or []))
    sys.stdout.buffer.flush()


def generated(problem: str, seed: int, params: list[str]) -> bytes:
    """Run the generator and give its output; raises Failure with its last line where it refuses."""
    program = output.problem_folder(problem) / "generators" / "generate.py"
    if not program.is_file():
        raise output.Failure(f"{problem} has no generator: expected {program}")
    done = subprocess.run(
        [sys.executable, str(program), "--seed", str(seed), *params], capture_output=True, check=False
    )
    if done.returncode != 0:
        raise output.Failure(f"{problem}: {last_line(done.stderr.decode(errors='replace'))}")
    return done.stdout
