"""The event feed of a contest, as NDJSON."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.core.errors import BadRequest
from app.core.http.deps import CurrentViewer, address_of
from app.core.http.downloads import NDJSON, TEXT, WORDS, type_for
from app.core.http.gated import GatedRoute
from app.core.messages import N_
from app.feed.routes.replies import StreamResponse, TheHub, unless_gone
from app.feed.service.streams import Client
from app.feed.service.subscriptions import event_feed, own_verdicts

router = APIRouter(route_class=GatedRoute, tags=["event feed"])
EVENTS = "text/event-stream"
LINES = {"schema": {"type": "string", "description": "a Notification on each line, or an empty line"}}


@router.get(
    "/contests/{contest_id}/event-feed",
    response_class=Response,
    responses={200: {"content": {NDJSON: LINES, TEXT: LINES}}},
    summary="Every change of a contest, as it happens",
)
async def get_event_feed(
    request: Request,
    contest_id: str,
    viewer: CurrentViewer,
    hub: TheHub,
    since_token: Annotated[
        str | None, Query(description="the token of the last event received: go on behind it")
    ] = None,
    since_id: Annotated[str | None, Query(description="of older versions; refused")] = None,
    types: Annotated[str | None, Query(description="only these types, with commas between them")] = None,
    stream: Annotated[bool, Query(description="false: end once everything up to now is sent")] = True,
) -> Response:
    """First every object once, each after those it refers to, then every change; an empty line while there is none."""
    if since_id is not None:
        raise BadRequest(N_("this version of the API has since_token"), where="since_id")
    client = Client(viewer, address_of(request), contest_id)
    opened = event_feed(hub, client, contest_id, token=since_token, types=types, live=stream)
    chunks = await unless_gone(request, opened)
    return StreamResponse(client, chunks, type_for(request, NDJSON, TEXT), hub.crowd.place(client))


@router.get(
    "/contests/{contest_id}/submissions/stream",
    response_class=Response,
    responses={200: {"content": {EVENTS: WORDS}}},
    summary="One's own verdicts, live",
)
async def stream_submissions(
    request: Request,
    contest_id: str,
    viewer: CurrentViewer,
    hub: TheHub,
    since_token: Annotated[str | None, Query(description="the id of the last event received: go on behind it")] = None,
    stream: Annotated[bool, Query(description="false: end once everything up to now is sent")] = True,
) -> Response:
    """Events `submissions`, `judgements` and `runs` from now on: a team's own, all for judges; data as in the feed."""
    client = Client(viewer, address_of(request), contest_id)
    token = request.headers.get("last-event-id") or since_token
    chunks = await unless_gone(request, own_verdicts(hub, client, contest_id, token=token, live=stream))
    return StreamResponse(client, chunks, EVENTS, hub.crowd.place(client))
