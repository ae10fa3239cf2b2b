"""Streams to clients: each reads the log at its own pace, all share the bytes, and one that has gone costs nothing."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass

from anyio.to_thread import run_sync

from app.accounts.service.viewer import PUBLIC, Viewer
from app.core.clock import utc_now
from app.core.load import source_of
from app.feed.service.kinds import ORDER, STATE
from app.feed.service.log import Line, Log, Place, Reader, page_of, write_token

CHUNK = 64 * 1024
OBJECTS_AT_ONCE = 200
WOKEN_AT_ONCE = 50


class Waiting:
    """Streams that wait for news of one contest, in one event loop."""

    def __init__(self) -> None:
        self.clients: set[Client] = set()
        self._task: asyncio.Task[None] | None = None
        self._again = False

    def wake(self) -> None:
        """Wake all, a few at a time, so that other requests get their turn between them."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._wake_all())
        else:
            self._again = True

    async def _wake_all(self) -> None:
        while True:
            self._again = False
            for at, client in enumerate(list(self.clients)):
                client.wake()
                if at % WOKEN_AT_ONCE == WOKEN_AT_ONCE - 1:
                    await asyncio.sleep(0)
            if not self._again:
                return


class Client:
    """The client of a stream: it sleeps until there is news, or until it has gone."""

    def __init__(self, viewer: Viewer = PUBLIC, address: str = "", contest_id: str | None = None) -> None:
        self.viewer = viewer
        self.contest_id = contest_id
        source = ("address", source_of(address))
        self.whose = source if viewer.account_id is None else ("account", viewer.account_id)
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
        """Wait for news; False if none came for so long."""
        if not self._news:
            loop = asyncio.get_running_loop()
            self._sleeping = loop.create_future()
            timer = loop.call_later(seconds, self._give_up, self._sleeping)
            try:
                await self._sleeping
            finally:
                timer.cancel()
                self._sleeping = None
        news, self._news = self._news, False
        return news

    @staticmethod
    def _give_up(sleeping: asyncio.Future[None]) -> None:
        if not sleeping.done():
            sleeping.set_result(None)


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


async def lines_behind(log: Log, at: int) -> Sequence[Line]:
    """The next events, a page at a time."""
    for number in range(page_of(at + 1), page_of(log.head) + 1 if at < log.head else 0):
        lines = await page(log, number)
        if left := lines[bisect_right(lines, at, key=lambda line: line.id) :]:
            return left
    return []


async def lines_of(log: Log, ids: Iterable[int], type_: str) -> dict[int, Line]:
    """Events of a kind by id, those that were replaced and deleted meanwhile left out.

    The others of their pages are not read: runs, which are rendered anew, would be for each kind beside them.
    """
    lines: dict[int, Line] = {}
    wanted = set(ids)
    for number in sorted({page_of(id_) for id_ in wanted}):
        lines.update((line.id, line) for line in await page(log, number, type_) if line.id in wanted)
    return lines


async def page(log: Log, number: int, type_: str | None = None) -> Sequence[Line]:
    """A page, or those on it of one kind, from memory or read in a thread."""
    cached = log.page_at_hand(number, type_)
    return cached if cached is not None else await run_sync(log.page, number, type_)
