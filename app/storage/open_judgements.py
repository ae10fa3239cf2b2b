"""Judgements that are not done, as the reconciler compares them from look to look."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.storage.judgements import DONE
from app.storage.tables import JudgementRow, SubmissionRow


class OpenJudgement(NamedTuple):
    """A judgement that is not done: its team, whether a rejudging has it, its state and how often it was begun."""

    id: int
    team_id: str
    is_rejudging: bool
    state: str
    attempt: int


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
