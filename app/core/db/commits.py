"""Commits that are known to have happened or not, also where the database's reply to a COMMIT is lost.

Guarantee 1: a submission, a claim or a verdict is stored once. Those who know rows that no one else can have written
name them (`Trace`). Where the connection breaks during a COMMIT, they are looked for before anything is tried again.
Any other transaction is in doubt then: its client learns that it may have been stored (503).

PostgreSQL's own answer, `pg_xact_status`, is not asked: a crash loses the numbers of transactions that were never on
the disk, and the first who writes after it, perhaps another server of Jurado, is given them again; and on a server that
has taken over, by its own timeline, a number may be that of another transaction as well.

A transaction that is still open is ended before the look, so that a COMMIT on its way finds nothing. It is known by its
number and the microsecond of its beginning: the number alone may be that of another one by now. Where the database
cannot be reached, it ends the transaction itself a few seconds after the last statement.

- Errors that are the database's or the disk's own, and may pass: away, locked, read-only, damaged, without room.
"""

import errno
import time
from collections.abc import Callable, Sequence

import structlog
from sqlalchemy import Connection, Engine, RootTransaction, exc, text

from app.core.db.by_id import SENDING
from app.core.db.tables import texts_of

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.commits")

# Longer than the database waits for a COMMIT: a transaction that is given up as in doubt is over.
SECONDS_IN_DOUBT = 10.0
SECONDS_FOR_A_COMMIT = 5
SECONDS_BETWEEN_LOOKS = 0.1
# The last statement of a transaction sends its notices as well: each one more is a round trip.
LAST = text(
    "SELECT CAST(pg_current_xact_id_if_assigned() AS text), CAST(now() AS text),"
    f" set_config('idle_in_transaction_session_timeout', '{SECONDS_FOR_A_COMMIT}s', true), {SENDING}"
)
# Whether the database only replays yet what another one has written, and how many are ended: one, or none.
END = text(
    "SELECT pg_is_in_recovery(), count(pg_terminate_backend(pid)) FROM pg_stat_activity"
    " WHERE backend_xid = xid(CAST(CAST(:number AS text) AS xid8)) AND xact_start = CAST(:began AS timestamptz)"
)

# Tells whether the rows of a transaction are there.
Trace = Callable[[Connection], bool]


class CommitInDoubt(Exception):
    """The connection broke during a commit, and whether that was done is not known."""


def commit(
    connection: Connection,
    transaction: RootTransaction,
    payloads: Sequence[str] = (),
    trace: Trace | None = None,
    seconds: float = SECONDS_IN_DOUBT,
) -> None:
    """Commit and send notices; raises what the database raised where nothing is kept.

    Raises CommitInDoubt where its end is not known: without a `trace`, or if the database is away for so many seconds.
    """
    if connection.dialect.name != "postgresql":
        transaction.commit()
        return
    number, began, *_ = connection.execute(LAST, {"payloads": texts_of(payloads)}).one()
    try:
        transaction.commit()
    except exc.DBAPIError as error:
        if number is None or not error.connection_invalidated:
            raise
        done = _look_until_known(connection.engine, number, began, trace, seconds)
        log.warning("the reply to a commit was lost", transaction=number, committed=done)
        if done is None:
            raise CommitInDoubt(f"whether transaction {number} was committed is not known") from error
        if not done:
            raise


def _look_until_known(engine: Engine, number: str, began: str, trace: Trace | None, seconds: float) -> bool | None:
    """The end of a transaction (True: committed); None where no rows tell it, or no database answers."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            return was_committed(engine, number, began, trace)
        except NotKnownYet:
            time.sleep(SECONDS_BETWEEN_LOOKS)
    return None


class NotKnownYet(Exception):
    """The database does not say yet how a transaction ended."""


def was_committed(engine: Engine, number: str, began: str, trace: Trace | None) -> bool | None:
    """The end of a transaction (True: committed; None: no rows tell it). Raises NotKnownYet.

    One that is still open has lost its client: it is ended, so that a COMMIT still on its way finds nothing.
    """
    try:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            replays, open_ones = connection.execute(END, {"number": number, "began": began}).one()
            if not replays and not open_ones:
                return None if trace is None else trace(connection)
    except exc.SQLAlchemyError as error:
        log.warning("a commit in doubt cannot be looked up yet", transaction=number, error=str(error))
        raise NotKnownYet from error
    raise NotKnownYet


NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
NO_TABLE = "42P01"
FULL = "53100"
LOCKED = "55P03"


def is_full(error: BaseException) -> bool:
    """Whether the disk has no room, for files or for the database."""
    if isinstance(error, OSError):
        return error.errno in NO_ROOM
    if not isinstance(error, exc.DBAPIError):
        return False
    return _state(error) == FULL or "database or disk is full" in str(error.orig)


def of_the_database(error: BaseException) -> bool:
    """Whether the database failed, and not the statement. Damaged pages and lost tables are its own faults, too."""
    if isinstance(error, exc.TimeoutError | exc.OperationalError | exc.InterfaceError | exc.InternalError):
        return True
    if not isinstance(error, exc.DBAPIError) or isinstance(error, exc.IntegrityError):
        return False
    # SQLite has no better word than DatabaseError for a file that is damaged or is no database.
    return error.connection_invalidated or _state(error) == NO_TABLE or type(error) is exc.DatabaseError


def is_locked(error: BaseException) -> bool:
    """Whether PostgreSQL waited in vain for a lock that another transaction has."""
    return isinstance(error, exc.DBAPIError) and _state(error) == LOCKED


def _state(error: exc.DBAPIError) -> str | None:
    return getattr(error.orig, "sqlstate", None)
