"""A mark of the service's time in the database, so that time does not run back across a restart.

A row is marked with the time every few seconds, also while nothing happens: a contest that ended in silence stays ended
when the next process finds the system's clock set back. A start that finds an earlier clock adds the seconds since the
last mark.

Several processes on a database all follow the database's clock, and the latest of their marks stays.

- The time of the database's clock, which all processes on it follow, whatever the clocks of their machines say.
- The state of the database itself, for whoever runs it: its version and its size.
"""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import structlog
from pydantic import BaseModel, Field
from sqlalchemy import Connection, delete, func, select, text, update
from sqlalchemy.orm import Session

from app.core.clock import STEP, the_clock, utc_now
from app.core.db.by_id import outbox_of
from app.core.db.database import Database
from app.core.db.tables import own_insert
from app.core.db.writer import Writer
from app.core.loops import Loop
from app.tables import ClockRow, EventRow, JudgementRow

NOW = text("SELECT clock_timestamp()")
FIRST_LOOKS = 3


class DatabaseTime:
    """A clock that tells the time of a PostgreSQL server; call it from any thread, `look` from one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        looks = [self._measured() for _ in range(FIRST_LOOKS)]
        self._known = min(looks, key=lambda each: each[2])[:2]  # replaced as a whole

    def __call__(self) -> datetime:
        """The time in UTC."""
        moment, at = self._known
        return moment + timedelta(seconds=time.monotonic() - at)

    def look(self) -> None:
        """Ask the database; raises what it raises."""
        moment, at, error = self._measured()
        known, known_at = self._known
        if abs(moment - known - timedelta(seconds=at - known_at)) > timedelta(seconds=error):
            self._known = moment, at

    def _measured(self) -> tuple[datetime, float, float]:
        """The time of the database, the monotonic moment of it, and how wrong that may be, in seconds."""
        with self._database.snapshot() as connection:
            connection.execute(text("SELECT 1"))  # a new connection and a new transaction take their time before
            before = time.monotonic()
            moment: datetime = connection.execute(NOW).scalar_one()
            after = time.monotonic()
        return moment.astimezone(UTC), (before + after) / 2, (after - before) / 2


log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.clock")

SECONDS_BETWEEN_MARKS = 5.0
# Time that may have passed since the last mark: the time between two, and as much again for a late commit.
UNMARKED = timedelta(seconds=2 * SECONDS_BETWEEN_MARKS)
ONLY = 1


def start_clock(database: Database, *, accept: bool = False) -> DatabaseTime | None:
    """Let the time continue from where an earlier process had come, where the system's clock is behind that.

    With `accept` the system's clock is taken as it is: for an operator who knows that the time before was wrong.
    Returns the clock of the database, where that is followed.
    """
    clock = the_clock()
    source = None if database.origin is None else DatabaseTime(database)
    if source is not None:
        clock.follow(source)
    with database.read() as session:
        earlier = furthest(session, utc_now(), alone=source is None)
    if earlier is not None and not accept:
        clock.not_before(earlier)
    elif earlier is not None and earlier > utc_now():
        log.warning("the system's clock is accepted; the time runs back", seconds=(earlier - utc_now()).total_seconds())
    if (ahead := clock.ahead()) > STEP:
        log.warning(
            "the system's clock is behind the time of an earlier process: the time of contests continues from there, a"
            " tenth slower, until the clock has caught up. If that time was wrong, start with --accept-clock",
            seconds=ahead.total_seconds(),
        )
    with database.write(quiet=True) as session:
        if accept:
            session.execute(delete(ClockRow))
        mark(session.connection(), [clock.now()])
    return source


def furthest(session: Session, now: datetime, *, alone: bool = True) -> datetime | None:
    """The latest time that an earlier process can have told, as far as that is known and matters now.

    Not `alone`, others mark the time at this moment, and a mark that is a little later than now says no more than that.

    Events and verdicts count too, but not those that lie beyond all that can have passed since the mark: these are of
    a time that an operator has declared to be wrong.
    """
    stored = (session.scalar(select(func.max(each))) for each in (JudgementRow.end_time, EventRow.time))
    latest = max((moment for moment in stored if moment is not None), default=None)
    marked = session.scalar(select(ClockRow.time).where(ClockRow.id == ONLY))
    if marked is None:
        return latest  # kept by a version that wrote no marks
    if not alone and now < marked <= now + STEP:
        return marked
    return marked + UNMARKED if now < marked else max(marked, min(latest or marked, marked + UNMARKED))


def mark(connection: Connection, times: Sequence[datetime]) -> list[None]:
    """Keep the time, a handler of the writer; of several processes the latest."""
    latest = max(times)
    value = latest if outbox_of(connection) is None else func.greatest(ClockRow.time, latest)
    if not connection.execute(update(ClockRow).where(ClockRow.id == ONLY).values(time=value)).rowcount:
        # Of processes that start on a new database together another may have written it since.
        first = own_insert(connection, ClockRow).values(id=ONLY, time=latest)
        connection.execute(first.on_conflict_do_update(index_elements=[ClockRow.id], set_={"time": value}))
    return [None] * len(times)


class ClockKeeper:
    """A loop that has the time marked every few seconds, when the system's clock is set, and again at the end."""

    def __init__(
        self, writer: Writer, seconds: float = SECONDS_BETWEEN_MARKS, source: DatabaseTime | None = None
    ) -> None:
        self._source = source
        self._writer = writer
        self._loop = Loop("clock", self._mark, seconds, delay=seconds)
        the_clock().on_step = self._step
        self._loop.start()

    def close(self) -> None:
        """Mark the time and stop; before the writer is closed."""
        self._loop.close()
        try:
            self._mark()
        except Exception as error:  # the database is away: the next start adds the seconds since the last mark
            log.warning("the time could not be kept", error=str(error))

    def _step(self, step: timedelta) -> None:
        log.warning("the system's clock was set; the time of contests never runs back", seconds=step.total_seconds())
        self._loop.wake()  # at once: a later start adds only the seconds since the last mark

    def _mark(self) -> None:
        if self._source is not None:
            self._source.look()
        self._writer.submit(mark, utc_now()).result()


class DatabaseFacts(BaseModel):
    """The database that a service uses."""

    kind: str
    version: str
    size: int = Field(description="bytes")


def database_state(session: Session) -> DatabaseFacts:
    """Ask the database."""
    if session.get_bind().dialect.name == "sqlite":
        version = session.scalar(text("SELECT sqlite_version()"))
        size = session.scalar(text("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"))
        return DatabaseFacts(kind="SQLite", version=str(version), size=int(size or 0))
    version = str(session.scalar(text("SHOW server_version"))).partition(" ")[0]
    size = session.scalar(text("SELECT pg_database_size(current_database())"))
    return DatabaseFacts(kind="PostgreSQL", version=version, size=int(size or 0))
