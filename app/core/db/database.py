"""Engines and sessions for SQLite (embedded) and PostgreSQL, with the settings durability needs.

- Work that follows the commit of the transaction that asks for it.
"""

import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session
from sqlalchemy.pool import QueuePool

from app.core.db import audit, by_id
from app.core.db.commits import SECONDS_IN_DOUBT, CommitInDoubt, Trace, commit
from app.core.db.serving import Patience, be_patient
from app.core.db.tables import Base
from app.core.effort import EFFORT
from app.core.settings import DEFAULT_TIMEOUTS, Timeouts

LOG_LIMIT = 64 * 2**20
POOL = 20
# Connections for requests that only read; `app.core.http.lists.Queued` lets in fewer at once (`most_reads`).
REQUESTS_READ = 24
# The key under which an SQLite connection keeps that its transaction has not begun yet.
LATE = "begins with its first statement"
WRITERS = 2
# Time that a batch of the writer waits for a lock before each of its writes is tried alone (`app.core.db.writer`).
WRITERS_LOCK_SECONDS = 0.25
# Options that the driver puts into the BEGIN of a reading transaction: they cost no round trip.
SNAPSHOT = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}


class Database:
    """One database: `read` and `write` open sessions, each of them one transaction.

    A `read` sees one snapshot from its first query to its end: REPEATABLE READ on PostgreSQL, where a transaction that
    only reads never fails for that; on SQLite the write-ahead log as it was. As long as it is open, neither vacuum nor
    a checkpoint gets past its snapshot, so no session stays open while something slow (a client) is waited for.

    There are three pools, so that many readers take no connection from a submission's way to its verdict: one for
    requests that only read (`for_request`), one for the writer (`writers`), and `engine` for all other work. Each has
    its own `timeouts` on PostgreSQL: what takes longer than its purpose allows fails, and what it locked is free again.

    `generation` goes up with every `write`, so that what was read from contests, problems and accounts may be kept
    while it stays the same. The writer's commits (submissions, judgements) leave it alone. `listeners` are called after
    each `write`. While `barred` says why, nothing may be written: writes raise OperationalError.

    A `shared` database has other processes on it. They are told of what transactions change (`app.core.db.by_id`),
    and `origin` is the name by which this one knows its own notices; None where it has the database for itself.
    """

    def __init__(self, url: str, timeouts: Timeouts = DEFAULT_TIMEOUTS, *, shared: bool = False) -> None:
        self.url = url
        self.origin = secrets.token_hex(6) if shared else None
        self.engine = _open_engine(url, Patience(timeouts.long, timeouts.long, timeouts), POOL, POOL)
        short = timeouts._replace(lock=min(timeouts.lock, WRITERS_LOCK_SECONDS))
        self.writers = _open_engine(url, Patience(timeouts.write, timeouts.idle, short), WRITERS, tries_again=True)
        self.readers = _open_engine(url, Patience(timeouts.read, timeouts.idle, timeouts), REQUESTS_READ)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        self._snapshots, self._requests = (
            each if self.is_sqlite else each.execution_options(**SNAPSHOT) for each in (self.engine, self.readers)
        )
        self.generation = 0
        self.listeners: list[Callable[[], None]] = []
        self._changes = count(1)
        self.seconds_in_doubt = SECONDS_IN_DOUBT
        self.barred: str | None = None
        self._path = (
            Path(name) if self.is_sqlite and (name := self.engine.url.database) != ":memory:" and name else None
        )
        self._file = _identity(self._path) if self._path is not None and self._path.exists() else None
        if self._path is not None:
            for engine in (self.engine, self.writers, self.readers):
                event.listen(engine, "do_connect", self._refuse_lost_file)

    @contextmanager
    def read(self, *, for_request: bool = False) -> Iterator[Session]:
        """Open a transaction that only reads, all of it from one snapshot; it is rolled back at the end."""
        with Session(self._requests if for_request else self._snapshots, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Open a connection that only reads, as `read` does, for those who look at many rows."""
        with self._snapshots.connect() as connection:
            yield connection

    @contextmanager
    def write(self, *, quiet: bool = False) -> Iterator[Session]:
        """Open a transaction that writes: committed (and durable) at the end, rolled back on any exception.

        A `quiet` one leaves the generation alone: it writes nothing that anyone keeps, such as an account's tokens.
        """
        with self.transaction() as connection, Session(connection, expire_on_commit=False) as session:
            audit.watch_session(session, connection)
            by_id.watch_session(session, connection)
            yield session
            session.commit()  # as far as the session goes: the transaction is the connection's
            if not quiet:
                by_id.tell(connection, by_id.Kind.CHANGED)
        if not quiet:
            self.changed()

    @contextmanager
    def transaction(
        self,
        engine: Engine | None = None,
        *,
        lock_ms: int | None = None,
        durable: bool = True,
        trace: Callable[[], Trace | None] = lambda: None,
    ) -> Iterator[Connection]:
        """Open a transaction that writes on a connection, of another `engine` if one is given; see `write`.

        `lock_ms` bounds each wait for a lock, in milliseconds; None: as the database's settings have it. What is not
        `durable` does not wait for the disk: a loss of power may undo it, but nothing that was committed before it.
        `trace` is asked at the end for what looks for its rows, where the reply to its COMMIT is lost.
        Raises CommitInDoubt where it is not known whether it was committed; other errors mean that nothing was kept.
        """
        with (engine or self.engine).connect() as connection:
            # An engine with options would be made each time.
            connection.execution_options(write=True, lock_ms=lock_ms, durable=durable)
            self._refuse_if_barred()
            transaction = connection.begin()
            if lock_ms is not None and not self.is_sqlite:
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = {lock_ms}")
            if not durable and not self.is_sqlite:
                connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
            with (
                by_id.collected(connection, self.origin) as payloads,
                audit.audited(connection, transaction),
            ):
                yield connection  # what is raised here is rolled back when the connection is given back
            if transaction.is_active:  # else a dry run has taken it back
                self._refuse_if_barred()
                try:
                    commit(connection, transaction, payloads, trace(), self.seconds_in_doubt)
                except CommitInDoubt:
                    self.changed()  # boards must show it if it was committed (guarantee 2)
                    raise
                except Exception:
                    transaction.rollback()  # else SQLite's, refused at COMMIT, goes back to the pool still open
                    raise

    def _refuse_lost_file(self, *_: object) -> None:
        # SQLite would make an empty file where the path leads to none, and then delete the write-ahead log beside it,
        # with all in it that the other connections have committed.
        if self._file is not None and (why := self.lost_file()) is not None:
            raise sqlite3.OperationalError(why)

    def bar(self, why: str) -> None:
        """Let nothing be written until `unbar`: the lock of the database is lost."""
        self.barred = why

    def unbar(self) -> None:
        """Let writes through again; others may have had the lock for a moment, and written."""
        self.barred = None
        self.changed()

    def _refuse_if_barred(self) -> None:
        why = self.barred or self.lost_file()
        if why is not None:
            raise OperationalError(why, None, RuntimeError(why))

    def lost_file(self) -> str | None:
        """Why what is written would be lost: the path of SQLite's file leads no more to the file that is open."""
        if self._path is None:
            return None
        try:
            current = _identity(self._path)
        except OSError:
            return f"the database's file {self._path} is gone: put it back, or restore a backup and start anew"
        self._file = self._file or current
        if current == self._file:
            return None
        return f"another file is at {self._path} than the one that is open: start anew"

    def changed(self) -> None:
        """Say that something has been written that others may keep in memory."""
        self.generation = next(self._changes)  # `+= 1` could lose one of two, and a board would stay as it was
        for listener in self.listeners:
            listener()

    def connections_in_use(self) -> dict[str, int]:
        """The number of connections at work in each pool."""
        pools = {"work": self.engine.pool, "writers": self.writers.pool, "readers": self.readers.pool}
        return {name: pool.checkedout() for name, pool in pools.items() if isinstance(pool, QueuePool)}

    def close(self) -> None:
        """Give all connections back; one that is still at work is closed when it is returned."""
        for each in (self.engine, self.writers, self.readers):
            # It would go back into a pool that no one has any longer, and be left open there.
            event.listen(each, "checkin", lambda _connection, record: record.close())
            each.dispose()


def _identity(path: Path) -> tuple[int, int]:
    """The identity of a file, which another one put in its place does not have."""
    status = path.stat()
    return status.st_dev, status.st_ino


def _open_engine(url: str, patience: Patience, size: int, more: int = 0, *, tries_again: bool = False) -> Engine:
    """Open a pool. Where it is not those who use it that try again, it asks whether a connection is alive first."""
    if not url.startswith("sqlite"):
        sizes = {"pool_size": size, "max_overflow": more}
        engine = create_engine(url, **sizes, pool_pre_ping=not tries_again, hide_parameters=True)
        be_patient(engine, patience)
        return engine
    own = {"check_same_thread": False}
    engine = create_engine(url, pool_size=size, max_overflow=more, connect_args=own, hide_parameters=True)
    event.listen(engine, "connect", lambda connection, _record: _set_pragmas(connection, patience.busy))
    event.listen(engine, "begin", _begin)
    event.listen(engine, "before_cursor_execute", _begin_late)
    return engine


def _set_pragmas(connection: sqlite3.Connection, busy_seconds: float) -> None:
    # The driver must not begin transactions by itself: `_begin` decides whether they write.
    connection.isolation_level = None
    # With the log, NORMAL would lose the last commits with the power, and they were acknowledged; only tests change it.
    for pragma in (
        "journal_mode=WAL",
        f"synchronous={'FULL' if EFFORT.waits_for_disk else 'OFF'}",
        f"busy_timeout={1000 * busy_seconds:.0f}",
        "foreign_keys=ON",
        f"journal_size_limit={LOG_LIMIT}",  # a log that grew while someone read for long is cut when it begins again
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    """Begin a transaction that reads; one that writes begins with its first statement.

    SQLite has one lock for all writers: whoever still reads a request's body or hashes passwords must not hold it.
    """
    connection.info[LATE] = connection.get_execution_options().get("write", False)
    if not connection.info[LATE]:
        connection.exec_driver_sql("BEGIN")


def _begin_late(connection: Connection, *_: object) -> None:
    # A transaction that reads first and writes later fails at once with "database is locked", whatever the timeout.
    if not connection.info.pop(LATE, False):
        return
    options = connection.get_execution_options()
    if EFFORT.waits_for_disk:
        connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if options.get('durable', True) else 'NORMAL'}")
    if (lock_ms := options.get("lock_ms")) is None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        return
    usual_ms = connection.exec_driver_sql("PRAGMA busy_timeout").scalar()
    connection.exec_driver_sql(f"PRAGMA busy_timeout={lock_ms}")
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    finally:
        connection.exec_driver_sql(f"PRAGMA busy_timeout={usual_ms}")


_CALLS = "after_commit"
# The lock of an update that leaves the key alone: rows that refer to it may come in the meantime.
NOT_ITS_KEY = {"key_share": True}


def alone(session: Session, row: Base) -> None:
    """Read a row again, which no one else changes before the end of this transaction.

    Some columns hold many properties, and who changes one of them writes all.
    """
    session.refresh(row, with_for_update=NOT_ITS_KEY)


def after_commit(session: Session, call: Callable[[], None]) -> None:
    """Run a function once the request's transaction is committed; a rollback drops it."""
    session.info.setdefault(_CALLS, []).append(call)


def run_after_commit(session: Session) -> None:
    """Run what `after_commit` was given, once each; the session's transaction has been committed."""
    for call in session.info.pop(_CALLS, []):
        call()


def drop_after_commit(session: Session) -> None:
    """Forget what `after_commit` was given, where the transaction is rolled back by hand and its session continues."""
    session.info.pop(_CALLS, None)
