"""A board sent while it changes: whole at first, then the rows that changed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from app.contests.service.names import NoContest
from app.contests.service.visibility import seen_by
from app.core.clock import utc_now
from app.core.errors import BadRequest, Forbidden
from app.core.messages import N_
from app.feed.service.hub import Hub
from app.feed.service.streams import Client, server_sent
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.service.pages import BoardPages, events_of

LONGEST_VERSION = 64
SHORTEST_SLEEP = 0.05
KEEP_ALIVE = b":\n\n"


@dataclass(frozen=True, slots=True)
class BoardWish:
    """A client's options for a board.

    public   the board as everybody sees it; None: as the viewer sees it
    version  the version the client has, or None
    live     it stays for what changes
    """

    public: bool | None
    version: str | None
    live: bool


@dataclass(slots=True)
class _Watch:
    """A client's view of a board: which one, and the version it knows."""

    client: Client
    contest_id: str
    public: bool
    version: str | None
    live: bool


async def live_board(
    hub: Hub, pages: BoardPages, client: Client, contest_id: str, wish: BoardWish
) -> AsyncIterator[bytes]:
    """The server-sent events of a board for a client; raises BadRequest, Forbidden, NotFound or Stopping."""
    sees_all = client.viewer.sees_all
    if wish.public is False and not sees_all:
        raise Forbidden(N_("only a judge or an admin may see the board as judges see it"))
    version = wish.version
    if version is not None and len(version) > LONGEST_VERSION:
        raise BadRequest(N_("expected a version, found %(found)r"), where="since", found=version[:LONGEST_VERSION])
    hub.check_going()
    public = not sees_all if wish.public is None else wish.public
    watch = _Watch(client, contest_id, public, version, wish.live)
    if await _current(hub, watch) is None:
        raise NoContest(contest_id)
    return hub.watched(contest_id, client, _events(hub, pages, watch))


async def _events(hub: Hub, pages: BoardPages, watch: _Watch) -> AsyncIterator[bytes]:
    """A board whenever it differs from the last one sent, until the contest or the client has gone."""
    while not watch.client.gone:
        snapshot = await _current(hub, watch)
        if snapshot is None:
            return
        message = _news(pages, snapshot, watch)
        if message is not None:
            yield message
        if not watch.live:
            return
        seconds = min(hub.seconds, _seconds_to_next_moment(snapshot))
        if not await watch.client.sleep(seconds) and seconds == hub.seconds:
            yield KEEP_ALIVE


async def _current(hub: Hub, watch: _Watch) -> ContestSnapshot | None:
    """The board as it is now."""
    snapshot = hub.boards.ready(watch.contest_id, public=watch.public)
    snapshot = snapshot or await hub.boards.snapshot_soon(watch.contest_id, public=watch.public)
    return None if snapshot is None else seen_by(watch.client.viewer, snapshot)


def _news(pages: BoardPages, snapshot: ContestSnapshot, watch: _Watch) -> bytes | None:
    """The event that brings a client to this board; the same bytes for all who know the same version."""
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


def _seconds_to_next_moment(snapshot: ContestSnapshot) -> float:
    """Seconds until the contest's clock makes another board."""
    now = utc_now()
    ahead = [(moment - now).total_seconds() for moment in snapshot.contest.moments() if moment > now]
    return max(SHORTEST_SLEEP, min(ahead, default=float("inf")) + SHORTEST_SLEEP)
