"""Commits that are known to have happened or not, also where the database's reply to a COMMIT is lost.

PostgreSQL remembers how each transaction ended. Where the connection breaks during a COMMIT, its transaction is looked
up by its number before anything is tried again: else what is stored already would be stored twice.

Numbers are those of one timeline. Where another server has taken over, by its own timeline, the same number may be that
of another transaction, or of none: there the rows are looked for that it would have written, if the writer knows how.
So they are where the number is that of a commit: a crash loses the numbers of transactions that were never on the disk,
and the first who writes after it, perhaps another server of Jurado, is given them (and the ids of sequences) again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Lock, Thread
from typing import NamedTuple

import structlog
from sqlalchemy import Connection, Engine, RootTransaction, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from app.storage.notices import SENDING

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.commits")

SECONDS_IN_DOUBT = 10.0
SECONDS_BETWEEN_LOOKS = 0.1
SECONDS_BETWEEN_LATE_LOOKS = 1.0
TIMELINE = "substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"
NUMBER = text(f"SELECT CAST(pg_current_xact_id_if_assigned() AS text), {TIMELINE}, {SENDING}")
"""The last statement of a transaction sends its notices as well: each one more is a round trip."""
STATUS = text(
    f"SELECT CASE WHEN {TIMELINE} != :timeline THEN 'elsewhere'"
    " ELSE pg_xact_status(CAST(CAST(:number AS text) AS xid8)) END"
)
END = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE backend_xid = xid(CAST(CAST(:number AS text) AS xid8)) AND pid != pg_backend_pid()"
)


Trace = Callable[[Connection], bool | None]
"""Tells whether rows of a transaction are there; None where nobody could know."""


class Ended(NamedTuple):
    """A transaction whose end is to be found out: its number, the timeline that has it, and what its rows tell."""

    number: str
    timeline: str
    trace: Trace | None = None


class CommitInDoubt(Exception):
    """The connection broke during a commit, and whether that was done cannot be known for now.

    outcome  done once it is known: True if the transaction was committed, or if nobody will ever know. Its callbacks
             run in a thread of `Commits`.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.outcome: Future[bool] = Future()


class Commits:
    """Commits the transactions of one database. `on_late` is called when a commit turns out late to have been done."""

    def __init__(self, on_late: Callable[[], None], seconds: float = SECONDS_IN_DOUBT) -> None:
        self._on_late = on_late
        self._seconds = seconds
        self._lock = Lock()
        self._open: list[tuple[Engine, Ended, CommitInDoubt]] = []
        self._closing = False

    def commit(
        self,
        connection: Connection,
        transaction: RootTransaction,
        payloads: Sequence[str] = (),
        trace: Trace | None = None,
    ) -> None:
        """Commit and send notices; raises what the database raised where nothing is kept.

        Raises CommitInDoubt where that is not known.
        """
        engine = connection.engine
        number, timeline = last_act(connection, payloads) if engine.dialect.name == "postgresql" else (None, "")
        try:
            transaction.commit()
        except DBAPIError as error:
            if number is None or not error.connection_invalidated:
                raise
            ended = Ended(number, timeline, trace)
            done = self._look_until_known(engine, ended)
            log.warning("the reply to a commit was lost", transaction=number, committed=done)
            if done is None:
                doubt = CommitInDoubt(f"whether transaction {number} was committed is not known")
                self._look_later(engine, ended, doubt)
                raise doubt from error
            if not done:
                raise

    def close(self) -> None:
        """Look for nothing any more."""
        self._closing = True

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
            if len(self._open) == 1:
                Thread(target=self._look_late, name="commits in doubt", daemon=True).start()

    def _look_late(self) -> None:
        """Look until each is known: what was committed has changed boards that nobody has been told of."""
        while not self._closing:
            time.sleep(SECONDS_BETWEEN_LATE_LOOKS)
            with self._lock:
                waiting = list(self._open)
            ends = [(doubt, _late_end(engine, ended)) for engine, ended, doubt in waiting]
            known = {id(doubt): done for doubt, done in ends if done is not None}
            if any(known.values()):
                self._on_late()
            for _, ended, doubt in waiting:
                if (done := known.get(id(doubt))) is not None:
                    log.warning("a commit in doubt is known", transaction=ended.number, committed=done)
                    doubt.outcome.set_result(done)
            with self._lock:
                self._open = [each for each in self._open if id(each[2]) not in known]
                if not self._open:
                    return


def last_act(connection: Connection, payloads: Sequence[str] = ()) -> tuple[str | None, str]:
    """Send the notices of a transaction; returns its number, if it has written, and the timeline that has it."""
    number, timeline, _ = connection.execute(NUMBER, {"payloads": list(payloads)}).one()
    return number, timeline


class NotKnownYet(Exception):
    """The database does not say yet how a transaction ended."""


def was_committed(engine: Engine, ended: Ended) -> bool | None:
    """The end of a transaction (True: committed); None where nobody will ever know. Raises NotKnownYet.

    One that is still open has lost its client: it is ended, so that a COMMIT still on its way finds nothing.
    """
    number = {"number": ended.number}
    try:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            status = connection.scalar(STATUS, {**number, "timeline": ended.timeline})
            if status == "elsewhere":
                return _trace(connection, ended)
            if status == "committed":  # by its number; after a crash that may be another one's by now
                return _trace(connection, ended) is not False
            if status == "in progress":
                connection.execute(END, number)
    except SQLAlchemyError as error:
        log.warning("a commit in doubt cannot be looked up yet", transaction=ended.number, error=str(error))
        raise NotKnownYet from error
    if status != "aborted":
        raise NotKnownYet
    return False


def _trace(connection: Connection, ended: Ended) -> bool | None:
    return None if ended.trace is None else ended.trace(connection)


def _late_end(engine: Engine, ended: Ended) -> bool | None:
    """As `was_committed`, None where that is not known yet; what nobody will ever know counts as done."""
    try:
        return was_committed(engine, ended) is not False
    except NotKnownYet:
        return None
