"""A board sent while it changes: whole at first, then the rows that changed.

- Streams for clients: a contest's event feed as lines, and a team's own verdicts as server-sent events.
- Rights of a client in a contest: the endpoints of the CLICS Contest API and their properties.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.queries import NoContest, contest_of
from app.contests.schemas import ContestSettings
from app.contests.service.capabilities import capabilities
from app.contests.service.visibility import seen_by
from app.core.clock import utc_now
from app.core.errors import BadRequest, Forbidden
from app.core.messages import N_
from app.feed.service.collections import COLLECTIONS, Collection
from app.feed.service.hub import Hub
from app.feed.service.kinds import LARGE, ORDER
from app.feed.service.log import Line, Log, Place, reader_of, write_token
from app.feed.service.streams import Client, Wish, Write, server_sent
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.service.pages import BoardPages, events_of
from app.teams import queries as teams_queries

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


async def event_feed(
    hub: Hub, client: Client, contest_id: str, *, token: str | None, types: str | None, live: bool
) -> AsyncIterator[bytes]:
    """The feed of a contest behind `token` as NDJSON, only `types` (with commas between); raises BadRequest, NotFound.

    First every object once, each after those it refers to, then every change; an empty line while there is none.
    """
    wish = Wish(reader_of(client.viewer), _types(types), live=live)
    log = await hub.open_log(contest_id)
    place = hub.place(log, wish, token)
    return hub.stream(log, client, wish, place, _as_line(log, wish.reader.role), b"\n")


async def own_verdicts(
    hub: Hub, client: Client, contest_id: str, *, token: str | None, live: bool
) -> AsyncIterator[bytes]:
    """A team's own submissions, judgements and runs, all for judges, from now on or behind `token`.

    Raises BadRequest, Forbidden or NotFound.
    """
    viewer = client.viewer
    if not viewer.sees_all and viewer.team_id is None:
        raise Forbidden(N_("only a team, a judge or an admin has verdicts to wait for"))
    wish = Wish(reader_of(viewer), frozenset(LARGE), live=live, own=not viewer.sees_all)
    log = await hub.open_log(contest_id)
    place = Place(log.head) if token is None else hub.place(log, wish, token)
    return hub.stream(log, client, wish, place, _as_server_sent(log, wish.reader.role), b":\n\n")


def _types(text: str | None) -> frozenset[str] | None:
    """The types asked for; raises BadRequest for one that does not exist."""
    if text is None:
        return None
    names = frozenset(text.split(","))
    if unknown := sorted(names - set(ORDER)):
        raise BadRequest(
            N_("expected some of %(names)s, found %(found)r"),
            where="types",
            names=", ".join(ORDER),
            found=unknown[0][:40],
        )
    return names


def _as_line(log: Log, role: str) -> Write:
    """Events as lines of NDJSON."""

    def write(line: Line, token: str) -> bytes:
        return line.at(token, role) if token else line.sent(log.epoch, role)

    return write


def _as_server_sent(log: Log, role: str) -> Write:
    """Events as server-sent ones; of several runs only the last has an id, since only then all of them are there."""

    def write(line: Line, token: str) -> bytes:
        name = token or write_token(log.epoch, Place(line.id), role)
        events = line.notifications(role)
        last = len(events) - 1
        return b"".join(server_sent(line.type, each, name if at == last else None) for at, each in enumerate(events))

    return write


SCOREBOARD = ("time", "contest_time", "state", "rows", "version")


class Endpoint(BaseModel):
    """A kind of object, and its properties the client may see."""

    type: str
    properties: list[str]


class Access(BaseModel):
    """The rights of a client; they stay the same while the contest runs."""

    capabilities: list[str]
    endpoints: list[Endpoint]


def access(session: Session, viewer: Viewer, contest_id: str) -> Access:
    """The viewer's rights in a contest, those for later phases among them; raises NotFound."""
    contest = contest_of(session, contest_id)
    takes_part = viewer.team_id is not None and teams_queries.takes_part(session, contest, viewer.team_id)
    settings = contest.settings
    allowed = capabilities(viewer, settings, takes_part=takes_part)
    return Access(capabilities=list(allowed), endpoints=endpoints(viewer, settings))


def endpoints(viewer: Viewer, settings: ContestSettings) -> list[Endpoint]:
    """The endpoints this client may read. Without an account there are no accounts, and nothing may refer to one."""
    reads_answers = viewer.sees_all or viewer.team_id is not None or settings.show_others_answers
    listed = [
        Endpoint(type=each.name, properties=_properties(viewer, each, reads_answers=reads_answers))
        for each in COLLECTIONS
        if viewer.logged_in or not each.of_accounts
    ]
    return [*listed, Endpoint(type="scoreboard", properties=list(SCOREBOARD))]


def _properties(viewer: Viewer, collection: Collection, *, reads_answers: bool) -> list[str]:
    names = [name for name in collection.model.model_fields if reads_answers or name not in collection.of_answers]
    return names if viewer.sees_all else [name for name in names if name not in collection.of_judges]
