"""Locks that let one process at a time serve or change a home and its database; they end with it, kill -9 included.

A server keeps boards, accounts and queues in memory. Of two on one database each would show its own, and take no notice
of the other's pauses and revoked tokens. So the home and a SQLite file are locked by a file next to them (flock), and a
PostgreSQL database by an advisory lock, which a connection of its own holds. Servers and workers of a distributed
installation share these locks: whatever needs a database for itself is refused while one of them runs, and they while
it runs.

- Timeouts of PostgreSQL: those that it keeps itself, and those for a server that has fallen silent.
"""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

import structlog
from sqlalchemy import Connection, Engine, NullPool, create_engine, event, make_url, text
from sqlalchemy.exc import SQLAlchemyError

from app.core import clock, settings
from app.core.loops import FOREVER, Loop
from checkers.doors import N_

if TYPE_CHECKING:
    from app.core.db.listener import BoundedConnection


CONNECT_SECONDS = 5
SETTINGS = (
    "SELECT set_config('statement_timeout', %s, false), set_config('lock_timeout', %s, false),"
    " set_config('idle_in_transaction_session_timeout', %s, false)"
)


class Patience:
    """Timeouts of the connections of one purpose, in seconds: of a statement, idle in a transaction, and so on."""

    def __init__(self, statement: float, idle: float, timeouts: settings.Timeouts) -> None:
        self._settings = [f"{1000 * seconds:.0f}ms" for seconds in (statement, timeouts.lock, idle)]
        self._reply = statement + timeouts.reply if statement else None
        self._outside = timeouts.reply
        self.busy = timeouts.busy
        self.network = network_patience(timeouts.silent)

    def apply(self, connection: BoundedConnection) -> None:
        """Let a new connection have these bounds."""
        connection.seconds, connection.seconds_outside = self._reply, self._outside
        connection.autocommit = True
        connection.execute(SETTINGS, self._settings)
        connection.autocommit = False


def network_patience(silent: float) -> dict[str, int]:
    """Options of libpq for a network that is silent for so many seconds: no reply to a connect, no acknowledgement."""
    if not silent:
        return {"connect_timeout": CONNECT_SECONDS}
    return {
        "connect_timeout": CONNECT_SECONDS,
        "keepalives_idle": max(1, round(silent / 2)),
        "keepalives_interval": max(1, round(silent / 6)),
        "keepalives_count": 3,
        "tcp_user_timeout": round(1000 * silent),
    }


def be_patient(engine: Engine, patience: Patience) -> None:
    """Let every connection that a PostgreSQL engine opens have these bounds."""
    from app.core.db.listener import BoundedConnection  # its driver takes 0.1 s, which SQLite needs not pay

    # Any: the arguments of the driver's connect, each of a type of its own.
    def connect(_dialect: object, _record: object, _args: object, named: dict[str, Any]) -> BoundedConnection:
        connection = BoundedConnection.connect(**{**patience.network, **named})
        try:
            connection.check_encoding()
            patience.apply(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    event.listen(engine, "do_connect", connect)


def single_engine(url: str, name: str, silent: float) -> Engine:
    """An engine for a connection of its own, by a name that PostgreSQL shows.

    Statements on it are outside of transactions, and so short; a network that is silent for so many seconds is noticed.
    """
    named = {"application_name": name}
    engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT", connect_args=named)
    be_patient(engine, Patience(0.0, 0.0, settings.Timeouts(lock=0.0, silent=silent)))
    return engine


log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.serving")

LOCK_FILE = "serving.lock"
KEY = int.from_bytes(b"jurado")
SECONDS_BETWEEN_LOOKS = 1.0
LONGEST_NAME = 63
# A lock that is lost is to be noticed soon.
SECONDS_OF_SILENCE = 12.0
TRY_ALONE = text("SELECT pg_try_advisory_lock(:key)")
TRY_SHARED = text("SELECT pg_try_advisory_lock_shared(:key)")
UNLOCK = text("SELECT pg_advisory_unlock_all()")
HOLDER = text(
    "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)"
    " WHERE locktype = 'advisory' AND granted AND objsubid = 1"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND (CAST(classid AS bigint) << 32) | CAST(objid AS bigint) = :key"
)


class InUse(Exception):
    """Another process holds the lock; the message says which, and since when."""


class _Lock(Protocol):
    def release(self) -> None: ...


class Hold:
    """The locks of a home and its databases, held until `release` or the end of the process."""

    def __init__(self, locks: Sequence[_Lock]) -> None:
        self._locks = locks

    def watch(self, lost: Callable[[str], None], again: Callable[[], None], taken: Callable[[str], None]) -> None:
        """Watch a lock that can be lost with its connection.

        Calls `lost` as soon as it is, then `again` if it is taken again, or `taken` if another process has it.
        """
        for each in self._locks:
            if isinstance(each, _DatabaseLock):
                each.watch(lost, again, taken)

    def release(self) -> None:
        """Let others have them."""
        for each in reversed(self._locks):
            each.release()


def hold(what: str, home: Path | None, *urls: str, shared: bool = False) -> Hold:
    """Take the locks of a home and of databases for `what`, such as "jurado serve"; raises InUse naming who has one.

    `shared`: others that share them may hold them too.
    """
    me = f"{what} on {socket.gethostname()[:20]}, process {os.getpid()}, since {clock.utc_now():%Y-%m-%d %H:%M:%S}"
    with ExitStack() as stack:
        locks: list[_Lock] = []
        if home is not None:
            home.mkdir(parents=True, exist_ok=True)
            locks.append(_FileLock(home / LOCK_FILE, me, str(home.resolve()), shared=shared))
            stack.callback(locks[-1].release)
        for url in urls:
            if (lock := _of_database(url, me, shared=shared)) is not None:
                locks.append(lock)
                stack.callback(lock.release)
        stack.pop_all()
        return Hold(locks)


def hold_when_free(what: str, home: Path, url: str, waiting: Callable[[str], None], *, shared: bool = False) -> Hold:
    """As `hold`, but wait until the locks are free; `waiting` is told whenever another process is found to have one."""
    last_message = ""
    while True:
        try:
            return hold(what, home, url, shared=shared)
        except InUse as error:
            if str(error) != last_message:
                last_message = str(error)
                waiting(last_message)
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _of_database(url: str, me: str, *, shared: bool) -> _Lock | None:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return _DatabaseLock(url, me, shared=shared)
    path = Path(parsed.database or "")
    if not parsed.database or not path.parent.is_dir():
        return None  # in memory, or in a folder that is not there: opening it says so
    return _FileLock(path.with_name(f"{path.name}.lock"), me, str(path), shared=False)


class _FileLock:
    """A locked file that holds the name of whoever locked it last; the kernel frees it when the process ends."""

    def __init__(self, path: Path, me: str, place: str, *, shared: bool) -> None:
        self._file: IO[str] = path.open("a+")
        try:
            fcntl.flock(self._file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.seek(0)
            holder = self._file.read().strip() or "another process"
            self._file.close()
            raise InUse(f"{place} is in use by {holder}") from None
        # Only the holder empties the file: opening it to write would erase the name of the present one.
        self._file.truncate(0)
        self._file.write(f"{me}\n")
        self._file.flush()

    def release(self) -> None:
        """Unlock; the file stays, as one that is taken away could be locked by two."""
        self._file.close()


class _DatabaseLock:
    """An advisory lock of a PostgreSQL database on a connection of its own."""

    def __init__(self, url: str, me: str, *, shared: bool) -> None:
        self._try = TRY_SHARED if shared else TRY_ALONE
        name = me.encode()[:LONGEST_NAME].decode(errors="ignore")
        self._engine = single_engine(url, name, SECONDS_OF_SILENCE)
        self._connection: Connection = self._take()
        self._is_held = True
        self._watching: Loop | None = None

    def _take(self) -> Connection:
        connection = self._engine.connect()
        try:
            if connection.scalar(self._try, {"key": KEY}):
                return connection
            holder = connection.scalar(HOLDER, {"key": KEY}) or "another process"
        except BaseException:
            connection.close()
            raise
        connection.close()
        raise InUse(f"the database {self._engine.url.render_as_string()} is in use by {holder}")

    def watch(self, lost: Callable[[str], None], again: Callable[[], None], taken: Callable[[str], None]) -> None:
        """See `Hold.watch`."""
        self._watching = Loop(
            "lock",
            lambda: self._look(lost, again, taken),
            SECONDS_BETWEEN_LOOKS,
            delay=SECONDS_BETWEEN_LOOKS,
            retry=SECONDS_BETWEEN_LOOKS,
        )
        self._watching.start()

    def _look(
        self, lost: Callable[[str], None], again: Callable[[], None], taken: Callable[[str], None]
    ) -> float | None:
        """Ask on the connection that holds the lock, or take the lock again if it was lost."""
        if self._is_held:
            try:
                self._connection.scalar(text("SELECT 1"))
            except SQLAlchemyError as error:
                self._is_held = False
                log.warning("the lock of the database is lost with its connection", error=str(error))
                lost(N_("this server has lost its database lock: nothing is written until it is acquired again"))
                self._connection.invalidate()
                self._connection.close()
            return None
        try:
            self._connection = self._take()
        except InUse as error:
            taken(str(error))
            return FOREVER
        self._is_held = True
        log.warning("the lock of the database is taken again")
        again()
        return None

    def release(self) -> None:
        """Unlock, and close the connection."""
        if self._watching is not None:
            self._watching.close()  # it may be asking on the connection
        if self._is_held:
            # PostgreSQL notices a closed connection a moment later: the next command would find the lock taken.
            with suppress(SQLAlchemyError):  # a connection that is lost holds no lock
                self._connection.execute(UNLOCK)
        self._connection.close()
        self._engine.dispose()
