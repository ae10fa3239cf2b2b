"""Contests and the problems that are in them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.storage.tables import ContestProblemRow, ContestRow, SubmissionRow


def contests(session: Session) -> Sequence[ContestRow]:
    """All contests: those that have a start by it, the others after them."""
    return session.scalars(
        select(ContestRow).order_by(ContestRow.start_time.is_(None), ContestRow.start_time, ContestRow.id)
    ).all()


def get(session: Session, contest_id: str) -> ContestRow | None:
    """One contest, or None."""
    return session.get(ContestRow, contest_id)


def entries(session: Session, contest_id: str) -> Sequence[ContestProblemRow]:
    """What a contest says of its problems, in their order."""
    return session.scalars(
        select(ContestProblemRow)
        .where(ContestProblemRow.contest_id == contest_id)
        .order_by(ContestProblemRow.ordinal, ContestProblemRow.problem_id)
    ).all()


def entry(session: Session, contest_id: str, problem_id: str) -> ContestProblemRow | None:
    """What a contest says of one problem, or None where it does not have it."""
    return session.get(ContestProblemRow, (contest_id, problem_id))


def submission_count(
    session: Session, contest_id: str, *, problem_id: str | None = None, team_id: str | None = None
) -> int:
    """How many submissions a contest has, of one problem or one team if that is given."""
    query = select(func.count()).select_from(SubmissionRow).where(SubmissionRow.contest_id == contest_id)
    if problem_id is not None:
        query = query.where(SubmissionRow.problem_id == problem_id)
    if team_id is not None:
        query = query.where(SubmissionRow.team_id == team_id)
    return session.scalar(query) or 0


def free_label(taken: set[str]) -> str:
    """The first of A, B ... Z, P27, P28 ... that is not taken."""
    number = 0
    while True:
        number += 1
        label = chr(ord("A") + number - 1) if number <= 26 else f"P{number}"
        if label not in taken:
            return label
