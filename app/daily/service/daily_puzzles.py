"""The puzzles of a day, made in a process that is bounded, gives way to all others, and can be killed."""

from __future__ import annotations

from datetime import date

from app.core.files.temporary import SOLVER_PREFIX, locked_folder
from app.judging.service.solver_process import Bounds, SolverFailed, SolverProcess
from app.sandbox.environment import clean_environment

MODULE = "solvers.daily"
MEMORY = 256
NICE = "--nice=5"
"""Graders go first: a puzzle can wait, a contest cannot."""
SECONDS = 120.0
"""Time for what takes half a second of an idle core."""


def make_puzzles(process: SolverProcess, day: date) -> bytes:
    """Make a day's puzzles: the JSON of `python -m solvers.daily`. Raises SolverFailed, also where it is killed."""
    with locked_folder(SOLVER_PREFIX) as folder:
        made = folder / "puzzles.json"
        environment = {**clean_environment(), "TMPDIR": str(folder)}
        with made.open("wb") as target:
            process.start(
                [day.isoformat(), NICE], environment, target=target, bounds=Bounds(MEMORY, folder), module=MODULE
            )
        ended = process.listen(lambda _report: None, SECONDS, f"it took more than {SECONDS:g} seconds")
        if ended.status != 0:
            raise SolverFailed(ended.killed or ended.complaint or f"it ended with status {ended.status}")
        return made.read_bytes()
