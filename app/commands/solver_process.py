"""Solvers run on a person's behalf: signals are passed on, and what fails is a Failure.

- `jurado generate`: make a test case's input with the problem's own generator.
"""

import json
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, Annotated

import typer

from app.core.commands import output, registry
from app.judging.service.solver_process import OnReport, SolverProcess, Summary
from app.sandbox.child import environment, last_line, module_command


@contextmanager
def on_signals(handler: Callable[[int, FrameType | None], None], *signals: signal.Signals) -> Iterator[None]:
    """While inside, these signals call a handler; only the main thread hears them: in another one nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {signum: signal.signal(signum, handler) for signum in signals}
    try:
        yield
    finally:
        for signum, earlier in before.items():
            signal.signal(signum, earlier)


def list_methods(problem: str) -> output.JsonMapping:
    """Ask a solver for its `methods` and its `reference`; raises Failure with its last line where it has none."""
    done = subprocess.run(
        module_command("solvers", problem, "--methods"), env=environment(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise output.Failure(last_line(done.stderr))
    methods: output.JsonMapping = json.loads(done.stdout)
    return methods


def run_solver(problem: str, data: bytes, options: Sequence[str], on_report: OnReport) -> tuple[bytes, Summary]:
    """Run a solver on an input. SIGINT and SIGTERM are passed on: the first one gives the best answer so far."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as target:
        source.write(data)
        source.seek(0)
        (summary,) = run([problem, *options], source, target, on_report)
        target.seek(0)
        return target.read(), summary


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
    with on_signals(lambda signum, _frame: process.send_signal(signum), signal.SIGINT, signal.SIGTERM):
        ended = process.listen(on_report)
    if ended.status != 0 or not ended.summaries:
        text = ended.complaint or f"the solver ended with {ended.status}"
        raise output.Failure(text, 2 if ended.status == 2 else 1)
    return list(ended.summaries)


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
