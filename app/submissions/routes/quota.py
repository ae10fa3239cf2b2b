"""HTTP routes: how often a team may still submit to a problem, and when."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from app.core.http.deps import CurrentViewer, Reading
from app.core.http.gated import GatedRoute
from app.core.http.snapshot import TheSnapshot
from app.submissions.service.quota import QuotaView, quota_of

router = APIRouter(route_class=GatedRoute, tags=["submissions"])


@router.get("/contests/{contest_id}/problems/{problem_id}/quota", summary="How often one may still submit")
def get_quota(
    problem_id: str,
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Reading,
    team_id: Annotated[str | None, Query(description="for judges: the team")] = None,
) -> QuotaView:
    """Of one's own team. A submission the judge failed on does not count, nor one that an admin made for the team."""
    return quota_of(viewer, snapshot, session, problem_id, team_id)
