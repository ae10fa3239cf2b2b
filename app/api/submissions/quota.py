"""HTTP routes: how often a team may still submit to a problem, and when."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from app.api.http.deps import LoggedIn, Reading
from app.api.http.gated import GatedRoute
from app.api.http.snapshot import TheSnapshot
from app.domain.clock import utc_now
from app.domain.limits import quota, read_limits, write_limits
from app.services.clics import format_time_or_none
from app.services.errors import BadRequest, Forbidden
from app.services.submissions.quota import QuotaView
from app.services.visibility import the_problem
from app.storage import contests, submissions
from app.storage.usage import bytes_used

router = APIRouter(route_class=GatedRoute, tags=["submissions"])


@router.get("/contests/{contest_id}/problems/{problem_id}/quota", summary="How often one may still submit")
def get_quota(
    problem_id: str,
    viewer: LoggedIn,
    snapshot: TheSnapshot,
    session: Reading,
    team_id: Annotated[str | None, Query(description="for judges: the team")] = None,
) -> QuotaView:
    """Of one's own team. A submission the judge failed on does not count, nor one that an admin made for the team."""
    the_problem(snapshot, problem_id)
    if not viewer.sees_all and (viewer.team_id is None or team_id not in {None, viewer.team_id}):
        raise Forbidden("only the team itself and judges may see this")
    team = viewer.team_id if team_id is None else team_id
    if team is None:
        raise BadRequest("team_id: expected the team whose quota to show, found none: this account has no team")
    if not any(each.id == team for each in snapshot.contest.teams):
        raise BadRequest(f"team_id: expected a team of contest {snapshot.contest.id}, found {team!r}")
    place = contests.entry(session, snapshot.contest.id, problem_id)
    assert place is not None, "it is one of the contest's problems"
    limits = read_limits(place.limits or {}, snapshot.contest.settings.limits)
    times = submissions.counted_times(session, snapshot.contest.id, team, problem_id)
    found = quota(limits, times, utc_now())
    return QuotaView(
        problem_id=problem_id,
        team_id=team,
        limits=write_limits(limits),
        used=found.used,
        left=found.left,
        next_allowed=None if found.exhausted else format_time_or_none(found.next),
        bytes_used=bytes_used(session, snapshot.contest.id, team),
        bytes_limit=snapshot.contest.settings.team_bytes,
    )
