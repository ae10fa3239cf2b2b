"""Commits that are known to have happened or not, also where the database's reply to a COMMIT is lost.

Where the connection breaks during a COMMIT, rows that the transaction has written are looked for before anything is
tried again: else what is stored already would be stored twice. Those who know rows that nobody else can have written
name them (`Trace`). All other transactions write a mark: a random key, into a row of their own in `commit_marks`.

PostgreSQL's own answer, `pg_xact_status`, is not asked: a crash loses the numbers of transactions that were never on
the disk, and the first who writes after it, perhaps another server of Jurado, is given them again; and on a server that
has taken over, by its own timeline, a number may be that of another transaction as well.

A transaction that is still open is ended before the look, so that a COMMIT on its way finds nothing. It is known by its
number and the microsecond of its beginning: the number alone may be that of somebody else's by now.

- Errors that are the database's or the disk's own, and may pass: away, locked, read-only, damaged, without room.
"""

from __future__ import annotations

import errno
import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import datetime, timedelta
from functools import partial
from threading import Lock
from typing import NamedTuple

import structlog
from sqlalchemy import Connection, Engine, RootTransaction, delete, exists, select, text
from sqlalchemy.exc import (
    DatabaseError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    InternalError,
    OperationalError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.core.db.base import texts_of
from app.core.db.by_id import SENDING
from app.core.db.tables import CommitMarkRow
from app.core.loops import FOREVER, Loop, give

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.commits")

SECONDS_IN_DOUBT = 10.0
SECONDS_BETWEEN_LOOKS = 0.1
SECONDS_BETWEEN_LATE_LOOKS = 1.0
NUMBER = f"SELECT CAST(pg_current_xact_id_if_assigned() AS text), CAST(now() AS text), {SENDING}"
# The last statement of a transaction sends its notices as well: each one more is a round trip.
LAST = text(NUMBER)
# The same of a transaction without rows that can be looked for; one that has written nothing gets no mark.
LAST_WITH_MARK = text(
    "WITH mark AS (INSERT INTO commit_marks (id, key, time)"
    " SELECT :id, :key, now() WHERE pg_current_xact_id_if_assigned() IS NOT NULL"
    f" ON CONFLICT (id) DO UPDATE SET key = excluded.key, time = excluded.time) {NUMBER}"
)
# The time that a mark stays which nobody writes again: no commit is in doubt for so long.
REMEMBERED = timedelta(days=7)
# Whether the database only replays yet what another one has written, and how many are ended: one, or none.
END = text(
    "SELECT pg_is_in_recovery(), count(pg_terminate_backend(pid)) FROM pg_stat_activity"
    " WHERE backend_xid = xid(CAST(CAST(:number AS text) AS xid8)) AND xact_start = CAST(:began AS timestamptz)"
)


# Tells whether the rows of a transaction are there.
Trace = Callable[[Connection], bool]


class Ended(NamedTuple):
    """A transaction whose end is to be found out: its number, when it began (text), and what looks for its rows."""

    number: str
    began: str
    trace: Trace


class Mark(NamedTuple):
    """A row of `commit_marks`, which one transaction at a time writes, and the random key of this one."""

    id: int
    key: int


class CommitInDoubt(Exception):
    """The connection broke during a commit, and whether that was done cannot be known for now.

    outcome  done once it is known: True if the transaction was committed. Its callbacks run in a thread of `Commits`.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.outcome: Future[bool] = Future()


class Commits:
    """Commits the transactions of one database. `on_late` is called when a commit turns out late to have been done."""

    def __init__(
        self, on_late: Callable[[], None], seconds: float = SECONDS_IN_DOUBT, pause: float = SECONDS_BETWEEN_LATE_LOOKS
    ) -> None:
        self._pause = pause
        self._on_late = on_late
        self._seconds = seconds
        self._lock = Lock()
        self._open: list[tuple[Engine, Ended, CommitInDoubt]] = []
        self._free_marks: list[int] = []
        self._closing = False
        self._late = Loop("commits in doubt", self._look_late)

    def commit(
        self,
        connection: Connection,
        transaction: RootTransaction,
        payloads: Sequence[str] = (),
        trace: Trace | None = None,
    ) -> None:
        """Commit and send notices; raises what the database raised where nothing is kept.

        Without a `trace` the transaction gets a mark. Raises CommitInDoubt where its end is not known.
        """
        if connection.dialect.name != "postgresql":
            transaction.commit()
            return
        known_by = trace or Mark(self._free_mark(), secrets.randbits(63))
        self._commit(connection.engine, transaction, last_act(connection, payloads, known_by))
        if isinstance(known_by, Mark):  # not after a failure: the transaction of a lost connection may still have it
            self._free_marks.append(known_by.id)

    def _free_mark(self) -> int:
        try:
            return self._free_marks.pop()
        except IndexError:
            return secrets.randbits(63)

    def _commit(self, engine: Engine, transaction: RootTransaction, ended: Ended | None) -> None:
        try:
            transaction.commit()
        except DBAPIError as error:
            if ended is None or not error.connection_invalidated:
                raise
            done = self._look_until_known(engine, ended)
            log.warning("the reply to a commit was lost", transaction=ended.number, committed=done)
            if done is None:
                doubt = CommitInDoubt(f"whether transaction {ended.number} was committed is not known")
                self._look_later(engine, ended, doubt)
                raise doubt from error
            if not done:
                raise

    def close(self) -> None:
        """Look for nothing any more."""
        self._closing = True
        self._late.close(self._pause)

    def _look_until_known(self, engine: Engine, ended: Ended) -> bool | None:
        until = time.monotonic() + self._seconds
        while time.monotonic() < until and not self._closing:
            try:
                return was_committed(engine, ended)
            except NotKnownYet:
                time.sleep(SECONDS_BETWEEN_LOOKS)
        return None

    def _look_later(self, engine: Engine, ended: Ended, doubt: CommitInDoubt) -> None:
        with self._lock:
            self._open.append((engine, ended, doubt))
        self._late.start()
        self._late.wake()

    def _look_late(self) -> float:
        """Look until each is known: what was committed has changed boards that nobody has been told of."""
        with self._lock:
            waiting = list(self._open)
        ends = [(doubt, _late_end(engine, ended)) for engine, ended, doubt in waiting]
        known = {id(doubt): done for doubt, done in ends if done is not None}
        if any(known.values()):
            self._on_late()
        for _, ended, doubt in waiting:
            if (done := known.get(id(doubt))) is not None:
                log.warning("a commit in doubt is known", transaction=ended.number, committed=done)
                give(doubt.outcome, done)
        with self._lock:
            self._open = [each for each in self._open if id(each[2]) not in known]
            return self._pause if self._open else FOREVER


def last_act(connection: Connection, payloads: Sequence[str], known_by: Trace | Mark) -> Ended | None:
    """Send the notices of a transaction, and write its mark; returns how to find out its end, if it has written."""
    values = known_by._asdict() if isinstance(known_by, Mark) else {}
    statement = LAST_WITH_MARK if values else LAST
    number, began, _ = connection.execute(statement, {"payloads": texts_of(payloads), **values}).one()
    if number is None:
        return None
    return Ended(number, began, partial(_is_marked, known_by) if isinstance(known_by, Mark) else known_by)


def forget_marks(connection: Connection, now: datetime) -> None:
    """Delete the marks that processes have left long ago."""
    connection.execute(delete(CommitMarkRow).where(CommitMarkRow.time < now - REMEMBERED))


class NotKnownYet(Exception):
    """The database does not say yet how a transaction ended."""


def was_committed(engine: Engine, ended: Ended) -> bool:
    """The end of a transaction (True: committed). Raises NotKnownYet.

    One that is still open has lost its client: it is ended, so that a COMMIT still on its way finds nothing.
    """
    try:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            replays, open_ones = connection.execute(END, {"number": ended.number, "began": ended.began}).one()
            if not replays and not open_ones:
                return ended.trace(connection)
    except SQLAlchemyError as error:
        log.warning("a commit in doubt cannot be looked up yet", transaction=ended.number, error=str(error))
        raise NotKnownYet from error
    raise NotKnownYet


def _is_marked(mark: Mark, connection: Connection) -> bool:
    own = (CommitMarkRow.id == mark.id) & (CommitMarkRow.key == mark.key)
    return bool(connection.scalar(select(exists().where(own))))


def _late_end(engine: Engine, ended: Ended) -> bool | None:
    """As `was_committed`, None where that is not known yet."""
    try:
        return was_committed(engine, ended)
    except NotKnownYet:
        return None


NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
NO_TABLE = "42P01"
FULL = "53100"
LOCKED = "55P03"


def is_full(error: BaseException) -> bool:
    """Whether the disk has no room, for files or for the database."""
    if isinstance(error, OSError):
        return error.errno in NO_ROOM
    if not isinstance(error, DBAPIError):
        return False
    return _state(error) == FULL or "database or disk is full" in str(error.orig)


def of_the_database(error: BaseException) -> bool:
    """Whether the database failed, and not the statement. Damaged pages and lost tables are its own faults, too."""
    if isinstance(error, PoolTimeout | OperationalError | InterfaceError | InternalError):
        return True
    if not isinstance(error, DBAPIError) or isinstance(error, IntegrityError):
        return False
    # SQLite has no better word than DatabaseError for a file that is damaged or is no database.
    return error.connection_invalidated or _state(error) == NO_TABLE or type(error) is DatabaseError


def is_locked(error: BaseException) -> bool:
    """Whether PostgreSQL waited in vain for a lock that another transaction has."""
    return isinstance(error, DBAPIError) and _state(error) == LOCKED


def _state(error: DBAPIError) -> str | None:
    return getattr(error.orig, "sqlstate", None)
