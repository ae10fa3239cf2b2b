"""The state of a whole installation, for whoever runs it: processes, database, broker, judging, contests, files."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from shutil import disk_usage

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.archive.queries import scrub
from app.contests import queries as contests_queries
from app.core import clics, clock
from app.core.db import clock as db_clock
from app.core.db.locks import SILENT, processes
from app.core.service import Service
from app.domain.contests import Clock
from app.judging.service.broker import BrokerAway, QueueFacts, queue_state
from app.operations import queries as operations_queries
from app.tables import ContestRow, LastBackupRow, ProcessRow

MOST_JUDGE_ERRORS = 3


class ProcessState(BaseModel):
    """A server or a worker; `alive`: it has given a sign of life within 15 s."""

    kind: str = Field(description="server or worker")
    host: str
    pid: int
    version: str
    since: str
    seen: str = Field(description="its last sign of life, one each 5 s")
    alive: bool
    graders: int = Field(description="graders that are able to work")
    grader_deaths: int = Field(description="graders that died since it started")
    at_hand: int = Field(description="judgements that its graders have claimed and not ended")


class BrokerFacts(BaseModel):
    """The broker; `error` is empty where it answers."""

    error: str
    queues: list[QueueFacts]
    unacknowledged: int = Field(description="judgements that graders of workers have claimed and not ended")


class JudgingFacts(BaseModel):
    """What waits, what came in and how long verdicts took, over the last five minutes."""

    waiting: int
    oldest_seconds: float | None
    waiting_again: int = Field(description="judgements of rejudgings that are not done")
    submissions_per_second: float
    verdict_seconds_median: float | None
    verdict_seconds_95: float | None = Field(description="95 of 100 took no longer")


class RunningContest(BaseModel):
    """A contest that has begun and not ended."""

    id: str
    name: str
    end: str | None
    frozen: bool
    paused: bool


class NextEvent(BaseModel):
    """The next moment at which a contest changes by the clock."""

    contest_id: str
    event: str = Field(description="starts, freezes, ends or thaws")
    time: str
    seconds: float = Field(description="until then")


class FilesFacts(BaseModel):
    """The stored files; free bytes are null on S3, which tells none."""

    place: str
    free_bytes: int | None
    all_bytes: int | None


class BackupFacts(BaseModel):
    """The last backup that was finished."""

    made: str
    age_seconds: float
    place: str
    files: int
    size: int
    faulty: int = Field(description="files that the store could not give")


class Status(BaseModel):
    """The state of an installation."""

    time: str
    version: str
    distributed: bool
    processes: list[ProcessState]
    database: db_clock.DatabaseFacts
    broker: BrokerFacts | None
    judging: JudgingFacts
    judge_errors: int
    newest_judge_errors: list[operations_queries.JudgeErrorFact]
    contests: list[RunningContest]
    next_event: NextEvent | None
    files: FilesFacts
    backup: BackupFacts | None


def status(service: Service) -> Status:
    """Read all of it, within seconds; raises what the database does where it says nothing."""
    now = clock.utc_now()
    with service.database.read(for_request=True) as session:
        rows = processes(session)
        database = db_clock.database_state(session)
        judging = _judging(session, now)
        count, errors = operations_queries.judge_errors(session, MOST_JUDGE_ERRORS)
        listed = contests_queries.contests(session)
        backup = scrub.read(session)
    states = [_process(row, now) for row in rows]
    return Status(
        time=clics.format_time(now),
        version=version("jurado"),
        distributed=service.settings.distributed,
        processes=states,
        database=database,
        broker=_broker(service.settings.broker_url, states) if service.settings.distributed else None,
        judging=judging,
        judge_errors=count,
        newest_judge_errors=errors,
        contests=_running(listed, now),
        next_event=next_event(((row.id, contests_queries.clock(row)) for row in listed), now),
        files=_files(service),
        backup=None if backup is None else _backup(backup, now),
    )


def _process(row: ProcessRow, now: datetime) -> ProcessState:
    return ProcessState(
        kind=row.kind,
        host=row.host,
        pid=row.pid,
        version=row.version,
        since=clics.format_time(row.started),
        seen=clics.format_time(row.seen),
        alive=now - row.seen <= SILENT,
        graders=row.graders,
        grader_deaths=row.deaths,
        at_hand=row.at_hand,
    )


def _broker(url: str, states: Sequence[ProcessState]) -> BrokerFacts:
    unacknowledged = sum(each.at_hand for each in states if each.alive)
    try:
        queues = [queue_state(url)]
    except BrokerAway as error:
        return BrokerFacts(error=str(error), queues=[], unacknowledged=unacknowledged)
    return BrokerFacts(error="", queues=queues, unacknowledged=unacknowledged)


def _judging(session: Session, now: datetime) -> JudgingFacts:
    queue, recent = operations_queries.queue(session), operations_queries.recent(session, now)
    return JudgingFacts(
        waiting=queue.length,
        oldest_seconds=None if queue.oldest is None else (now - queue.oldest).total_seconds(),
        waiting_again=operations_queries.rejudging_queue(session),
        submissions_per_second=recent.rate,
        verdict_seconds_median=recent.median,
        verdict_seconds_95=recent.most,
    )


def _running(rows: Iterable[ContestRow], now: datetime) -> list[RunningContest]:
    times = [(row, contests_queries.clock(row)) for row in rows]
    return [
        RunningContest(
            id=row.id,
            name=row.name,
            end=clics.format_time_or_none(each.end),
            frozen=each.frozen(now),
            paused=each.paused(now),
        )
        for row, each in times
        if each.started(now) and not each.ended(now)
    ]


def next_event(clocks: Iterable[tuple[str, Clock]], now: datetime) -> NextEvent | None:
    """The next moment at which one of these contests changes by the clock; None: none does."""
    moments = [
        (moment, contest_id, event)
        for contest_id, each in clocks
        for event, moment in (
            ("starts", each.start),
            ("freezes", each.freeze),
            ("ends", each.end),
            ("thaws", each.thaw),
        )
        if moment is not None and moment > now
    ]
    if not moments:
        return None
    moment, contest_id, event = min(moments)
    return NextEvent(
        contest_id=contest_id, event=event, time=clics.format_time(moment), seconds=(moment - now).total_seconds()
    )


def _files(service: Service) -> FilesFacts:
    folder = Path(service.files.place)
    room = disk_usage(folder) if folder.exists() else None
    return FilesFacts(
        place=service.files.place,
        free_bytes=None if room is None else room.free,
        all_bytes=None if room is None else room.total,
    )


def _backup(row: LastBackupRow, now: datetime) -> BackupFacts:
    return BackupFacts(
        made=clics.format_time(row.made),
        age_seconds=(now - row.made).total_seconds(),
        place=row.place,
        files=row.files,
        size=row.size,
        faulty=row.faulty,
    )
