"""Judgements that are not done, as the reconciler compares them from look to look."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from app.storage.judgements import DONE
from app.storage.tables import AnswerRow, JudgementRow, SubmissionRow, TestCaseRow


class OpenJudgement(NamedTuple):
    """A judgement that is not done: its team, whether a rejudging has it, its state and how often it was begun."""

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
        .where(JudgementRow.state != DONE)
        .where(or_(AnswerRow.sha256 == sha256, TestCaseRow.input_sha256 == sha256, TestCaseRow.answer_sha256 == sha256))
    )
    return session.scalar(query) or 0


def open_judgements(session: Session) -> list[OpenJudgement]:
    """All judgements that are not done, oldest first."""
    query = (
        select(
            JudgementRow.id,
            SubmissionRow.team_id,
            JudgementRow.rejudging_id,
            JudgementRow.state,
            JudgementRow.attempt,
        )
        .join(SubmissionRow, SubmissionRow.id == JudgementRow.submission_id)
        .where(JudgementRow.state != DONE)
        .order_by(JudgementRow.id)
    )
    rows = session.execute(query)
    return [
        OpenJudgement(id_, team or "", again is not None, state, attempt) for id_, team, again, state, attempt in rows
    ]
