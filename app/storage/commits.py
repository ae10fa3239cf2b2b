"""Commits that are known to have happened or not, also where the database's reply to a COMMIT is lost.

PostgreSQL remembers how each transaction ended. Where the connection breaks during a COMMIT, its transaction is looked
up by its number before anything is tried again: else what is stored already would be stored twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread

import structlog
from sqlalchemy import Connection, Engine, RootTransaction, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.commits")

SECONDS_IN_DOUBT = 10.0
SECONDS_BETWEEN_LOOKS = 0.1
SECONDS_BETWEEN_LATE_LOOKS = 1.0
NUMBER = text("SELECT CAST(pg_current_xact_id_if_assigned() AS text)")
STATUS = text("SELECT pg_xact_status(CAST(CAST(:number AS text) AS xid8))")
END = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE backend_xid = xid(CAST(CAST(:number AS text) AS xid8)) AND pid != pg_backend_pid()"
)


class CommitInDoubt(Exception):
    """The connection broke during a commit, and whether that was done cannot be known for now.

    outcome  done once it is known: True if the transaction was committed. Its callbacks run in a thread of `Commits`.
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
        self._open: list[tuple[Engine, str, CommitInDoubt]] = []
        self._closing = False

    def commit(self, connection: Connection, transaction: RootTransaction) -> None:
        """Commit; raises what the database raised where nothing is kept, CommitInDoubt where that is not known."""
        engine = connection.engine
        number = connection.scalar(NUMBER) if engine.dialect.name == "postgresql" else None
        try:
            transaction.commit()
        except DBAPIError as error:
            if number is None or not error.connection_invalidated:
                raise
            done = self._look_until_known(engine, number)
            log.warning("the reply to a commit was lost", transaction=number, committed=done)
            if done is None:
                doubt = CommitInDoubt(f"whether transaction {number} was committed is not known")
                self._look_later(engine, number, doubt)
                raise doubt from error
            if not done:
                raise

    def close(self) -> None:
        """Look for nothing any more."""
        self._closing = True

    def _look_until_known(self, engine: Engine, number: str) -> bool | None:
        until = time.monotonic() + self._seconds
        while (done := was_committed(engine, number)) is None and time.monotonic() < until and not self._closing:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        return done

    def _look_later(self, engine: Engine, number: str, doubt: CommitInDoubt) -> None:
        with self._lock:
            self._open.append((engine, number, doubt))
            if len(self._open) == 1:
                Thread(target=self._look_late, name="commits in doubt", daemon=True).start()

    def _look_late(self) -> None:
        """Look until each is known: what was committed has changed boards that nobody has been told of."""
        while not self._closing:
            time.sleep(SECONDS_BETWEEN_LATE_LOOKS)
            with self._lock:
                waiting = list(self._open)
            known = {each: done for each in waiting if (done := was_committed(*each[:2])) is not None}
            if any(known.values()):
                self._on_late()
            for (_, number, doubt), done in known.items():
                log.warning("a commit in doubt is known", transaction=number, committed=done)
                doubt.outcome.set_result(done)
            with self._lock:
                self._open = [each for each in self._open if each not in known]
                if not self._open:
                    return


def was_committed(engine: Engine, number: str) -> bool | None:
    """The end of a transaction (True: committed); None while the database does not say.

    One that is still open has lost its client: it is ended, so that a COMMIT still on its way finds nothing.
    """
    try:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            status = connection.scalar(STATUS, {"number": number})
            if status == "in progress":
                connection.execute(END, {"number": number})
    except SQLAlchemyError as error:
        log.warning("a commit in doubt cannot be looked up yet", transaction=number, error=str(error))
        return None
    return {"committed": True, "aborted": False}.get(status or "")
