"""Locks by which one of several processes does what none should do twice: publish a feed, call a webhook, end games.

They are advisory locks of PostgreSQL on a connection of their own, free again as soon as it ends, kill -9 included. Two
processes may both take themselves for the holder for a moment, after a network has failed: whatever is done under such
a lock is right if done twice, as its writes compare what they change.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from itertools import count

import structlog
from sqlalchemy import Connection, Engine, NullPool, create_engine, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.core.db.bulk import is_postgresql, texts_of
from app.core.db.patience import Patience, be_patient
from app.core.settings import Timeouts

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.locks")

SECONDS_PROVEN = 1.0
SECONDS_BETWEEN_TRIES = 0.2
PATIENCE = Patience(0.0, 0.0, Timeouts(lock=0.0, silent=6.0))
APPLICATION = "jurado locks"
TRY = text("SELECT pg_try_advisory_lock(hashtextextended(:name, 0))")
SHOW = text("SELECT pg_advisory_lock_shared(:space, :number)")
SHOWN = text(
    "SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND CAST(classid AS bigint) = :space AND objsubid = 2"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
SPACE = int.from_bytes(b"jura")
LOCK_UNTIL_THE_END = text(
    "SELECT pg_advisory_xact_lock(hashtextextended(name, 0))"
    " FROM json_array_elements_text(CAST(:names AS json)) AS names (name)"
)
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
        self._published: list[tuple[int, int]] = []
        self._proven = float("-inf")
        self._guard = threading.Lock()

    @property
    def is_alone(self) -> bool:
        """Whether no other process is on the database, so that all locks are held without asking."""
        return self._engine is None

    def wait_for(self, name: str, waiting: Callable[[], object] = lambda: None) -> None:
        """Wait until a lock is taken; calls `waiting` once if another process has it. Raises what the database does."""
        if self._engine is None:
            return
        for at in count():
            with self._guard:
                if self._take(self._engine, name):
                    return
            if not at:
                waiting()
            time.sleep(SECONDS_BETWEEN_TRIES)

    def publish(self, number: int, space: int = SPACE) -> None:
        """Show a number of 31 bits to others for as long as this process runs, also after a connection was lost."""
        if self._engine is not None:
            with self._guard:
                connection = self._connected(self._engine)
                connection.execute(SHOW, {"space": space, "number": number})
                self._published.append((space, number))

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

    def _connected(self, engine: Engine) -> Connection:
        """The connection that holds all locks; a new one shows what was published before."""
        if self._connection is None:
            self._connection = engine.connect()
            for space, number in self._published:
                self._connection.execute(SHOW, {"space": space, "number": number})
        return self._connection

    def _take(self, engine: Engine, name: str) -> bool:
        connection = self._connected(engine)
        if name not in self._held and connection.scalar(TRY, {"name": name}):
            self._held.add(name)
            self._proven = time.monotonic()
        elif time.monotonic() - self._proven > SECONDS_PROVEN:
            connection.scalar(text("SELECT 1"))
            self._proven = time.monotonic()
        return name in self._held

    def _drop(self) -> None:
        """Give up the connection, and with it all locks."""
        self._held.clear()
        if self._connection is not None:
            self._connection.invalidate()
            self._connection.close()
            self._connection = None


def shown(connection: Connection, space: int = SPACE) -> set[int]:
    """The numbers that the processes on a PostgreSQL database show (`Locks.publish`)."""
    return set(connection.scalars(SHOWN, {"space": space}))


def lock_names(connection: Connection | Session, names: Iterable[str]) -> None:
    """Let no other transaction go on that locks one of these names, until the end of this one.

    All take them in the same order, by one statement: a batch of many teams would wait for the network with each of
    them locked. SQLite lets only one write at a time anyway.
    """
    if is_postgresql(connection) and (ordered := sorted(set(names))):
        connection.execute(LOCK_UNTIL_THE_END, {"names": texts_of(ordered)})
