"""The submissions of a contest as judges look through them: filtered, newest first, page by page, and over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.submissions.queries.judgements import DONE
from app.tables import JudgementRow, SubmissionRow

WAITING = "waiting"
"""In place of a judgement type: not judged yet."""


@dataclass(frozen=True, slots=True)
class StreamFilter:
    """The submissions asked for; None: any. `type` is a judgement type or WAITING; `before` a submission's number."""

    problem_id: str | None = None
    team_id: str | None = None
    type: str | None = None
    before: int | None = None


def stream(session: Session, contest_id: str, wanted: StreamFilter, most: int) -> Sequence[SubmissionRow]:
    """The submissions, newest first."""
    query = select(SubmissionRow).where(SubmissionRow.contest_id == contest_id)
    if wanted.problem_id is not None:
        query = query.where(SubmissionRow.problem_id == wanted.problem_id)
    if wanted.team_id is not None:
        query = query.where(SubmissionRow.team_id == wanted.team_id)
    if wanted.before is not None:
        query = query.where(SubmissionRow.id < wanted.before)
    if wanted.type is not None:
        query = query.join(JudgementRow, JudgementRow.submission_id == SubmissionRow.id)
        query = query.where(JudgementRow.current.is_(True))
        is_done = JudgementRow.state == DONE
        query = query.where(~is_done if wanted.type == WAITING else is_done & (JudgementRow.type == wanted.type))
    return session.scalars(query.order_by(SubmissionRow.id.desc()).limit(most)).all()


def over_time(session: Session, contest_id: str, step_ms: int) -> dict[int, int]:
    """The number of submissions in each step of so many milliseconds of contest time, by the step's number."""
    step = (SubmissionRow.contest_time_ms - SubmissionRow.contest_time_ms % step_ms) / step_ms
    query = select(step, func.count()).where(SubmissionRow.contest_id == contest_id).group_by(step)
    return {int(at): count for at, count in session.execute(query)}


def counts_by_team(session: Session, contest_id: str) -> dict[str, int]:
    """The number of submissions of each team that has sent any."""
    query = select(SubmissionRow.team_id, func.count()).where(SubmissionRow.contest_id == contest_id)
    rows = session.execute(query.group_by(SubmissionRow.team_id))
    return {team_id: count for team_id, count in rows if team_id is not None}
