"""The scoreboard as server-sent events: a board at first, and then the rows that change."""

from collections.abc import AsyncIterator

from app.contests.queries import NoContest
from app.contests.service.visibility import seen_by
from app.core.clock import utc_now
from app.core.errors import BadRequest, Forbidden
from app.core.messages import N_
from app.feed.service.hub import Client, Hub
from app.feed.service.streams import KEEP_ALIVE, server_sent
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.service.pages import BoardPages, Page

LONGEST_VERSION = 64
SHORTEST_SLEEP = 0.05


async def live_board(
    hub: Hub,
    pages: BoardPages,
    client: Client,
    contest_id: str,
    *,
    public: bool | None,
    version: str | None,
    live: bool,
) -> AsyncIterator[bytes]:
    """The server-sent events of a board for a client that has a `version` of it, or none.

    `public` is the board as everybody sees it; None: as the viewer sees it. Raises BadRequest, Forbidden, NotFound or
    Unavailable.
    """
    sees_all = client.viewer.sees_all
    if public is False and not sees_all:
        raise Forbidden(N_("only a judge or an admin may see the board as judges see it"))
    if version is not None and len(version) > LONGEST_VERSION:
        raise BadRequest(N_("expected a version, found %(found)r"), where="since", found=version[:LONGEST_VERSION])
    hub.check_going()
    public = not sees_all if public is None else public
    if await _board(hub, client, contest_id, public=public) is None:
        raise NoContest(contest_id)
    return _board_events(hub, pages, client, contest_id, public=public, version=version, live=live)


async def _board_events(
    hub: Hub, pages: BoardPages, client: Client, contest_id: str, *, public: bool, version: str | None, live: bool
) -> AsyncIterator[bytes]:
    """A board whenever it differs from the last one sent, until the contest or the client has gone."""
    with hub.watching(contest_id, client):
        while not client.gone:
            snapshot = await _board(hub, client, contest_id, public=public)
            if snapshot is None:
                return
            page = pages.page(snapshot)
            if page.version != version:
                event = _board_event(page, version)
                version = page.version
                yield event
            if not live:
                return
            seconds = min(hub.seconds, _seconds_to_next_moment(snapshot))
            if not await client.sleep(seconds) and seconds == hub.seconds:  # else the clock woke it: a board may follow
                yield KEEP_ALIVE


async def _board(hub: Hub, client: Client, contest_id: str, *, public: bool) -> ContestSnapshot | None:
    """The board as it is now."""
    snapshot = hub.boards.ready(contest_id, public=public)
    snapshot = snapshot or await hub.boards.snapshot_soon(contest_id, public=public)
    return None if snapshot is None else seen_by(client.viewer, snapshot)


def _board_event(page: Page, version: str | None) -> bytes:
    """The event that brings a client to this board; the same bytes for all who know the same version."""
    known = version if version in page.versions else None
    events = page.events
    if known not in events:
        changes = None if known is None else page.changes(known)
        events[known] = server_sent("scoreboard", page.plain if changes is None else changes, page.version)
    return events[known]


def _seconds_to_next_moment(snapshot: ContestSnapshot) -> float:
    """Seconds until the contest's clock makes another board."""
    now = utc_now()
    ahead = [(moment - now).total_seconds() for moment in snapshot.contest.moments() if moment > now]
    # Just behind the moment: a timer may end a little early, and find the board as it was.
    return max(SHORTEST_SLEEP, min(ahead, default=float("inf")) + SHORTEST_SLEEP)
