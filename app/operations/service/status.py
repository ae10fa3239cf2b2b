"""The facts of a whole installation, for whoever runs it: processes, database, broker, judging, contests, files."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from shutil import disk_usage

from app.contests import queries as contests_queries
from app.core import clock
from app.core.db import clock as db_clock
from app.core.db.locks import processes
from app.core.service import Service
from app.judging.service.broker import BrokerAway, QueueFacts, queue_state
from app.operations import queries as operations_queries
from app.tables import LastBackupRow, ProcessRow


@dataclass(frozen=True, slots=True)
class Status:
    """The facts of an installation at a moment.

    queue           the broker's; a text: why it does not answer; None where there is no broker
    waiting_again   judgements of rejudgings that are not done
    errors          submissions that stand with a judge error, and the newest of them
    running         the contests that have begun and not ended
    room            free and all bytes where stored files lie; None on S3, which tells none
    """

    now: datetime
    distributed: bool
    processes: Sequence[ProcessRow]
    database: db_clock.DatabaseFacts
    queue: QueueFacts | str | None
    recent: operations_queries.Recent
    waiting_again: int
    errors: tuple[int, operations_queries.JudgeError | None]
    running: Sequence[str]
    files_place: str
    room: tuple[int, int] | None
    backup: LastBackupRow | None


def status(service: Service) -> Status:
    """Read all of it, within seconds; raises what the database does where it says nothing."""
    now = clock.utc_now()
    with service.database.read(for_request=True) as session:
        rows = processes(session)
        database = db_clock.database_state(session)
        recent = operations_queries.recent(session, now)
        waiting_again = operations_queries.rejudging_queue(session)
        errors = operations_queries.judge_errors(session)
        contests = [(row.id, contests_queries.clock(row)) for row in contests_queries.contests(session)]
        backup = session.get(LastBackupRow, 1)
    folder = Path(service.files.place)
    disk = disk_usage(folder) if folder.exists() else None
    return Status(
        now=now,
        distributed=service.settings.distributed,
        processes=rows,
        database=database,
        queue=_queue(service.settings.broker_url) if service.settings.distributed else None,
        recent=recent,
        waiting_again=waiting_again,
        errors=errors,
        running=[contest_id for contest_id, each in contests if each.started(now) and not each.ended(now)],
        files_place=service.files.place,
        room=None if disk is None else (disk.free, disk.total),
        backup=backup,
    )


def _queue(url: str) -> QueueFacts | str:
    try:
        return queue_state(url)
    except BrokerAway as error:
        return str(error)
