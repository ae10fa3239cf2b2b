"""The event log as streams to clients: the whole feed as lines, and a team's own verdicts as server-sent events.

Each stream reads the log at its own pace, and all share its bytes (guarantee 6).

- The scoreboard as server-sent events: a board at first, and then the rows that change.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from app.contests.queries import NoContest
from app.core.clock import utc_now
from app.core.messages import N_, BadRequest, Forbidden
from app.feed.service.hub import Client, Hub
from app.feed.service.index import Reader, reader_of
from app.feed.service.log import Line, Log, Place, lines_behind, lines_of, read_token, write_token
from app.feed.service.rendering import LARGE, ORDER, STATE
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.service.pages import BoardPages, Page
from app.scoreboard.service.scoreboard import board_shown

# A piece is sent before the next one is made, so that a slow client holds little memory.
CHUNK = 64 * 1024
OBJECTS_AT_ONCE = 200
KEEP_ALIVE = b":\n\n"


def server_sent(event: str, data: bytes, id_: str | None = None) -> bytes:
    """A server-sent event; its data must be one line, as JSON is."""
    name = b"" if id_ is None else f"id: {id_}\n".encode()
    return b"%sevent: %s\ndata: %s\n\n" % (name, event.encode(), data)


@dataclass(frozen=True, slots=True)
class Wish:
    """A client's options for a feed: its start, some types only, its own only, and whether it stays for more."""

    reader: Reader
    types: frozenset[str] | None = None
    live: bool = True
    own: bool = False
    server_sent: bool = False

    @property
    def keep_alive(self) -> bytes:
        """What is sent while nothing happens."""
        return KEEP_ALIVE if self.server_sent else b"\n"

    def written(self, log: Log, line: Line, token: str = "") -> bytes:
        """An event as it is sent, with this token or that of its own place."""
        role = self.reader.role
        if not self.server_sent:
            return line.at(token, role) if token else line.sent(log.epoch, role)
        events, name = line.notifications(role), token or write_token(log.epoch, Place(line.id), role)
        last = len(events) - 1  # of several runs only the last has an id, since only then all of them are there
        return b"".join(server_sent(line.type, each, name if at == last else None) for at, each in enumerate(events))

    def wants(self, log: Log, line: Line) -> bool:
        """Whether an event is for this client."""
        if self.types is not None and line.type not in self.types:
            return False
        return log.gets(self.reader, line) and (
            not self.own or line.owner in {self.reader.team_id, self.reader.account_id}
        )


async def follow(
    log: Log,
    client: Client,
    wish: Wish,
    place: Place,
    seconds: float,
    compared: asyncio.Future[Log | None] | None = None,
) -> AsyncIterator[bytes]:
    """Everything behind a place, as chunks of bytes, and from then on whatever comes.

    A stream that does not stay ends once the log is `compared` with the contest. Raises the error of the comparison.
    """
    if place.kind is not None:
        async for account in first_account(log, wish, place):
            if client.gone:
                return
            yield account
    at = place.event
    while not client.gone:
        head = log.head  # before the lines: an event that is added after them is behind it
        lines = await lines_behind(log, at)
        chunk: list[bytes] = []
        size = 0
        for line in lines:
            at = line.id
            if wish.wants(log, line):
                chunk.append(wish.written(log, line))
                size += len(chunk[-1])
                if size >= CHUNK:
                    break
        if not lines:
            at = max(at, head)
        if chunk:
            yield b"".join(chunk)
        if at < log.head:
            continue
        if log.closed or (not wish.live and (compared is None or compared.done())):
            if compared is not None and compared.done():
                compared.result()
            return
        if not await client.sleep(seconds):
            yield wish.keep_alive


async def first_account(log: Log, wish: Wish, place: Place) -> AsyncIterator[bytes]:
    """The last published version of every object, kinds in order; changes after `place.event` follow again.

    What has changed is not left out, as others refer to it, but for the state: that is the last word.
    """
    assert place.kind is not None
    first: int | None = place.first
    for kind in range(place.kind, len(ORDER)):
        while first is not None:
            if wish.types is not None and ORDER[kind] not in wish.types:
                break
            shown, following = log.index.behind(ORDER[kind], first, wish.reader, OBJECTS_AT_ONCE)
            wanted = [
                (began, event)
                for began, event in shown
                if event <= place.event or (began <= place.event and ORDER[kind] != STATE)
            ]
            lines = await lines_of(log, [event for _, event in wanted], ORDER[kind])
            chunk: list[bytes] = []
            for began, event in wanted:
                line = lines.get(event)
                if line is not None:
                    token = write_token(log.epoch, Place(place.event, kind, began), wish.reader.role)
                    chunk.append(wish.written(log, line, token))
            if chunk:
                yield b"".join(chunk)
            first = following
        first = 0


async def stream(hub: Hub, log: Log, client: Client, wish: Wish, place: Place) -> AsyncIterator[bytes]:
    """Follow a log for a client until it, the contest or the server has gone.

    A stream that does not stay ends with the comparison of the whole contest that is begun for it.
    """
    waiting = hub.feeds[log.contest_id].clients
    waiting.add(client)
    hub.publisher.follow(log.contest_id)
    compared = None
    try:
        if not wish.live:
            compared = asyncio.wrap_future(hub.publisher.fresh(log.contest_id))
            compared.add_done_callback(lambda _: client.wake())
        async for chunk in follow(log, client, wish, place, hub.seconds, compared):
            yield chunk
    finally:
        if compared is not None:
            compared.cancel()
        waiting.discard(client)
        hub.publisher.leave(log.contest_id)


def place_behind(log: Log, wish: Wish, token: str | None) -> Place:
    """The place where a client begins: behind its token, or at the start. Raises BadRequest."""
    if token is None:
        return Place(log.head, 0, 0)
    return read_token(token, log.epoch, log.head, wish.reader.role)


async def event_feed(
    hub: Hub, client: Client, contest_id: str, *, token: str | None, types: str | None, live: bool
) -> AsyncIterator[bytes]:
    """The feed of a contest behind `token` as NDJSON, only `types` (with commas between); raises BadRequest, NotFound.

    First every object once, each after those it refers to, then every change; an empty line while there is none.
    """
    wish = Wish(reader_of(client.viewer), _types(types), live=live)
    log = await hub.open_log(contest_id)
    place = place_behind(log, wish, token)
    return stream(hub, log, client, wish, place)


async def own_verdicts(
    hub: Hub, client: Client, contest_id: str, *, token: str | None, live: bool
) -> AsyncIterator[bytes]:
    """A team's own submissions, judgements and runs, all for judges, from now on or behind `token`.

    Raises BadRequest, Forbidden or NotFound.
    """
    viewer = client.viewer
    if not viewer.sees_all and viewer.team_id is None:
        raise Forbidden(N_("only a team, a judge or an admin has verdicts to wait for"))
    wish = Wish(reader_of(viewer), frozenset(LARGE), live=live, own=not viewer.sees_all, server_sent=True)
    log = await hub.open_log(contest_id)
    place = Place(log.head) if token is None else place_behind(log, wish, token)
    return stream(hub, log, client, wish, place)


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


LONGEST_VERSION = 64
SHORTEST_SLEEP = 0.05
GetBoard = Callable[[], Awaitable[ContestSnapshot]]


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

    `public` is the board as everyone sees it; None: as the viewer sees it. Raises BadRequest, Forbidden, NotFound or
    Unavailable.
    """
    if version is not None and len(version) > LONGEST_VERSION:
        raise BadRequest(N_("expected a version, found %(found)r"), where="since", found=version[:LONGEST_VERSION])
    hub.check_going()
    board = partial(board_shown, hub.boards, client.viewer, contest_id, public=public, group_id=None)
    await board()
    return _board_events(hub, pages, client, contest_id, board, version, live=live)


async def _board_events(
    hub: Hub, pages: BoardPages, client: Client, contest_id: str, board: GetBoard, version: str | None, *, live: bool
) -> AsyncIterator[bytes]:
    """A board whenever it differs from the last one sent, until the contest or the client has gone."""
    with hub.watching(contest_id, client):
        while not client.gone:
            try:
                snapshot = await board()
            except NoContest:
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
