"""A mark of the service's time in the database, so that time does not run back across a restart.

A row is marked with the time every few seconds, also while nothing happens: a contest that ended in silence stays ended
when the next process finds the system's clock set back. A start that finds an earlier clock adds the seconds since the
last mark. The clock tells no time beyond those by a step: a step forward is marked first, and followed then.

Several processes on a database all follow the database's clock, and the latest of their marks stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.orm import Session

from app.core.clock import STEP, the_clock, utc_now
from app.core.db.bulk import own_insert
from app.core.db.database import Database
from app.core.db.database_time import DatabaseTime
from app.core.db.notices import outbox_of
from app.core.db.writer import Writer
from app.core.loops import Loop
from app.tables import ClockRow, EventRow, JudgementRow

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.clock")

SECONDS_BETWEEN_MARKS = 5.0
UNMARKED = timedelta(seconds=2 * SECONDS_BETWEEN_MARKS)
"""Time that may have passed since the last mark: the time between two, and as much again for a late commit."""
ONLY = 1


def start_clock(database: Database, *, accept: bool = False) -> DatabaseTime | None:
    """Let the time go on from where an earlier process had come, where the system's clock is behind that.

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
            "the system's clock is behind the time of an earlier process: the time of contests goes on from there,"
            " a tenth slower, until the clock has caught up. If that time was wrong, start with --accept-clock",
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
    """A loop that has the time marked every few seconds, before a step forward is told, and once more at the end."""

    def __init__(
        self, writer: Writer, seconds: float = SECONDS_BETWEEN_MARKS, source: DatabaseTime | None = None
    ) -> None:
        self._source = source
        self._writer = writer
        self._clock = the_clock()
        self._loop = Loop("clock", self._mark, seconds, delay=seconds)
        self._clock.allow(self._clock.now() + UNMARKED)  # what `start_clock` has marked
        self._clock.on_held = self._loop.wake
        self._loop.start()

    def close(self) -> None:
        """Mark the time and stop; before the writer is closed."""
        self._loop.close()
        try:
            self._mark()
        except Exception as error:  # the database is away: the next start adds the seconds since the last mark
            log.warning("the time could not be kept", error=str(error))
        self._clock.allow()

    def _mark(self) -> None:
        if self._source is not None:
            self._source.look()
        due = self._clock.due()
        self._writer.submit(mark, due).result()
        self._clock.allow(due + UNMARKED)
