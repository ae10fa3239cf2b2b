"""The hub: between the publisher's thread and the streams in the event loop.

- Limits on open streams: of one account or address, and of the whole process.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

import structlog
from anyio.to_thread import run_sync
from sqlalchemy.exc import SQLAlchemyError

from app.accounts.service.viewer import Viewer, good_still
from app.contests.queries import NoContest
from app.core.errors import TooManyRequests, Unavailable
from app.core.messages import N_
from app.core.service import Service
from app.feed.service.log import Log, Place, read_token
from app.feed.service.publisher import FeedPublisher
from app.feed.service.sender import Sender
from app.feed.service.streams import Client, Waiting, Wish, Write, follow

SECONDS_TO_RETRY = 30
MOST_OPEN = {
    "account": N_("this account has %(count)s streams open: close one, or come back later"),
    "address": N_("this address has %(count)s streams open: close one, or come back later"),
}


class Crowd:
    """Counts the streams that are open; used in one event loop."""

    def __init__(self, most: int, most_of_one: int, most_of_nobody: int) -> None:
        self._most = most
        self._most_of_nobody = most_of_nobody
        self._open_of_nobody = 0
        self._most_of_one = most_of_one
        self._open = 0
        self._open_of: Counter[tuple[str, str]] = Counter()

    @property
    def size(self) -> int:
        """The number of streams that are open."""
        return self._open

    @contextmanager
    def place(self, client: Client) -> Iterator[None]:
        """Let a client in for as long as its stream lasts; raises TooManyRequests or Unavailable where it is full."""
        whose = client.whose
        if self._open_of[whose] >= self._most_of_one:
            raise TooManyRequests(MOST_OPEN[whose[0]], SECONDS_TO_RETRY, count=self._most_of_one)
        is_nobody = whose[0] == "address"
        if self._open >= self._most or (is_nobody and self._open_of_nobody >= self._most_of_nobody):
            raise Unavailable(N_("the server has as many streams open as it may: come back later"), SECONDS_TO_RETRY)
        self._open += 1
        self._open_of_nobody += is_nobody
        self._open_of[whose] += 1
        try:
            yield
        finally:
            self._open -= 1
            self._open_of_nobody -= is_nobody
            self._open_of[whose] -= 1
            if not self._open_of[whose]:
                del self._open_of[whose]  # addresses come and go for as long as the server runs


log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.feed")

SECONDS_BETWEEN_BOARDS = 0.05
SECONDS_BEFORE_RIGHTS = 0.5


class Stopping(Unavailable):
    """The server stops."""


class Hub:
    """Everything that follows contests in one running service."""

    def __init__(self, service: Service) -> None:
        settings = service.settings
        self.boards = service.boards
        self.publisher = FeedPublisher(service, settings.feed_coalesce_seconds)
        of_nobody = int(settings.most_streams * settings.most_streams_of_nobody)
        self.crowd = Crowd(settings.most_streams, settings.most_streams_of_one, of_nobody)
        self.seconds = settings.feed_keep_alive_seconds
        self.stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: defaultdict[str, Waiting] = defaultdict(Waiting)
        self._watching: defaultdict[str, Waiting] = defaultdict(Waiting)
        self._guests: set[Client] = set()
        self._late: dict[str, asyncio.TimerHandle] = {}
        self._checking: asyncio.Task[None] | None = None
        self._check_again = False
        self._service = service
        service.boards.listeners.append(lambda contest_id, _id: self._soon(self._strike, contest_id))
        service.database.listeners.append(lambda: self._soon(self._strike_all))
        self.publisher.listen(self._published)
        self.sender = Sender(service, self.publisher)

    def check_going(self) -> None:
        """Raise Stopping where no stream may begin any more."""
        if self.stopping:
            raise Stopping(N_("the server stops"))
        self._loop = asyncio.get_running_loop()

    async def open_log(self, contest_id: str, *, complete: bool = False) -> Log:
        """Return the log of a contest after one look, or the `complete` comparison; raises NotFound."""
        self.check_going()
        log = await asyncio.wrap_future(self.publisher.fresh(contest_id, complete=complete))
        if log is None:
            raise NoContest(contest_id)
        return log

    def place(self, log: Log, wish: Wish, token: str | None) -> Place:
        """The place where a client begins: behind its token, or at the start. Raises BadRequest."""
        if token is None:
            return Place(log.head, 0, 0)
        return read_token(token, log.epoch, log.head, wish.reader.role)

    def join(self, contest_id: str, client: Client) -> None:
        """A stream begins."""
        self._waiting[contest_id].clients.add(client)
        self.publisher.follow(contest_id)

    def leave(self, contest_id: str, client: Client) -> None:
        """A stream has ended."""
        self._waiting[contest_id].clients.discard(client)
        self.publisher.leave(contest_id)

    async def stream(
        self, log: Log, client: Client, wish: Wish, place: Place, write: Write, keep_alive: bytes
    ) -> AsyncIterator[bytes]:
        """Follow a log for a client until it, the contest or the server has gone.

        A stream that does not stay ends with the comparison of the whole contest that is begun for it.
        """
        self.join(log.contest_id, client)
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
            self.leave(log.contest_id, client)

    async def watched(self, contest_id: str, client: Client, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pass on what a client is sent of a board; meanwhile it is woken whenever the board may have changed."""
        watching = self._watching[contest_id]
        watching.clients.add(client)
        try:
            async for chunk in chunks:
                yield chunk
        finally:
            watching.clients.discard(client)

    @contextmanager
    def guarding(self, client: Client) -> Iterator[None]:
        """Let a client that follows something else than a feed leave when its rights end, or the server does."""
        self._guests.add(client)
        try:
            yield
        finally:
            self._guests.discard(client)

    def stop(self) -> None:
        """End all streams; called in the event loop, before the server waits for its replies to end."""
        self.stopping = True
        for waiting in [*self._waiting.values(), *self._watching.values()]:
            for client in waiting.clients:
                client.leave()
        for guest in list(self._guests):
            guest.leave()

    def close(self) -> None:
        """Stop the publisher; blocks."""
        self.publisher.close()

    def _published(self, contest_id: str) -> None:
        self._soon(self._wake, contest_id)

    def _soon(self, call: Callable[..., None], *arguments: str) -> None:
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(call, *arguments)

    def _strike_all(self) -> None:
        """An admin has changed something: perhaps all boards, or who may see what."""
        for contest_id in self._watching:
            self._strike(contest_id)
        self._rights_changed()

    def rights_changed(self) -> None:
        """Accounts, passwords or tokens have changed; may be called from any thread."""
        self._soon(self._rights_changed)

    def _rights_changed(self) -> None:
        self._check_again = True
        if self._checking is None or self._checking.done():
            self._checking = asyncio.get_running_loop().create_task(self._check_rights())

    async def _check_rights(self) -> None:
        """End the streams of accounts that are gone or somebody else by now, or whose password or token is another."""
        while self._check_again:
            await asyncio.sleep(SECONDS_BEFORE_RIGHTS)
            self._check_again = False
            everybody = [*self._waiting.values(), *self._watching.values()]
            all_clients = [*self._guests, *(each for waiting in everybody for each in waiting.clients)]
            clients = [each for each in all_clients if each.viewer.logged_in]
            if clients:
                try:
                    good = await run_sync(self._good_still, [(each.viewer, each.contest_id) for each in clients])
                except SQLAlchemyError as error:  # a revoked token must not keep its stream: ask again
                    log.warning("the rights of open streams could not be checked", error=str(error))
                    self._check_again = True
                    continue
                for client, is_good in zip(clients, good, strict=True):
                    if not is_good:
                        client.leave()

    def _good_still(self, viewers: Sequence[tuple[Viewer, str | None]]) -> list[bool]:
        with self._service.database.read() as session:
            return good_still(session, viewers)

    def _strike(self, contest_id: str) -> None:
        """A board may have changed: those who watch it look in a moment, once for all that comes until then."""
        if contest_id in self._late or contest_id not in self._watching:
            return
        loop = asyncio.get_running_loop()
        self._late[contest_id] = loop.call_later(SECONDS_BETWEEN_BOARDS, self._look, contest_id)

    def _look(self, contest_id: str) -> None:
        del self._late[contest_id]
        self._watching[contest_id].wake()

    def _wake(self, contest_id: str) -> None:
        waiting = self._waiting.get(contest_id)
        if waiting is not None:
            waiting.wake()
