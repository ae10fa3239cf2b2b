"""Judge errors of earlier versions are judged again once the file that was unreadable then can be read."""

from __future__ import annotations

import threading

import structlog

from app.core.db.database import Database
from app.core.files.files import Files, State
from app.core.files.stored_bytes import UNREADABLE
from app.judging.queries import file_errors

log = structlog.get_logger()


class FileErrors:
    """The files that such judge errors are about, each read anew where it has changed. May be used from any thread.

    The rows are read when an admin has written something: nothing else makes one of these judgements count.
    """

    def __init__(self, database: Database, files: Files) -> None:
        self._database = database
        self._files = files
        self._guard = threading.Lock()
        self._generation: int | None = None
        self._wanted: set[str] = set()
        self._unreadable: dict[str, State] = {}

    def look(self) -> int:
        """Queue again what can be judged by now; returns how many judgements."""
        with self._guard:
            if self._generation != (generation := self._database.generation):
                with self._database.read() as session:
                    self._wanted = set(file_errors.left(session).values())
                self._generation = generation
            readable = {sha256 for sha256 in self._wanted if self._is_readable(sha256)}
            if not readable:
                return 0
            with self._database.write() as session:
                count = file_errors.judge_again(session, readable)
            log.info("judge errors of files that can be read by now are judged again", judgements=count)
            return count

    def _is_readable(self, sha256: str) -> bool:
        state = self._files.state(sha256)
        if state is None or self._unreadable.get(sha256) == state:
            return False
        try:
            self._files.examine(sha256)
        except (*UNREADABLE, OSError):
            self._unreadable[sha256] = state
            return False
        return True
