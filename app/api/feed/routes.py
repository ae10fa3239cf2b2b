"""The event feed of a contest, as NDJSON."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.api.feed.hub import TheHub, as_line, as_server_sent
from app.api.feed.streams import Client, StreamResponse, Wish
from app.api.http.deps import CurrentViewer, LoggedIn, address_of
from app.api.http.downloads import NDJSON, TEXT, WORDS, type_for
from app.api.http.gated import GatedRoute
from app.services.errors import BadRequest, Forbidden
from app.services.feed.kinds import LARGE, ORDER
from app.services.feed.readers import Place, reader_of

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
        raise BadRequest("since_id: this version of the API has since_token")
    wish = Wish(reader_of(viewer), types_of(types), live=stream)
    log = await hub.open_log(contest_id, complete=not stream)
    place = hub.place(log, wish, since_token)
    client = Client(viewer, address_of(request))
    chunks = hub.stream(log, client, wish, place, as_line(log, wish.reader.role), b"\n")
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
    viewer: LoggedIn,
    hub: TheHub,
    since_token: Annotated[str | None, Query(description="the id of the last event received: go on behind it")] = None,
    stream: Annotated[bool, Query(description="false: end once everything up to now is sent")] = True,
) -> Response:
    """Events `submissions`, `judgements` and `runs` from now on: a team's own, all for judges; data as in the feed."""
    if not viewer.sees_all and viewer.team_id is None:
        raise Forbidden("only a team, a judge or an admin has verdicts to wait for")
    wish = Wish(reader_of(viewer), frozenset(LARGE), live=stream, own=not viewer.sees_all)
    log = await hub.open_log(contest_id, complete=not stream)
    token = request.headers.get("last-event-id") or since_token
    place = Place(log.head) if token is None else hub.place(log, wish, token)
    client = Client(viewer, address_of(request))
    chunks = hub.stream(log, client, wish, place, as_server_sent(log, wish.reader.role), b":\n\n")
    return StreamResponse(client, chunks, EVENTS, hub.crowd.place(client))


def types_of(text: str | None) -> frozenset[str] | None:
    """The types asked for; raises BadRequest for one that does not exist."""
    if text is None:
        return None
    found = frozenset(text.split(","))
    if unknown := sorted(found - set(ORDER)):
        raise BadRequest(f"types: expected some of {', '.join(ORDER)}, found {unknown[0][:40]!r}")
    return found
