"""Quota of a team at a problem: submissions left, and the time of the next one."""

from __future__ import annotations

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.queries import contests
from app.contests.schemas.settings import Limits
from app.contests.service.visibility import the_problem
from app.core.clics import format_time_or_none
from app.core.clock import utc_now
from app.core.errors import BadRequest, Forbidden
from app.core.messages import N_
from app.domain.limits import quota
from app.games.queries import games
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submissions
from app.submissions.queries.usage import bytes_used


class QuotaView(BaseModel):
    """The limits, how many submissions count against them, how many are left and when the next one is taken.

    A game that is open counts already.

    `bytes_used` are those of the team's answers and sources in the whole contest, `bytes_limit` what there may be
    (null: any number). `left` null: there is no limit to their number. `next_allowed` null: at
    once, or (where none is left) never.
    """

    problem_id: str
    team_id: str
    limits: Limits
    used: int
    left: int | None
    next_allowed: str | None
    bytes_used: int
    bytes_limit: int | None


def quota_of(
    viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem_id: str, team_id: str | None
) -> QuotaView:
    """The quota of the viewer's team, or for judges of the team they name, at a problem; raises why it is not shown."""
    the_problem(snapshot, problem_id)
    contest, team = snapshot.contest, _team(viewer, snapshot, team_id)
    entry = contests.entry(session, contest.id, problem_id)
    assert entry is not None, "it is one of the contest's problems"
    limits = entry.limits.over(contest.settings.limits)
    times = [
        *submissions.counted_times(session, contest.id, team, problem_id),
        *games.open_starts(session, contest.id, team, problem_id),
    ]
    used = quota(limits, times, utc_now())
    return QuotaView(
        problem_id=problem_id,
        team_id=team,
        limits=limits,
        used=used.used,
        left=used.left,
        next_allowed=None if used.exhausted else format_time_or_none(used.next),
        bytes_used=bytes_used(session, contest.id, team),
        bytes_limit=contest.settings.team_bytes,
    )


def _team(viewer: Viewer, snapshot: ContestSnapshot, team_id: str | None) -> str:
    if not viewer.sees_all and (viewer.team_id is None or team_id not in {None, viewer.team_id}):
        raise Forbidden(N_("only the team itself and judges may see this"))
    team = viewer.team_id if team_id is None else team_id
    if team is None:
        raise BadRequest(
            N_("expected the team whose quota to show, found none: this account has no team"), where="team_id"
        )
    if not any(each.id == team for each in snapshot.contest.teams):
        raise BadRequest(
            N_("expected a team of contest %(contest)s, found %(found)r"),
            where="team_id",
            contest=snapshot.contest.id,
            found=team,
        )
    return team
