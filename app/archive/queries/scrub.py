"""The slow work on what is stored, beside the service: read every file, collect orphans, keep SQLite's log short."""

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import structlog

from app.archive.queries.references import check, collect
from app.core.clock import utc_now
from app.core.db.database import Database
from app.core.db.locks import Locks
from app.core.files.files import Files, State
from app.core.loops import Loop

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.scrub")

BYTES_A_SECOND = 10 * 2**20
SECONDS_BETWEEN_LOOKS = 60.0
LOCK = "stored files"
# A worker tells of a file at least once a minute while it waits for it.
SECONDS_TOLD = 180.0
# Bytes of the write-ahead log from which on it is worth the while to cut it.
LONGEST_LOG = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """The result of the last pass: `damaged` names each file and why; bytes; `ended` None before the first."""

    files: int = 0
    size: int = 0
    damaged: dict[str, str] = field(default_factory=dict)
    removed: int = 0
    ended: datetime | None = None


class _Stopped(Exception):
    """The service stops in the middle of a pass."""


class Scrub:
    """A loop that passes over all files every so many `hours` (0: never); `last` is the newest result.

    Of several processes on a database one does. It also knows of what anybody in this process could not read since, and
    of what workers wait for.
    """

    def __init__(
        self,
        database: Database,
        files: Files,
        hours: float,
        rate: float = BYTES_A_SECOND,
        locks: Locks | None = None,
        seconds: float = SECONDS_BETWEEN_LOOKS,
    ) -> None:
        self._locks = locks or Locks()
        self._database = database
        self._files = files
        self._seconds = hours * 3600
        self._rate = rate
        self._waited, self._between = 0.0, seconds
        self._loop = Loop("stored files", self._step, seconds, delay=seconds)
        self.last = Scrubbed()
        self._faults: dict[str, tuple[str, State]] = {}
        self._of_workers: dict[str, tuple[str, float]] = {}
        files.on_fault = self.note

    def start(self) -> None:
        """Begin: the first pass comes when the service has run for so many hours."""
        self._loop.start()

    def close(self) -> None:
        """Stop, also in the middle of a pass."""
        self._loop.close()

    def note(self, sha256: str, error: str) -> None:
        """Remember a file that could not be read; it is logged once."""
        state = self._files.state(sha256)
        known = self._faults.get(sha256)
        self._faults[sha256] = (error, state)
        if known is None:
            log.error("a stored file cannot be read", sha256=sha256, error=error)

    def note_elsewhere(self, sha256: str, error: str) -> None:
        """Remember that a worker waits for a file that it cannot read; it says so again while it does."""
        self._of_workers[sha256] = (error, time.monotonic())

    def faults(self) -> dict[str, str]:
        """Why each file cannot be read, but for those that have been written again since."""
        return {**self._faults_of_workers(), **self._own_faults()}

    def _faults_of_workers(self) -> dict[str, str]:
        since = time.monotonic() - SECONDS_TOLD
        reported = self._of_workers.copy()
        for sha256 in [sha256 for sha256, (_, moment) in reported.items() if moment <= since]:
            del reported[sha256]
            self._of_workers.pop(sha256, None)
        return {sha256: error for sha256, (error, _) in reported.items()}

    def _own_faults(self) -> dict[str, str]:
        faults = self._faults.copy()
        unchanged = {sha256: error for sha256, (error, state) in faults.items() if self._files.state(sha256) == state}
        for sha256 in faults.keys() - unchanged.keys():
            self._faults.pop(sha256, None)
        return unchanged

    def scrub(self) -> Scrubbed:
        """Make one pass, slowly; what is damaged is logged, and mended when its bytes are sent again or by fsck."""
        try:
            checked = check(self._database, self._files, rows=False, step=self._pace)
        except _Stopped:
            return self.last
        for fault in checked.faults:
            self.note(fault.name, fault.why)
        removed = collect(self._database, self._files, checked.old)
        self._files.tidy()
        damaged = {fault.name: fault.why for fault in checked.faults}
        self.last = Scrubbed(checked.files, checked.size, damaged, len(removed), utc_now())
        log.info("stored files read", files=checked.files, damaged=len(damaged), orphans_removed=len(removed))
        return self.last

    def _pace(self, _done: int, _all: int, size: int) -> None:
        if self._loop.wait(size / self._rate):
            raise _Stopped

    def _step(self) -> None:
        self._waited += self._between
        if 0 < self._seconds <= self._waited:
            self._waited = 0.0
            if self._locks.take(LOCK):  # and keep it: the others need not read them again
                self.scrub()
        shorten_log(self._database)


def shorten_log(database: Database, longest: int = LONGEST_LOG) -> bool:
    """Cut SQLite's write-ahead log to nothing where it has grown; says whether it did. Never makes a writer wait long.

    All that can be is copied beside writers first, so that the cut, which excludes them, has little left to copy; it
    gives up at once where somebody reads or writes.
    """
    if not database.is_sqlite or database.lost_file() is not None:
        return False
    path = Path(str(database.engine.url.database))
    grown = path.with_name(path.name + "-wal")
    if not grown.exists() or grown.stat().st_size <= longest:
        return False
    with closing(sqlite3.connect(path, timeout=0)) as connection:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy
