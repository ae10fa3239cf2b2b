"""The slow work on what is stored, beside the service: read every file, and collect orphans."""

import time
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from app.archive.queries.references import check, collect
from app.core.clock import utc_now
from app.core.db.database import Database
from app.core.db.locks import Locks
from app.core.files.files import Files, State
from app.core.loops import FOREVER, Loop

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.scrub")

BYTES_A_SECOND = 10 * 2**20
LOCK = "stored files"
# A worker tells of a file at least once a minute while it waits for it.
SECONDS_TOLD = 180.0


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

    Of several processes on a database one does. It also knows of what anyone in this process could not read since, and
    of what workers wait for.
    """

    def __init__(
        self,
        database: Database,
        files: Files,
        hours: float,
        rate: float = BYTES_A_SECOND,
        locks: Locks | None = None,
    ) -> None:
        self._locks = locks or Locks()
        self._database = database
        self._files = files
        self._rate = rate
        seconds = hours * 3600 or FOREVER
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
        """Make one pass, slowly; what is damaged is logged, and repaired when its bytes are sent again or by fsck."""
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
        if self._locks.take(LOCK):  # and keep it: the others need not read them again
            self.scrub()
