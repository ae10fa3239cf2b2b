"""The parts of a running service: one value, built in `app.main` and handed to every endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from app.archive.queries.scrub import Scrub
    from app.core.db.clock import ClockKeeper
    from app.core.db.database import Database
    from app.core.db.locks import Locks, Presence
    from app.core.db.migrate import SecretKeys
    from app.core.db.serving import Hold
    from app.core.db.writer import Writer
    from app.core.files.files import Files
    from app.core.settings import Settings
    from app.judging.service.judging import FileFaults
    from app.judging.service.messages import Grade, Validate, Validated
    from app.judging.service.outcomes import Trial
    from app.judging.service.staff import GraderState
    from app.sandbox.environment import ProtectionState
    from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
    from app.submissions.queries.submission_context import SubmissionContexts
    from app.submissions.service.gate import Gate

if TYPE_CHECKING:
    from app.core.db.listener import Listener  # its driver takes 0.1 s, which SQLite needs not pay


class Engine(Protocol):
    """Whatever grades the submissions that wait in the database."""

    @property
    def waiting(self) -> int:
        """The number of judgements that wait or run."""
        ...

    @property
    def files(self) -> FileFaults:
        """The stored files that judgements wait for."""
        ...

    def wake(self) -> None:
        """Say that a judgement waits (and is durable); never blocks, and may be called from any thread."""
        ...

    def take_up(self) -> None:
        """Say that a rejudging has been opened, changed or cancelled (and that is durable): its rows are the queue."""
        ...

    def finish(self, judgement_ids: Sequence[int], seconds: float) -> bool:
        """Judge these before all others, and wait for it; False where it takes longer than that."""
        ...

    def validate(self, request: Validate) -> Future[Validated]:
        """Ask a grader to check a test case before it is stored."""
        ...

    def grade(self, request: Grade) -> Future[Trial]:
        """Grade answers that are in no row yet, after those that somebody waits for."""
        ...

    def alive(self) -> int:
        """The number of graders that are able to work now."""
        ...

    def graders(self) -> GraderState:
        """The state of the graders: at work, in reserve, dead; and the protections they lack."""
        ...

    def programs_lack(self) -> str:
        """What keeps packages' own checkers from running; empty where nothing does."""
        ...

    def close(self) -> None:
        """Stop the graders; what they were judging is judged again at the next start."""
        ...


class Jobs(Protocol):
    """Whatever runs the long work that waits in the database."""

    def wake(self, job_id: str) -> None:
        """Say that a job waits (and is durable); never blocks, and may be called from any thread."""
        ...

    def cancel(self, job_id: str) -> bool:
        """End the job and kill its processes, the whole tree of them; False if there was nothing to end."""
        ...

    def close(self) -> None:
        """Stop every job; those that were running start again at the next start."""
        ...


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of one running service; `close` stops them in the order in which they need each other."""

    settings: Settings
    database: Database
    files: Files
    writer: Writer
    engine: Engine
    jobs: Jobs
    boards: ScoreboardCache
    entries: SubmissionContexts
    scrub: Scrub
    keys: SecretKeys
    sandbox: ProtectionState
    gate: Gate
    locks: Locks
    clock: ClockKeeper | None = None
    hold: Hold | None = None
    listener: Listener | None = None
    presence: Presence | None = None

    def close(self) -> None:
        """Stop working, write what is waiting, give the connections back."""
        if self.listener is not None:
            self.listener.close()
        self.scrub.close()
        self.jobs.close()
        self.engine.close()
        if self.presence is not None:
            self.presence.close()
        if self.clock is not None:
            self.clock.close()
        self.writer.close()
        self.files.close()
        self.database.close()
        self.locks.close()
        if self.hold is not None:
            self.hold.release()
