"""Streams to clients: feeds as lines, a team's own verdicts and boards as server-sent events.

Each stream reads the log at its own pace, all share the bytes, and a client that has gone costs nothing. Guarantee 6:
the hub bounds the open streams of one account or address and of the process, and wakes a few of them at a time, so that
other requests get their turn between them.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import structlog
from anyio.to_thread import run_sync
from sqlalchemy.exc import SQLAlchemyError

from app.accounts.service.viewer import PUBLIC, Viewer, good_still
from app.contests.queries import NoContest
from app.contests.service.visibility import seen_by
from app.core.clock import utc_now
from app.core.errors import BadRequest, Forbidden, TooManyRequests, Unavailable
from app.core.load import source_of
from app.core.messages import N_
from app.core.service import Service
from app.feed.service.log import (
    Line,
    Log,
    Place,
    Reader,
    lines_behind,
    lines_of,
    read_token,
    reader_of,
    write_token,
)
from app.feed.service.looks import LARGE, ORDER, STATE
from app.feed.service.publisher import FeedPublisher
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.service.pages import BoardPages, Page, events_of

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.feed")
CHUNK = 64 * 1024
OBJECTS_AT_ONCE = 200
WOKEN_AT_ONCE = 50
SECONDS_TO_RETRY = 30
SECONDS_BETWEEN_BOARDS = 0.05
SECONDS_BEFORE_RIGHTS = 0.5
LONGEST_VERSION = 64
SHORTEST_SLEEP = 0.05
KEEP_ALIVE = b":\n\n"
MOST_OPEN = {
    "account": N_("this account has %(count)s streams open: close one, or come back later"),
    "address": N_("this address has %(count)s streams open: close one, or come back later"),
}


class Stopping(Unavailable):
    """The server stops."""


class Coalesced:
    """Runs a coroutine some seconds after it is asked for, once for all requests until then; for one event loop."""

    def __init__(self, run: Callable[[], Awaitable[None]], seconds: float) -> None:
        self._run = run
        self._seconds = seconds
        self._task: asyncio.Task[None] | None = None
        self._is_wanted = False

    def ask(self) -> None:
        """Run it soon."""
        self._is_wanted = True
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._serve())

    async def _serve(self) -> None:
        while self._is_wanted:
            await asyncio.sleep(self._seconds)
            self._is_wanted = False
            await self._run()


class Waiting:
    """Clients that wait for a change of one contest; `wake` wakes all, a few in each turn of the event loop."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.clients: set[Client] = set()
        self.wake = Coalesced(self._wake_all, seconds).ask

    async def _wake_all(self) -> None:
        for at, client in enumerate(list(self.clients)):
            client.wake()
            if at % WOKEN_AT_ONCE == WOKEN_AT_ONCE - 1:
                await asyncio.sleep(0)


class Client:
    """The client of a stream: it sleeps until there is news, or until it has gone."""

    def __init__(self, viewer: Viewer = PUBLIC, address: str = "", contest_id: str | None = None) -> None:
        self.viewer = viewer
        self.contest_id = contest_id
        source = ("address", source_of(address))
        self.whose = source if viewer.account_id is None else ("account", viewer.account_id)
        self.is_nobody = viewer.account_id is None
        self.gone = False
        self._sleeping: asyncio.Future[None] | None = None
        self._news = False

    def seconds_left(self) -> float | None:
        """Seconds until the client's login expires; None where it does not."""
        expires = self.viewer.credential.expires
        return None if expires is None else max(0.0, (expires - utc_now()).total_seconds())

    def wake(self) -> None:
        """Wake the client: there is news."""
        self._news = True
        if self._sleeping is not None and not self._sleeping.done():
            self._sleeping.set_result(None)

    def leave(self) -> None:
        """The client has gone, or the server stops."""
        self.gone = True
        self.wake()

    async def sleep(self, seconds: float) -> bool:
        """Wait for a change; False if none came for so long."""
        if not self._news:
            self._sleeping = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._sleeping], timeout=seconds)
        news, self._news = self._news, False
        return news


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

    def wants(self, log: Log, line: Line) -> bool:
        """Whether an event is for this client."""
        if self.types is not None and line.type not in self.types:
            return False
        return log.gets(self.reader, line) and (
            not self.own or line.owner in {self.reader.team_id, self.reader.account_id}
        )


# The writing of a line for a client: with this token, empty for the line's own.
Write = Callable[[Line, str], bytes]


async def follow(
    log: Log,
    client: Client,
    wish: Wish,
    place: Place,
    write: Write,
    keep_alive: bytes,
    seconds: float,
    compared: asyncio.Future[Log | None] | None = None,
) -> AsyncIterator[bytes]:
    """Everything behind a place, as chunks of bytes, and from then on whatever comes.

    A stream that does not stay ends once the log is `compared` with the contest. Raises the error of the comparison.
    """
    if place.kind is not None:
        async for account in first_account(log, wish, place, write):
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
                chunk.append(write(line, ""))
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
            yield keep_alive


async def first_account(log: Log, wish: Wish, place: Place, write: Write) -> AsyncIterator[bytes]:
    """The last published version of every object, kinds in order; changes after `place.event` follow once more.

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
                if event <= place.event or (began <= place.event and ORDER[kind] != STATE.type)
            ]
            lines = await lines_of(log, [event for _, event in wanted], ORDER[kind])
            chunk: list[bytes] = []
            for began, event in wanted:
                line = lines.get(event)
                if line is not None:
                    token = write_token(log.epoch, Place(place.event, kind, began), wish.reader.role)
                    chunk.append(write(line, token))
            if chunk:
                yield b"".join(chunk)
            first = following
        first = 0


class Hub:
    """Everything that follows contests in one running service."""

    def __init__(self, service: Service) -> None:
        settings = service.settings
        self.boards = service.boards
        self.publisher = FeedPublisher(service, settings.feed_coalesce_seconds)
        self.seconds = settings.feed_keep_alive_seconds
        self.stopping = False
        self.clients: set[Client] = set()
        self._most, self._most_of_one = settings.most_streams, settings.most_streams_of_one
        self._most_of_nobody = int(settings.most_streams * settings.most_streams_of_nobody)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._feeds: defaultdict[str, Waiting] = defaultdict(Waiting)
        self._watched: defaultdict[str, Waiting] = defaultdict(lambda: Waiting(SECONDS_BETWEEN_BOARDS))
        self._rights = Coalesced(self._check_rights, SECONDS_BEFORE_RIGHTS)
        self._service = service
        service.boards.listeners.append(lambda contest_id, _id: self._soon(self._wake, self._watched, contest_id))
        service.database.listeners.append(lambda: self._soon(self._all_changed))
        self.publisher.listen(lambda contest_id: self._soon(self._wake, self._feeds, contest_id))

    def check_going(self) -> None:
        """Raise Stopping where no stream may begin any more."""
        if self.stopping:
            raise Stopping(N_("the server stops"))
        self._loop = asyncio.get_running_loop()

    @contextmanager
    def place(self, client: Client) -> Iterator[None]:
        """Let a client in for as long as its stream lasts; raises TooManyRequests or Unavailable.

        It leaves when its rights end, or the server stops.
        """
        self.check_going()
        if sum(each.whose == client.whose for each in self.clients) >= self._most_of_one:
            raise TooManyRequests(MOST_OPEN[client.whose[0]], SECONDS_TO_RETRY, count=self._most_of_one)
        is_full = client.is_nobody and sum(each.is_nobody for each in self.clients) >= self._most_of_nobody
        if is_full or len(self.clients) >= self._most:
            raise Unavailable(N_("the server has as many streams open as it may: come back later"), SECONDS_TO_RETRY)
        self.clients.add(client)
        try:
            yield
        finally:
            self.clients.discard(client)

    async def open_log(self, contest_id: str, *, complete: bool = False) -> Log:
        """Return the log of a contest after one look, or the `complete` comparison; raises NotFound."""
        self.check_going()
        log = await asyncio.wrap_future(self.publisher.fresh(contest_id, complete=complete))
        if log is None:
            raise NoContest(contest_id)
        return log

    async def stream(
        self, log: Log, client: Client, wish: Wish, place: Place, write: Write, keep_alive: bytes
    ) -> AsyncIterator[bytes]:
        """Follow a log for a client until it, the contest or the server has gone.

        A stream that does not stay ends with the comparison of the whole contest that is begun for it.
        """
        waiting = self._feeds[log.contest_id].clients
        waiting.add(client)
        self.publisher.follow(log.contest_id)
        compared = None
        try:
            if self.stopping:
                return
            if not wish.live:
                compared = asyncio.wrap_future(self.publisher.fresh(log.contest_id))
                compared.add_done_callback(lambda _: client.wake())
            async for chunk in follow(log, client, wish, place, write, keep_alive, self.seconds, compared):
                yield chunk
        finally:
            if compared is not None:
                compared.cancel()
            waiting.discard(client)
            self.publisher.leave(log.contest_id)

    @contextmanager
    def watching(self, contest_id: str, client: Client) -> Iterator[None]:
        """Wake a client whenever a board may have changed."""
        clients = self._watched[contest_id].clients
        clients.add(client)
        try:
            yield
        finally:
            clients.discard(client)

    def stop(self) -> None:
        """End all streams; called in the event loop, before the server waits for its replies to end."""
        self.stopping = True
        for client in list(self.clients):
            client.leave()

    def close(self) -> None:
        """Stop the publisher; blocks."""
        self.publisher.close()

    def rights_changed(self) -> None:
        """Accounts, passwords or tokens have changed; may be called from any thread."""
        self._soon(self._rights.ask)

    def _soon(self, call: Callable[..., None], *arguments: object) -> None:
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop is closed: no one waits any more
                loop.call_soon_threadsafe(call, *arguments)

    def _wake(self, of_contests: dict[str, Waiting], contest_id: str) -> None:
        if contest_id in of_contests:
            of_contests[contest_id].wake()

    def _all_changed(self) -> None:
        """An admin has changed something: perhaps all boards, or who may see what."""
        for waiting in self._watched.values():
            waiting.wake()
        self._rights.ask()

    async def _check_rights(self) -> None:
        """End the streams of accounts that are removed or changed, or whose password or token is another."""
        clients = [each for each in self.clients if each.viewer.logged_in]
        if not clients:
            return
        try:
            good = await run_sync(self._good_still, [(each.viewer, each.contest_id) for each in clients])
        except SQLAlchemyError as error:  # a revoked token must not keep its stream: ask again
            log.warning("the rights of open streams could not be checked", error=str(error))
            self._rights.ask()
            return
        for client, is_good in zip(clients, good, strict=True):
            if not is_good:
                client.leave()

    def _good_still(self, viewers: Sequence[tuple[Viewer, str | None]]) -> list[bool]:
        with self._service.database.read() as session:
            return good_still(session, viewers)


def place_behind(log: Log, wish: Wish, token: str | None) -> Place:
    """The place where a client begins: behind its token, or at the start. Raises BadRequest."""
    if token is None:
        return Place(log.head, 0, 0)
    return read_token(token, log.epoch, log.head, wish.reader.role)


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
    Stopping.
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
                event = _board_event(snapshot, page, version)
                version = page.version
                yield event
            if not live:
                return
            seconds = min(hub.seconds, _seconds_to_next_moment(snapshot))
            if not await client.sleep(seconds) and seconds == hub.seconds:
                yield KEEP_ALIVE


async def _board(hub: Hub, client: Client, contest_id: str, *, public: bool) -> ContestSnapshot | None:
    """The board as it is now."""
    snapshot = hub.boards.ready(contest_id, public=public)
    snapshot = snapshot or await hub.boards.snapshot_soon(contest_id, public=public)
    return None if snapshot is None else seen_by(client.viewer, snapshot)


def _board_event(snapshot: ContestSnapshot, page: Page, version: str | None) -> bytes:
    """The event that brings a client to this board; the same bytes for all who know the same version."""
    known = version if version in page.versions else None
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
    place = place_behind(log, wish, token)
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
    place = Place(log.head) if token is None else place_behind(log, wish, token)
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
