"""The scoreboard as server-sent events: a board at first, and then the rows that change."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.core.http.deps import CurrentViewer, ThePages, address_of
from app.core.http.downloads import WORDS
from app.core.http.gated import GatedRoute
from app.feed.routes.replies import StreamResponse, TheHub
from app.feed.service.live_board import BoardWish, live_board
from app.feed.service.streams import Client

router = APIRouter(route_class=GatedRoute, tags=["scoreboard"])
EVENTS = "text/event-stream"


@router.get(
    "/contests/{contest_id}/scoreboard/stream",
    response_class=Response,
    responses={200: {"content": {EVENTS: WORDS}}},
    summary="The scoreboard, live",
)
async def stream_scoreboard(
    request: Request,
    contest_id: str,
    viewer: CurrentViewer,
    pages: ThePages,
    hub: TheHub,
    public: Annotated[bool | None, Query(description="for judges: the board as everybody sees it")] = None,
    since: Annotated[str | None, Query(description="a version: only rows that changed after it")] = None,
    stream: Annotated[bool, Query(description="false: end after the board as it is now")] = True,
) -> Response:
    """Events `scoreboard` whose data are as GET scoreboard answers, then as ?since= does; their id is the version."""
    client = Client(viewer, address_of(request), contest_id)
    wish = BoardWish(public, request.headers.get("last-event-id") or since, stream)
    chunks = await live_board(hub, pages, client, contest_id, wish)
    return StreamResponse(client, chunks, EVENTS, hub.crowd.place(client))
