"""HTTP routes: what teams may send to a contest, and what they have sent."""

from __future__ import annotations

from fastapi import APIRouter

from app.contests.service.limits import LimitsView, contest_limits
from app.core.http.deps import CurrentViewer, Reading
from app.core.http.gated import GatedRoute

router = APIRouter(route_class=GatedRoute, tags=["contests"])


@router.get("/contests/{contest_id}/limits", summary="What teams may send, and have sent")
def get_limits(_viewer: CurrentViewer, session: Reading, contest_id: str) -> LimitsView:
    """For judges: bytes of the whole contest, and the limits that hold at each problem. A team has its quota."""
    return contest_limits(session, contest_id)
