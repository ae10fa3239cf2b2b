"""The event feed of a contest, as NDJSON.

- The scoreboard as server-sent events: a board at first, and then the rows that change.
- HTTP routes: webhooks: addresses that are called with every change, so that their owners need not ask.
- HTTP routes: what a client may see and do in a contest.
- Streams as replies, and the hub as a dependency.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import AbstractContextManager
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.core.http.deps import CurrentViewer, GatedRoute, Reading, ThePages, TheService, Writing, address_of, of_state
from app.core.http.downloads import NDJSON, TEXT, WORDS, type_for
from app.core.http.middleware import API
from app.core.messages import N_, BadRequest
from app.feed.service import collections, streams, webhooks
from app.feed.service.hub import Client, Hub
from app.feed.service.webhooks import WebhookBody, WebhookChange, WebhookView

access_router = APIRouter(route_class=GatedRoute, tags=["contests"])


@access_router.get("/contests/{contest_id}/access", summary="What the client may see and do")
def get_access(viewer: CurrentViewer, session: Reading, contest_id: str) -> collections.Access:
    """Also what it may do only later, such as submitting before the start."""
    return collections.access(session, viewer, contest_id)


TheHub = Annotated[Hub, Depends(of_state("hub"))]
T = TypeVar("T")


async def unless_gone(request: Request, waiting: Awaitable[T]) -> T:
    """Return what is awaited; cancels it and raises ClientDisconnect when the client disconnects first.

    A feed begins after a look at the contest, and until then the request holds a place of its reader (guarantee 4).
    """
    answer = asyncio.ensure_future(waiting)
    leaving = asyncio.create_task(_disconnected(request.receive))
    try:
        await asyncio.wait((answer, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise ClientDisconnect
        return answer.result()
    finally:
        answer.cancel()
        leaving.cancel()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class StreamResponse(StreamingResponse):
    """A reply that continues until its source ends or its client has gone; never buffered, never zipped.

    It stands in its `place` in the meantime; where entering that raises, nothing of it is sent.
    """

    def __init__(
        self, client: Client, chunks: AsyncIterator[bytes], media_type: str, place: AbstractContextManager[None]
    ) -> None:
        # Proxies such as nginx would collect small pieces before they pass them on.
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(chunks, headers=headers, media_type=media_type)
        self._client = client
        self._chunks = chunks
        self._place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        with self._place:
            seconds = self._client.seconds_left()
            loop = asyncio.get_running_loop()
            expiry = None if seconds is None else loop.call_later(seconds, self._client.leave)
            try:
                await super().__call__(scope, receive, send)
            finally:
                if expiry is not None:
                    expiry.cancel()
                # A client that goes while bytes are sent to it leaves the source suspended, with its places taken.
                await self._chunks.aclose()  # type: ignore[attr-defined]  # all of ours are generators


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
        str | None, Query(description="token of the last event received, to continue after it")
    ] = None,
    since_id: Annotated[str | None, Query(description="of older versions of the API; refused")] = None,
    types: Annotated[str | None, Query(description="only these types, with commas between them")] = None,
    stream: Annotated[bool, Query(description="false: end once everything up to now is sent")] = True,
) -> Response:
    """Every object once, each after the objects it refers to, then every change; empty lines keep the stream open."""
    if since_id is not None:
        raise BadRequest(N_("expected one of %(names)s, found %(found)s"), names="since_token", found="since_id")
    client = Client(viewer, address_of(request), contest_id)
    opened = streams.event_feed(hub, client, contest_id, token=since_token, types=types, live=stream)
    chunks = await unless_gone(request, opened)
    return StreamResponse(client, chunks, type_for(request, NDJSON, TEXT), hub.place(client))


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
    since_token: Annotated[str | None, Query(description="id of the last event received, to continue after it")] = None,
    stream: Annotated[bool, Query(description="false: end once everything up to now is sent")] = True,
) -> Response:
    """Events `submissions`, `judgements` and `runs` from now on: a team's own, all for judges; data as in the feed."""
    client = Client(viewer, address_of(request), contest_id)
    # A browser that connects again sends the header, and the address of the first time.
    token = request.headers.get("last-event-id") or since_token
    chunks = await unless_gone(request, streams.own_verdicts(hub, client, contest_id, token=token, live=stream))
    return StreamResponse(client, chunks, EVENTS, hub.place(client))


boards_router = APIRouter(route_class=GatedRoute, tags=["scoreboard"])


@boards_router.get(
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
    public: Annotated[bool | None, Query(description="for judges: the public scoreboard")] = None,
    since: Annotated[str | None, Query(description="a version: only rows that changed after it")] = None,
    stream: Annotated[bool, Query(description="false: end after the current scoreboard")] = True,
) -> Response:
    """Events `scoreboard` whose data are as GET scoreboard answers, then as ?since= does; their id is the version."""
    client = Client(viewer, address_of(request), contest_id)
    version = request.headers.get("last-event-id") or since
    chunks = await streams.live_board(hub, pages, client, contest_id, public=public, version=version, live=stream)
    return StreamResponse(client, chunks, EVENTS, hub.place(client))


webhooks_router = APIRouter(route_class=GatedRoute, tags=["webhooks"])


@webhooks_router.get("/webhooks", summary="All webhooks")
def list_webhooks(_viewer: CurrentViewer, session: Reading) -> list[WebhookView]:
    """Including inactive ones."""
    return webhooks.listed(session)


@webhooks_router.get("/webhooks/{webhook_id}", summary="One webhook")
def get_webhook(_viewer: CurrentViewer, session: Reading, webhook_id: str) -> WebhookView:
    """Where it goes, and whether it works."""
    return webhooks.one(session, webhook_id)


@webhooks_router.post("/webhooks", summary="Be called back", status_code=201)
async def create_webhook(
    viewer: CurrentViewer, service: TheService, hub: TheHub, body: WebhookBody, response: Response
) -> WebhookView:
    """It gets every later change that its account may see; read existing objects from the endpoints."""
    made = await webhooks.create(service, hub, viewer, body)
    response.headers["Location"] = f"{API}/webhooks/{made.id}"
    return made


@webhooks_router.patch("/webhooks/{webhook_id}", summary="Activate or deactivate a webhook")
def change_webhook(_viewer: CurrentViewer, session: Writing, webhook_id: str, body: WebhookChange) -> WebhookView:
    """A webhook that is activated again gets everything it missed."""
    return webhooks.change(session, webhook_id, body)


@webhooks_router.delete("/webhooks/{webhook_id}", summary="Delete a webhook", status_code=204)
def delete_webhook(_viewer: CurrentViewer, session: Writing, webhook_id: str) -> None:
    """It is no longer called."""
    webhooks.delete(session, webhook_id)
