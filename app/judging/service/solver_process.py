"""A solver's process, started, heard and killed: one runner for reference runs, `jurado solve` and `jurado ladder`.

A process with bounds has so much memory, writes to one folder and starts nothing (see `memory_limit`); one without is
run for a person at a terminal, on that person's own behalf.
"""

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NotRequired, TypedDict, cast, final

from pydantic import JsonValue

from app.core.files.temporary import SOLVER_PREFIX, locked_folder
from app.core.json_documents import CaseResult, RunParams
from app.sandbox.child import ChildProcess, clean_environment

INTERPRETER_BYTES = 2 * 2**30  # what Python, numpy and the compiler map before a solver has stored anything
START_UP_SECONDS = 120.0  # kernels may have to be compiled first
SOLVERS = "solvers"
PROGRESS = "--progress-json"


@final
class SolverReport(TypedDict):
    """The progress of a run: `fraction` 0 to 1, the best raw score so far, the states seen, a note."""

    fraction: float
    best: int | float | None
    states: int
    note: str


@final
class Summary(TypedDict):
    """The end of a run on one input, as `python -m solvers` reports it: scores, seconds, MiB, counts.

    `most` is a proven bound of the raw score; `stopped`: the run was ended early; `instance` names the input's file.
    """

    done: bool
    instance: NotRequired[str]
    problem: str
    method: str
    seed: int
    seconds: float
    start_up: float
    memory: float
    steps: int
    states: int
    raw: int | float | None
    max_raw: int | float | None
    most: int | float | None
    optimal: bool
    stopped: bool
    message: str
    unsolved: bool
    version: str


# Called with every report, and with the summary of every run.
OnReport = Callable[[SolverReport | Summary], None]


class SolverFailed(Exception):
    """The solver ended without an answer; the text says how."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a process: `memory` in MiB, the one `folder` it writes to, the folders it reads beside."""

    memory: int
    folder: Path
    reads: Sequence[Path] = ()

    def command(self) -> list[str]:
        """Build the words that come before the module to be bounded."""
        reads = [f"--read={folder}" for folder in self.reads]
        return ["app.sandbox.memory_limit", str(self.memory * 2**20 + INTERPRETER_BYTES), str(self.folder), *reads]


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a process: its status, a summary of each run, why it was killed, and its complaint.

    `complaint` is the error that it reported last, or a line that was no report (of a library, say); empty where it
    continued after it.
    """

    status: int
    summaries: Sequence[Summary]
    killed: str
    complaint: str


@dataclass(eq=False)
class SolverProcess:
    """Runs `python -m solvers` once, or another module that reports as it does.

    `kill` may be called from any thread at any time, also before the start.
    """

    _process: ChildProcess | None = None
    _killed: str = ""

    def start(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        *,
        source: IO[bytes] | int = subprocess.DEVNULL,
        target: IO[bytes] | int = subprocess.DEVNULL,
        bounds: Bounds | None = None,
        module: str = SOLVERS,
    ) -> None:
        """Start the process; raises SolverFailed where it was killed before."""
        bounded = bounds.command() if bounds is not None else []
        command = [*bounded, module, *([PROGRESS] if module == SOLVERS else []), *words]
        self._process = ChildProcess(command, environment, source=source, target=target, errors=subprocess.PIPE)
        if self._killed:  # whoever kills notes it first: so it is seen here, or the process there
            self._process.end()
            raise SolverFailed(self._killed)

    def listen(self, on_report: OnReport, patience: float | None = None, why: str = "it ran over its time") -> Ended:
        """Pass reports on until the process ends; it is dead after this, however it is left.

        After `patience` seconds without a summary it is killed for the reason `why`.
        """
        assert self._process is not None, "start() comes first"
        try:
            summaries, complaint = self._hear(self._process, on_report, patience, why)
            return Ended(self._process.wait(), summaries, self._killed, complaint)
        finally:
            self._process.end()

    def send_signal(self, signum: int) -> None:
        """Pass a signal on; a handler of signals may call it."""
        if self._process is not None:
            self._process.send_signal(signum)

    def kill(self, why: str = "it was cancelled") -> None:
        """End the process and everything it started; the first reason is the one that counts."""
        self._killed = self._killed or why
        if self._process is not None:
            self._process.kill()

    def _hear(
        self, process: ChildProcess, on_report: OnReport, patience: float | None, why: str
    ) -> tuple[list[Summary], str]:
        summaries: list[Summary] = []
        complaint = ""
        until = _after(patience)
        while (line := process.line(until)) != b"":
            if line is None:
                self.kill(why)
                until = None
                continue
            report = parse(line.decode(errors="replace"))
            if "done" in report:
                summaries.append(cast(Summary, report))
                until = _after(patience)
            elif "fraction" not in report:
                complaint = str(report.get("error", complaint))
                continue
            complaint = ""
            on_report(cast(SolverReport | Summary, report))
        return summaries, complaint


def _after(seconds: float | None) -> float | None:
    return None if seconds is None else time.monotonic() + seconds


def parse(line: str) -> dict[str, JsonValue]:
    """Read one line of a solver; one that is no JSON (a library's warning) is the error it may explain."""
    try:
        report = json.loads(line)
    except ValueError:
        return {"error": line.strip()} if line.strip() else {}
    return report if isinstance(report, dict) else {}


MOST_OUTPUT = 64 * 2**20
FACTS = ("method", "seed", "seconds", "steps", "states", "version", "raw", "max_raw", "optimal")


@dataclass(frozen=True, slots=True)
class Solved:
    """The answer, the expected-answer file made from it, and the facts of the solver's summary that are kept."""

    answer: bytes
    reference: bytes
    facts: CaseResult


def solve(process: SolverProcess, run: RunParams, data: bytes, on_report: OnReport) -> Solved:
    """Feed the input, pass progress on, and wait for the answer; raises SolverFailed, also where it is killed."""
    with locked_folder(SOLVER_PREFIX) as folder:
        (folder / "input").write_bytes(data)
        words = [run["solver"], "--method", run["method"], "--seed", str(run["seed"]), "--seconds", str(run["seconds"])]
        words += ["--reference", str(folder / "reference")]
        environment = {**clean_environment(), "TMPDIR": str(folder)}
        with (folder / "input").open("rb") as source, (folder / "answer").open("wb") as target:
            process.start(words, environment, source=source, target=target, bounds=Bounds(run["memory"], folder))
        ended = process.listen(on_report, run["seconds"] + START_UP_SECONDS)
        if ended.status != 0 or not ended.summaries:
            raise SolverFailed(ended.complaint or ended.killed or f"it ended with status {ended.status}")
        summary = ended.summaries[-1]
        facts = cast(CaseResult, {name: summary.get(name) for name in FACTS})
        return Solved(_read(folder / "answer"), _read(folder / "reference"), facts)


def _read(path: Path) -> bytes:
    if path.stat().st_size > MOST_OUTPUT:
        raise SolverFailed(f"it wrote more than {MOST_OUTPUT} bytes")
    return path.read_bytes()
