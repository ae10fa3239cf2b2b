"""Questions about the service as a whole: what waits, and how much was done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select, text
from sqlalchemy.orm import Session

from app.storage.judgements import DONE
from app.storage.tables import JudgementRow, RawScoreRow, SubmissionRow


@dataclass(frozen=True, slots=True)
class Queue:
    """The number of submissions without a verdict, and since when the oldest has been waiting."""

    length: int
    oldest: datetime | None


def queue(session: Session) -> Queue:
    """The queue of submissions without a verdict."""
    count, oldest = session.execute(
        select(func.count(), func.min(JudgementRow.start_time)).where(
            JudgementRow.state != DONE, JudgementRow.rejudging_id.is_(None)
        )
    ).one()
    return Queue(count, oldest)


def submission_count(session: Session) -> int:
    """The number of submissions ever accepted."""
    return session.scalar(select(func.count()).select_from(SubmissionRow)) or 0


def verdict_counts(session: Session) -> dict[str, int]:
    """The number of judgements by type; those of rejudgings are left out, as nothing public may tell them."""
    rows = session.execute(
        select(JudgementRow.type, func.count())
        .where(JudgementRow.state == DONE, JudgementRow.rejudging_id.is_(None))
        .group_by(JudgementRow.type)
    )
    return {str(type_): count for type_, count in rows}


def settled(session: Session) -> int:
    """The id up to which every judgement is done, so that nothing below it will change."""
    oldest = session.scalar(select(func.min(JudgementRow.id)).where(JudgementRow.state != DONE))
    return oldest - 1 if oldest is not None else session.scalar(select(func.max(JudgementRow.id))) or 0


def checking_ms(session: Session, after: int, upto: int | None = None) -> int:
    """Milliseconds of checkers over judgements with ids after one and up to another, those of rejudgings left out."""
    query = (
        select(func.sum(RawScoreRow.run_time_ms))
        .join(JudgementRow, JudgementRow.id == RawScoreRow.judgement_id)
        .where(RawScoreRow.judgement_id > after, JudgementRow.rejudging_id.is_(None))
    )
    if upto is not None:
        query = query.where(RawScoreRow.judgement_id <= upto)
    return int(session.scalar(query) or 0)


def probe(connection: Connection, asked: Sequence[None]) -> list[None]:
    """Write something that changes nothing, a handler of the writer: what it takes, submissions take too."""
    connection.execute(text("UPDATE alembic_version SET version_num = version_num"))
    return list(asked)
