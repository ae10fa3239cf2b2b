"""Questions about the service as a whole: what waits, and how much was done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
from operator import add
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, Float, case, cast, func, select, text
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.core.db import by_id
from app.domain.counting import JudgementType
from app.submissions.tables import DONE, LIVE, REJUDGED
from app.tables import JobRow, JudgementRow, RawScoreRow, SubmissionRow, TokenRow

WINDOW = timedelta(minutes=5)
MOST_RECENT = 2000


@dataclass(frozen=True, slots=True)
class Queue:
    """The number of submissions without a verdict, and since when the oldest has been waiting."""

    length: int
    oldest: datetime | None


def queue(session: Session) -> Queue:
    """The queue of submissions without a verdict."""
    count, oldest = session.execute(
        select(func.count(), func.min(JudgementRow.start_time)).where(
            JudgementRow.state != DONE, JudgementRow.lane == LIVE
        )
    ).one()
    return Queue(count, oldest)


def submission_count(session: Session) -> int:
    """The number of submissions ever accepted."""
    return by_id.count(session, SubmissionRow)


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


@dataclass(frozen=True, slots=True)
class Latencies:
    """Judgements done, by the seconds between submission and verdict; and the attempts that they took.

    within    for each bound the number that took no longer
    failures  attempts in which the checker failed
    lost      attempts whose process was gone before they ended
    """

    within: tuple[int, ...]
    count: int = 0
    seconds: float = 0.0
    attempts: int = 0
    failures: int = 0
    lost: int = 0

    def __add__(self, other: Latencies) -> Latencies:
        """Those of both."""
        within = tuple(map(add, self.within, other.within))
        return Latencies(within, *map(add, astuple(self)[1:], astuple(other)[1:]))


def latencies(session: Session, bounds: Sequence[float], after: int, upto: int | None = None) -> Latencies:
    """Latencies of judgements with ids after one and up to another, by bounds in seconds.

    Left out are those of rejudgings, and of submissions that another system took: their time is that system's.
    """
    took = _seconds_between(session, JudgementRow.start_time, JudgementRow.end_time)
    columns = [func.sum(case((took <= bound, 1), else_=0)) for bound in bounds]
    sums = [func.sum(column) for column in (JudgementRow.attempt, JudgementRow.failures, JudgementRow.lost)]
    more = (func.count(), func.sum(took), *sums)
    query = (
        select(*columns, *more)
        .join(SubmissionRow, SubmissionRow.id == JudgementRow.submission_id)
        .where(
            JudgementRow.id > after,
            JudgementRow.state == DONE,
            JudgementRow.rejudging_id.is_(None),
            SubmissionRow.external_id.is_(None),
        )
    )
    if upto is not None:
        query = query.where(JudgementRow.id <= upto)
    *within, count, seconds, attempts, failures, lost = (value or 0 for value in session.execute(query).one())
    return Latencies(tuple(map(int, within)), count, float(seconds), int(attempts), int(failures), int(lost))


def _seconds_between(
    session: Session, start: InstrumentedAttribute[datetime], end: InstrumentedAttribute[datetime | None]
) -> ColumnElement[float]:
    if session.get_bind().dialect.name == "sqlite":
        return (func.julianday(end) - func.julianday(start)) * 86_400.0
    return cast(func.extract("epoch", end - start), Float)


def rejudging_queue(session: Session) -> int:
    """The number of judgements of rejudgings and imported contests that are not done."""
    return by_id.count(session, JudgementRow, JudgementRow.state != DONE, JudgementRow.lane == REJUDGED)


def job_counts(session: Session) -> dict[str, int]:
    """The number of jobs in each state that there are any of."""
    rows = session.execute(select(JobRow.state, func.count()).group_by(JobRow.state))
    return {str(state): count for state, count in rows}


def session_count(session: Session, label: str, now: datetime) -> int:
    """The number of tokens of a label that are good now."""
    return by_id.count(session, TokenRow, TokenRow.label == label, TokenRow.expires > now)


def probe(connection: Connection, asked: Sequence[None]) -> list[None]:
    """Write something that changes nothing, a handler of the writer: what it takes, submissions take too."""
    connection.execute(text("UPDATE alembic_version SET version_num = version_num"))
    return list(asked)


class Recent(NamedTuple):
    """Submissions of the last minutes: how many a second, and the seconds until half and 95 of 100 had their verdict.

    `seconds` is the time that was looked at. None: no verdict in it.
    """

    seconds: float
    rate: float
    median: float | None
    most: float | None


def recent(session: Session, now: datetime, window: timedelta = WINDOW) -> Recent:
    """The rate and the latency of the last minutes; of a shorter time where more than 2,000 submissions came in them.

    Left out are rejudgings, and submissions that another system took.
    """
    query = (
        select(JudgementRow.start_time, JudgementRow.end_time)
        .join(SubmissionRow, SubmissionRow.id == JudgementRow.submission_id)
        .where(JudgementRow.rejudging_id.is_(None), SubmissionRow.external_id.is_(None))
        .order_by(JudgementRow.id.desc())
        .limit(MOST_RECENT)
    )
    rows = session.execute(query).all()
    late = [(start, end) for start, end in rows if start > now - window]
    seconds = window.total_seconds()
    if len(late) == MOST_RECENT:
        seconds = max(1.0, (now - min(start for start, _ in late)).total_seconds())
    took = sorted((end - start).total_seconds() for start, end in late if end is not None)
    return Recent(seconds, len(late) / seconds, _quantile(took, 0.5), _quantile(took, 0.95))


def _quantile(values: Sequence[float], share: float) -> float | None:
    return values[min(len(values) - 1, int(share * len(values)))] if values else None


class JudgeError(NamedTuple):
    """A submission that stands with a judge error."""

    submission_id: str
    contest_id: str
    error: str


def judge_errors(session: Session) -> tuple[int, JudgeError | None]:
    """The number of submissions that stand with a judge error, and the newest of them."""
    standing = (
        JudgementRow.type == JudgementType.JE.value,
        JudgementRow.current.is_(True),
        JudgementRow.state == DONE,
    )
    count = by_id.count(session, JudgementRow, *standing)
    query = select(SubmissionRow, JudgementRow.error).join(JudgementRow, JudgementRow.submission_id == SubmissionRow.id)
    newest = query.where(*standing).order_by(JudgementRow.id.desc()).limit(1)
    errors = [
        JudgeError(row.shown_id, row.contest_id, error or "")
        for row, error in (session.execute(newest) if count else ())
    ]
    return count, errors[0] if errors else None
