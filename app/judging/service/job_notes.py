"""The progress of jobs, written to their rows not more often than people can read."""

from __future__ import annotations

import time

from app.core.db.database import Database
from app.core.json_documents import JobResult
from app.judging.service.solver_process import Summary
from app.problems.queries import jobs
from app.programs.solving import SolverReport

SECONDS_BETWEEN_NOTES = 0.5


class Progress:
    """Writes a job's progress to its row."""

    def __init__(self, database: Database, job_id: str) -> None:
        self._database = database
        self._job_id = job_id
        self._noted = 0.0

    def say(self, fraction: float, line: str) -> None:
        """Note a line, unless one was noted a moment ago."""
        self.show(fraction, line, None)

    def show(self, fraction: float, line: str, result: JobResult | None) -> None:
        """Note a line and the result so far, unless one was noted a moment ago."""
        if time.monotonic() - self._noted < SECONDS_BETWEEN_NOTES:
            return
        self._noted = time.monotonic()
        with self._database.write() as session:
            jobs.report(session, self._job_id, fraction, line, result)


class Notes:
    """Writes the progress of one case's run to its job's row."""

    def __init__(self, database: Database, job_id: str, case: str, at: int, count: int) -> None:
        self._database = database
        self._job_id = job_id
        self._case = case
        self._at = at
        self._count = count
        self._noted = 0.0

    def report(self, report: SolverReport | Summary) -> None:
        """Note a solver's report now and then; its summary is noted with the judged answer."""
        if "fraction" in report and time.monotonic() - self._noted >= SECONDS_BETWEEN_NOTES:
            self.say(report["fraction"], f"{self._case}: best {report['best']}, {report['states']} states")

    def say(self, fraction: float, line: str) -> None:
        """Note a line now."""
        self._noted = time.monotonic()
        with self._database.write() as session:
            jobs.report(session, self._job_id, (self._at + fraction) / self._count, line)
