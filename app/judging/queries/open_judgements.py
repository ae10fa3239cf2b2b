"""Judgements that are not done, as the reconciler compares them from look to look."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import exists, func, or_, select
from sqlalchemy.orm import Session

from app.submissions.queries.judgements import OPEN, PAYER, RUNNING
from app.tables import AnswerRow, JudgementRow, TestCaseRow


class OpenJudgement(NamedTuple):
    """A judgement that is not done: its payer, whether a rejudging has it, its state and how often it was begun."""

    id: int
    team_id: str
    is_rejudging: bool
    state: str
    attempt: int


def waiting_for_file(session: Session, sha256: str) -> int:
    """The number of judgements that are not done and need this stored file: an answer, an input or an expected one."""
    query = (
        select(func.count(JudgementRow.id.distinct()))
        .join(AnswerRow, AnswerRow.submission_id == JudgementRow.submission_id)
        .join(TestCaseRow, TestCaseRow.id == AnswerRow.test_case_id)
        .where(OPEN)
        .where(or_(AnswerRow.sha256 == sha256, TestCaseRow.input_sha256 == sha256, TestCaseRow.answer_sha256 == sha256))
    )
    return session.scalar(query) or 0


def open_judgements(session: Session, *, queued_lanes: Collection[bool] = ()) -> list[OpenJudgement]:
    """The judgements that are not done, oldest first; of `queued_lanes` (True: rejudgings) only those that are begun.

    What waits behind messages of a lane may be much, and nobody has to be told of it.
    """
    columns = (
        JudgementRow.id,
        PAYER,
        JudgementRow.rejudging_id,
        JudgementRow.state,
        JudgementRow.attempt,
    )
    query = select(*columns).where(OPEN).order_by(JudgementRow.id)
    for is_rejudging in queued_lanes:
        in_lane = JudgementRow.rejudging_id.is_not(None) if is_rejudging else JudgementRow.rejudging_id.is_(None)
        query = query.where(~in_lane | (JudgementRow.state == RUNNING))
    rows = session.execute(query)
    return [OpenJudgement(id_, key, again is not None, state, attempt) for id_, key, again, state, attempt in rows]


def is_any_open(session: Session) -> bool:
    """Whether there is a judgement that is not done."""
    return bool(session.scalar(select(exists().where(OPEN))))
