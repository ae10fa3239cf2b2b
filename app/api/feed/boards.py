"""The scoreboard as server-sent events: a board at first, and then the rows that change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.api.feed.hub import Hub, TheHub
from app.api.feed.streams import Client, StreamResponse, server_sent
from app.api.http.deps import CurrentViewer, TheBoards, ThePages, address_of
from app.api.http.downloads import WORDS
from app.api.http.gated import GatedRoute
from app.domain.clock import utc_now
from app.grading.contest_snapshot import ContestSnapshot
from app.grading.scoreboard_cache import ScoreboardCache
from app.services.errors import BadRequest, Forbidden
from app.services.names import NoContest
from app.services.scoreboard.pages import BoardPages, events_of
from app.services.viewer import Viewer
from app.services.visibility import seen_by

router = APIRouter(route_class=GatedRoute, tags=["scoreboard"])
EVENTS = "text/event-stream"
LONGEST_VERSION = 64
SHORTEST_SLEEP = 0.05
KEEP_ALIVE = b":\n\n"


@dataclass
class Watch:
    """One client's view of a board: which one, and the version it knows."""

    viewer: Viewer
    contest_id: str
    public: bool
    version: str | None
    live: bool


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
    boards: TheBoards,
    pages: ThePages,
    hub: TheHub,
    public: Annotated[bool | None, Query(description="for judges: the board as everybody sees it")] = None,
    since: Annotated[str | None, Query(description="a version: only rows that changed after it")] = None,
    stream: Annotated[bool, Query(description="false: end after the board as it is now")] = True,
) -> Response:
    """Events `scoreboard` whose data are as GET scoreboard answers, then as ?since= does; their id is the version."""
    if public is False and not viewer.sees_all:
        raise Forbidden("only a judge or an admin may see the board as judges see it")
    last = request.headers.get("last-event-id") or since
    if last is not None and len(last) > LONGEST_VERSION:
        raise BadRequest(f"since: expected a version, found {last[:LONGEST_VERSION]!r}")
    hub.check_going()
    watch = Watch(viewer, contest_id, not viewer.sees_all if public is None else public, last, stream)
    if await current(boards, watch) is None:
        raise NoContest(contest_id)
    client = Client(viewer, address_of(request))
    chunks = hub.watched(contest_id, client, boards_of(hub, boards, pages, client, watch))
    return StreamResponse(client, chunks, EVENTS, hub.crowd.place(client))


async def boards_of(
    hub: Hub, boards: ScoreboardCache, pages: BoardPages, client: Client, watch: Watch
) -> AsyncIterator[bytes]:
    """A board whenever it is another than the last one sent, until the contest or the client has gone."""
    while not client.gone:
        snapshot = await current(boards, watch)
        if snapshot is None:
            return
        message = news(pages, snapshot, watch)
        if message is not None:
            yield message
        if not watch.live:
            return
        seconds = min(hub.seconds, until_the_clock_strikes(snapshot))
        if not await client.sleep(seconds) and seconds == hub.seconds:
            yield KEEP_ALIVE


async def current(boards: ScoreboardCache, watch: Watch) -> ContestSnapshot | None:
    """The board as it is now."""
    found = boards.ready(watch.contest_id, public=watch.public)
    found = found or await boards.snapshot_soon(watch.contest_id, public=watch.public)
    return None if found is None else seen_by(watch.viewer, found)


def news(pages: BoardPages, snapshot: ContestSnapshot, watch: Watch) -> bytes | None:
    """The event that tells a client of this board; the same bytes for all who know the same version."""
    page = pages.page(snapshot)
    if page.version == watch.version:
        return None
    known = watch.version if watch.version in page.versions else None
    watch.version = page.version
    events = events_of(snapshot)
    if known not in events:
        changes = None if known is None else page.changes(known)
        events[known] = server_sent("scoreboard", page.plain if changes is None else changes, page.version)
    return events[known]


def until_the_clock_strikes(snapshot: ContestSnapshot) -> float:
    """Seconds until the contest's clock makes another board."""
    now = utc_now()
    ahead = [(moment - now).total_seconds() for moment in snapshot.contest.moments() if moment > now]
    return max(SHORTEST_SLEEP, min(ahead, default=float("inf")) + SHORTEST_SLEEP)
