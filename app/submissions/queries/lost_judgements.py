"""Judgements whose process has ended: they are queued again, and their lost attempts counted.

Guarantee 1: a restart, a crash or a frozen process leaves no judgement that nobody works on.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, exists, select, tuple_, update
from sqlalchemy.orm import Session

from app.core.clock import utc_now
from app.core.db.locks import SILENT, gone_processes
from app.core.db.tables import ProcessRow
from app.submissions.queries.judgements import OPEN
from app.submissions.tables import QUEUED, RUNNING
from app.tables import JudgementRow

# Those that a process judges, or has scores of.
BEGUN = (JudgementRow.state == RUNNING) | JudgementRow.process_id.is_not(None)


def is_begun_elsewhere(session: Session, process_id: str | None) -> bool:
    """Whether another process has begun a judgement that is not done."""
    other = BEGUN & JudgementRow.process_id.is_distinct_from(process_id)
    return bool(session.scalar(select(exists().where(OPEN, other))))


class Freeing(NamedTuple):
    """A process looks for judgements that nobody works on; `at_work` are its own, None: it knows of all others."""

    process_id: str | None
    at_work: frozenset[int] | None = None


def free_many(connection: Connection, freeing: Sequence[Freeing]) -> list[int]:
    """Queue judgements again whose processes have ended; returns their number. The attempts of lost ones are counted.

    Those of a process that has long been silent, but may live, are queued too: only one attempt can be recorded. A row
    that another process ends at this moment is locked, and left alone.
    """
    return [_free(connection, each) for each in freeing]


def _free(connection: Connection, freeing: Freeing) -> int:
    columns = (JudgementRow.id, JudgementRow.attempt, JudgementRow.state, JudgementRow.process_id)
    query = select(*columns).where(OPEN, BEGUN).order_by(JudgementRow.id)
    rows = connection.execute(query).all()
    others = {row.process_id for row in rows if row.process_id not in {None, freeing.process_id}}
    gone = gone_processes(connection, others)
    recent = select(ProcessRow.id).where(ProcessRow.id.in_(others), ProcessRow.seen >= utc_now() - SILENT)
    # A frozen process holds its lock, but gives no heartbeat; one that ended in order has no row.
    alive = {*connection.scalars(recent)} - gone.keys()
    own = freeing.process_id
    left = [
        (row.id, row.attempt)
        for row in rows
        if row.process_id not in alive
        and (row.process_id != own or (freeing.at_work is not None and row.id not in freeing.at_work))
    ]
    if not left:
        return 0
    these = query.where(tuple_(JudgementRow.id, JudgementRow.attempt).in_(left)).with_for_update(skip_locked=True)
    freed = connection.execute(these).all()
    for row in freed:
        if row.process_id in gone and row.state == RUNNING:
            _count_lost(connection, row.id, row.attempt, gone[row.process_id])
        here = update(JudgementRow).where(JudgementRow.id == row.id)
        connection.execute(here.values(state=QUEUED, process_id=None))
    return len(freed)


def _count_lost(connection: Connection, id_: int, attempt: int, process: str) -> None:
    error = (
        f"attempt {attempt}: the {process} was killed or lost before it ended. If that happens to this answer alone,"
        " judging it may take more memory than that machine or container has: see its log"
    )
    connection.execute(
        update(JudgementRow).where(JudgementRow.id == id_).values(lost=JudgementRow.lost + 1, error=error)
    )
