"""The parts of a running service: one value, built in `app.main` and handed to every endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

    from app.archive.queries.scrub import Scrub
    from app.core.db.clock import ClockKeeper
    from app.core.db.database import Database
    from app.core.db.locks import Locks, Presence
    from app.core.db.serving import Hold
    from app.core.db.writer import Writer
    from app.core.files.files import Files
    from app.core.settings import Settings
    from app.judging.service.engine import Engine
    from app.judging.service.jobs import JobRunner
    from app.sandbox.sandbox import ProtectionState
    from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
    from app.submissions.queries.submission_context import SubmissionContexts

if TYPE_CHECKING:
    from app.core.db.listener import Listener  # its driver takes 0.1 s, which SQLite needs not pay


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of one running service; `close` stops them in the order in which they need each other."""

    settings: Settings
    database: Database
    files: Files
    writer: Writer
    engine: Engine
    jobs: JobRunner
    boards: ScoreboardCache
    entries: SubmissionContexts
    scrub: Scrub
    keys: MultiFernet
    sandbox: ProtectionState
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
        self.database.close()
        self.locks.close()
        if self.hold is not None:
            self.hold.release()
