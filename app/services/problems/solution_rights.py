"""Who may read a problem's solution texts: judges always, others after the last contest that has the problem.

Versions of a problem have its uuid, and count as the problem.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.clock import utc_now
from app.domain.participation import ParticipationKind, own_clock
from app.services.viewer import Viewer
from app.storage import participations
from app.storage.scoring_input import clock
from app.storage.tables import ContestProblemRow, ContestRow, ProblemRow

PRACTICE = timedelta(days=366)
"""The length above which a contest is for practice: it decides nothing, and shows its solutions from its start."""


def may_read_solutions(viewer: Viewer, session: Session, problem_id: str) -> bool:
    """Is every contest with the problem over, with public results, and no clock of the viewer's own running in any?"""
    if viewer.sees_all:
        return True
    now = utc_now()
    contests = session.scalars(
        select(ContestRow)
        .join(ContestProblemRow, ContestProblemRow.contest_id == ContestRow.id)
        .join(ProblemRow, ProblemRow.id == ContestProblemRow.problem_id)
        .where(ProblemRow.uuid == select(ProblemRow.uuid).where(ProblemRow.id == problem_id).scalar_subquery())
    )
    return not any(_withholds(session, row, viewer.team_id, now) for row in contests.unique())


def _withholds(session: Session, row: ContestRow, team_id: str | None, now: datetime) -> bool:
    times = clock(row)
    if times.duration > PRACTICE:
        return not times.started(now)
    if not times.decided(now):
        return True
    own = None if team_id is None else participations.participation(session, row.id, team_id)
    is_virtual = own is not None and own.kind is ParticipationKind.VIRTUAL
    return is_virtual and not own_clock(times, None, own).ended(now)
