"""HTTP routes: commentary: what analysts say about what happens in a contest."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.core.http.deps import CurrentViewer, GatedRoute, Reading, TheSnapshot, Writing
from app.core.http.lists.reply import TheLists
from app.core.http.middleware import API
from app.feed.service.collections import BY_NAME
from app.messages.service.commentary import CommentaryBody, CommentaryView, create, one

router = APIRouter(route_class=GatedRoute, tags=["commentary"])


@router.get(
    "/contests/{contest_id}/commentary",
    summary="What is said of the contest",
    response_model=list[CommentaryView],
)
async def list_commentary(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    lists: TheLists,
    source_id: Annotated[str | None, Query(description="only what this person said; empty: nobody known")] = None,
) -> Response:
    """All of it that speaks of nothing the client may not see, oldest first."""
    return await lists.small(BY_NAME["commentary"], viewer, snapshot, source_id=source_id)


@router.get(
    "/contests/{contest_id}/commentary/{commentary_id}",
    summary="One comment",
    response_model=CommentaryView,
)
def get_commentary(
    viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading, commentary_id: str
) -> CommentaryView:
    """404 for what the client may not see."""
    return one(viewer, snapshot, session, commentary_id)


@router.post(
    "/contests/{contest_id}/commentary",
    summary="Say something",
    status_code=201,
    response_model=CommentaryView,
)
def create_commentary(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Writing,
    contest_id: str,
    body: CommentaryBody,
    response: Response,
) -> CommentaryView:
    """Analysts and admins; the time, and who says it, are the server's to know."""
    made = create(viewer, snapshot, session, body)
    response.headers["Location"] = f"{API}/contests/{contest_id}/commentary/{made.id}"
    return made
