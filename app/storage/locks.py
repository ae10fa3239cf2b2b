"""Locks by which one of several processes does what none should do twice: publish a feed, call a webhook, read all files.

They are advisory locks of PostgreSQL on a connection of their own, free again as soon as it ends, kill -9 included. Two
processes may both take themselves for the holder for a moment, after a network has failed: whatever is done under such
a lock is right if done twice, as its writes compare what they change.
"""

from __future__ import annotations

import threading
import time

import structlog
from sqlalchemy import Connection, Engine, NullPool, create_engine, text
from sqlalchemy.exc import SQLAlchemyError

from app.settings import Timeouts
from app.storage.patience import Patience, be_patient

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.locks")

SECONDS_PROVEN = 1.0
PATIENCE = Patience(0.0, 0.0, Timeouts(lock=0.0, silent=6.0))
APPLICATION = "jurado locks"
TRY = text("SELECT pg_try_advisory_lock(hashtextextended(:name, 0))")
UNLOCK = text("SELECT pg_advisory_unlock(hashtextextended(:name, 0))")


class Locks:
    """The locks of one process, from any thread. Without a `url` it has the database for itself, and all locks."""

    def __init__(self, url: str | None = None) -> None:
        self._engine: Engine | None = None
        if url is not None:
            named = {"application_name": APPLICATION}
            self._engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT", connect_args=named)
            be_patient(self._engine, PATIENCE)
        self._connection: Connection | None = None
        self._held: set[str] = set()
        self._proven = float("-inf")
        self._guard = threading.Lock()

    def take(self, name: str) -> bool:
        """Take a lock, or look whether it is still held; False while another process has it, or nobody can know."""
        if self._engine is None:
            return True
        with self._guard:
            try:
                return self._take(self._engine, name)
            except SQLAlchemyError as error:
                log.warning("locks cannot be taken", error=str(error))
                self._drop()
                return False

    def give_back(self, name: str) -> None:
        """Let another process have a lock."""
        with self._guard:
            if name not in self._held or self._connection is None:
                return
            self._held.discard(name)
            try:
                self._connection.execute(UNLOCK, {"name": name})
            except SQLAlchemyError:
                self._drop()

    def close(self) -> None:
        """Give all locks back."""
        with self._guard:
            self._drop()
            if self._engine is not None:
                self._engine.dispose()

    def _take(self, engine: Engine, name: str) -> bool:
        if self._connection is None:
            self._connection = engine.connect()
        if name not in self._held and self._connection.scalar(TRY, {"name": name}):
            self._held.add(name)
            self._proven = time.monotonic()
        elif time.monotonic() - self._proven > SECONDS_PROVEN:
            self._connection.scalar(text("SELECT 1"))
            self._proven = time.monotonic()
        return name in self._held

    def _drop(self) -> None:
        """Give up the connection, and with it all locks."""
        self._held.clear()
        if self._connection is not None:
            self._connection.invalidate()
            self._connection.close()
            self._connection = None
