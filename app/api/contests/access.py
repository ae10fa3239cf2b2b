"""HTTP routes: what a client may see and do in a contest."""

from __future__ import annotations

from fastapi import APIRouter

from app.api.http.deps import CurrentViewer, Reading
from app.api.http.gated import GatedRoute
from app.domain.settings import read_settings
from app.services.contests.access import Access, endpoints
from app.services.contests.capabilities import capabilities
from app.services.contests.contests import contest_of
from app.storage import teams

router = APIRouter(route_class=GatedRoute, tags=["contests"])


@router.get("/contests/{contest_id}/access", summary="What the client may see and do")
def get_access(viewer: CurrentViewer, session: Reading, contest_id: str) -> Access:
    """Also what it may do only later, such as submitting before the start."""
    contest = contest_of(session, contest_id)
    takes_part = viewer.team_id is not None and teams.takes_part(session, contest, viewer.team_id)
    settings = read_settings(contest.settings)
    allowed = capabilities(viewer, settings, takes_part=takes_part)
    return Access(capabilities=list(allowed), endpoints=endpoints(viewer, settings))
