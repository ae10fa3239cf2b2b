"""Limits of a contest for its judges: what teams may send to it and to each problem, and what they have sent."""

from __future__ import annotations

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.contests.queries import contests
from app.contests.schemas.settings import Limits
from app.contests.service.contests import contest_of
from app.submissions.queries.usage import bytes_used


class ProblemLimits(BaseModel):
    """The limits of a team's submissions to a problem: its own, and the contest's where it has none."""

    problem_id: str
    label: str
    limits: Limits


class LimitsView(BaseModel):
    """The bytes of answers and sources that all teams have sent to a contest, and the limits; null: any number.

    `bytes_limit` is the most of all teams together, `team_bytes` that of each.
    """

    bytes_used: int
    bytes_limit: int | None
    team_bytes: int | None
    problems: list[ProblemLimits]


def contest_limits(session: Session, contest_id: str) -> LimitsView:
    """The limits of a contest and its problems; raises NotFound."""
    settings = contest_of(session, contest_id).settings
    entries = contests.entries(session, contest_id)
    return LimitsView(
        bytes_used=bytes_used(session, contest_id),
        bytes_limit=settings.contest_bytes,
        team_bytes=settings.team_bytes,
        problems=[
            ProblemLimits(
                problem_id=entry.problem_id,
                label=entry.label,
                limits=entry.limits.over(settings.limits),
            )
            for entry in entries
        ],
    )
