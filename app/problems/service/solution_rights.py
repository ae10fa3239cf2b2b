"""Rights to a problem's solution texts: judges always, others after the last contest that has the problem.

A refusal tells of a contest only where the reader sees that contest's problems. One that they do not see withholds the
text as well, but the reply is that of a problem without a text.

Versions of a problem have its uuid, and count as the problem.
"""

from __future__ import annotations

from datetime import datetime
from enum import Enum, auto

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.queries import participations
from app.core.clock import utc_now
from app.domain.participation import ParticipationKind, own_clock
from app.domain.practice import is_for_practice
from app.problems.queries.scoring_input import clock
from app.tables import ContestProblemRow, ContestRow, ProblemRow


class SolutionAccess(Enum):
    """A viewer's access to the solution texts of a problem.

    WITHHELD  by a contest whose problems the viewer sees
    HIDDEN    only by contests whose problems the viewer does not see: nothing may tell that they have the problem
    """

    OPEN = auto()
    WITHHELD = auto()
    HIDDEN = auto()


def solution_access(viewer: Viewer, session: Session, problem_id: str) -> SolutionAccess:
    """Open once every contest with the problem is over with public results, and the viewer's own clocks have ended."""
    if viewer.sees_all:
        return SolutionAccess.OPEN
    now = utc_now()
    contests = session.scalars(
        select(ContestRow)
        .join(ContestProblemRow, ContestProblemRow.contest_id == ContestRow.id)
        .join(ProblemRow, ProblemRow.id == ContestProblemRow.problem_id)
        .where(ProblemRow.uuid == select(ProblemRow.uuid).where(ProblemRow.id == problem_id).scalar_subquery())
    )
    withholding = [row for row in contests.unique() if _withholds(session, row, viewer.team_id, now)]
    if any(_shows_problems(session, row, viewer.team_id, now) for row in withholding):
        return SolutionAccess.WITHHELD
    return SolutionAccess.HIDDEN if withholding else SolutionAccess.OPEN


def _withholds(session: Session, row: ContestRow, team_id: str | None, now: datetime) -> bool:
    times = clock(row)
    if is_for_practice(times):
        return not times.started(now)
    if not times.decided(now):
        return True
    own = None if team_id is None else participations.participation(session, row.id, team_id)
    is_virtual = own is not None and own.kind is ParticipationKind.VIRTUAL
    return is_virtual and not own_clock(times, None, own).ended(now)


def _shows_problems(session: Session, row: ContestRow, team_id: str | None, now: datetime) -> bool:
    """Whether a team, or the public, sees the contest's problems: the rule of `visibility.seen_by`, from the rows."""
    times = clock(row)
    if not times.started(now):
        return False
    if row.settings.personal_duration is None or times.ended(now):
        return True
    return team_id is not None and participations.participation(session, row.id, team_id) is not None
