"""HTTP routes: what a client may see and do in a contest."""

from __future__ import annotations

from fastapi import APIRouter

from app.core.http.deps import CurrentViewer, Reading
from app.core.http.gated import GatedRoute
from app.feed.service.access import Access, access

router = APIRouter(route_class=GatedRoute, tags=["contests"])


@router.get("/contests/{contest_id}/access", summary="What the client may see and do")
def get_access(viewer: CurrentViewer, session: Reading, contest_id: str) -> Access:
    """Also what it may do only later, such as submitting before the start."""
    return access(session, viewer, contest_id)
