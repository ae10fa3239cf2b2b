"""The run of a reference solver: bounded in time and memory, in a folder of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.core.files.temporary import SOLVER_PREFIX, locked_folder
from app.judging.service.solver_process import START_UP_SECONDS, Bounds, OnReport, SolverFailed, SolverProcess, Summary
from app.sandbox.environment import clean_environment

MOST_OUTPUT = 64 * 2**20


@dataclass(frozen=True, slots=True)
class SolverRun:
    """The run asked for: `memory` in MiB, `seconds` of search."""

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
    summary: Summary


def solve(process: SolverProcess, run: SolverRun, data: bytes, on_report: OnReport) -> Solved:
    """Feed the input, pass progress on, and wait for the answer; raises SolverFailed, also where it is killed."""
    with locked_folder(SOLVER_PREFIX) as folder:
        (folder / "input").write_bytes(data)
        _start(process, run, folder)
        ended = process.listen(on_report, run.seconds + START_UP_SECONDS)
        if ended.status != 0 or not ended.summaries:
            raise SolverFailed(ended.complaint or ended.killed or f"it ended with status {ended.status}")
        return Solved(_read(folder / "answer"), _read(folder / "reference"), ended.summaries[-1])


def _start(process: SolverProcess, run: SolverRun, folder: Path) -> None:
    words = [run.solver, "--method", run.method, "--seed", str(run.seed), "--seconds", str(run.seconds)]
    environment = {**clean_environment(), "TMPDIR": str(folder)}
    with (folder / "input").open("rb") as source, (folder / "answer").open("wb") as target:
        process.start(
            [*words, "--reference", str(folder / "reference")],
            environment,
            source=source,
            target=target,
            bounds=Bounds(run.memory, folder),
        )


def _read(path: Path) -> bytes:
    if path.stat().st_size > MOST_OUTPUT:
        raise SolverFailed(f"it wrote more than {MOST_OUTPUT} bytes")
    return path.read_bytes()
