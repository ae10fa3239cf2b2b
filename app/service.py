"""What a running service is made of: one value, built in `app.main` and handed to every endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from app.settings import Settings
from app.storage.database import Database
from app.storage.files import LocalFiles
from app.storage.writer import Writer


class Engine(Protocol):
    """Whatever grades the submissions that wait in the database."""

    def wake(self) -> None:
        """Say that something waits; never blocks, and may be called from any thread."""
        ...

    def alive(self) -> int:
        """How many graders are able to work now."""
        ...

    def close(self) -> None:
        """Stop the graders; what they were judging is judged again at the next start."""
        ...


class Jobs(Protocol):
    """Whatever runs the long work that waits in the database."""

    def wake(self) -> None:
        """Say that a job waits; never blocks, and may be called from any thread."""
        ...

    def cancel(self, job_id: str) -> None:
        """Kill the job's processes, the whole tree of them, if it runs here."""
        ...

    def close(self) -> None:
        """Stop every job; those that were running start again at the next start."""
        ...


class Idle:
    """An engine and a runner of jobs that do nothing: for commands and tests that only keep and show."""

    def wake(self) -> None:
        """Let it wait."""

    def alive(self) -> int:
        """There is nothing that could fail."""
        return 1

    def cancel(self, job_id: str) -> None:
        """Nothing runs."""

    def close(self) -> None:
        """Nothing to stop."""


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of one running service; `close` stops them in the order in which they need each other."""

    settings: Settings
    database: Database
    files: LocalFiles
    writer: Writer
    engine: Engine
    jobs: Jobs

    def close(self) -> None:
        """Stop working, write what is waiting, give the connections back."""
        self.jobs.close()
        self.engine.close()
        self.writer.close()
        self.database.close()
