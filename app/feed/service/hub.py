"""The clients of streams and what wakes them.

Guarantee 6: the hub bounds the open streams of one account or address and of the process, and wakes a few clients at a
time, so that other requests get their turn between them. A client that has gone costs nothing.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

import structlog
from anyio.to_thread import run_sync
from sqlalchemy.exc import SQLAlchemyError

from app.accounts.service.viewer import PUBLIC, Viewer, good_still
from app.contests import queries as contests_queries
from app.contests.queries import NoContest
from app.contests.service.visibility import is_row_shown
from app.core import clock, load
from app.core.messages import N_, TooManyRequests, Unavailable
from app.core.service import Service
from app.feed.service.log import Log
from app.feed.service.publisher import FeedPublisher

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.feed")
WOKEN_AT_ONCE = 50
SECONDS_TO_RETRY = 30
# Verdicts of so long make one board for all who watch it.
SECONDS_BETWEEN_BOARDS = 0.05
# An import changes hundreds of accounts: one check of all streams answers for them.
SECONDS_BEFORE_RIGHTS = 0.5
MOST_OPEN = {
    "account": N_("this account has %(count)s streams open: close one, or come back later"),
    "address": N_("this address has %(count)s streams open: close one, or come back later"),
}


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
                # Requests get their turn between: each client woken renders and sends.
                await asyncio.sleep(0)


class Client:
    """The client of a stream: it sleeps until there is news, or until it has gone."""

    def __init__(self, viewer: Viewer = PUBLIC, address: str = "", contest_id: str | None = None) -> None:
        self.viewer = viewer
        self.contest_id = contest_id
        source = ("address", load.source_of(address))
        self.whose = source if viewer.account_id is None else ("account", viewer.account_id)
        self.is_nobody = viewer.account_id is None
        self.gone = False
        self._sleeping: asyncio.Future[None] | None = None
        self._news = False

    def seconds_left(self) -> float | None:
        """Seconds until the client's login expires; None where it does not."""
        expires = self.viewer.credential.expires
        return None if expires is None else max(0.0, (expires - clock.utc_now()).total_seconds())

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
        self.feeds: defaultdict[str, Waiting] = defaultdict(Waiting)
        self._watched: defaultdict[str, Waiting] = defaultdict(lambda: Waiting(SECONDS_BETWEEN_BOARDS))
        self._rights = Coalesced(self._check_rights, SECONDS_BEFORE_RIGHTS)
        self._service = service
        service.boards.listeners.append(lambda contest_id, _id: self._wake(self._watched, contest_id))
        service.database.listeners.append(lambda: self.soon(self._all_changed))
        self.publisher.listeners.append(lambda contest_id: self._wake(self.feeds, contest_id))

    def check_going(self) -> None:
        """Raise Unavailable where no stream may begin any longer."""
        if self.stopping:
            raise Unavailable(N_("the server stops"))
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
        self.soon(self._rights.ask)

    def soon(self, call: Callable[..., None], *arguments: object) -> None:
        """Call a function in the event loop, if it runs; may be called from any thread."""
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop is closed: no one waits any longer
                loop.call_soon_threadsafe(call, *arguments)

    def _wake(self, of_contests: dict[str, Waiting], contest_id: str) -> None:
        """Wake the clients of a contest, from any thread; a call into the loop for no one costs a submission 0.1 ms."""
        waiting = of_contests.get(contest_id)
        if waiting is not None and waiting.clients:  # whoever comes now has been added, and has not looked yet
            self.soon(waiting.wake)

    def _all_changed(self) -> None:
        """An admin has changed something: perhaps all boards, or who may see what."""
        for waiting in self._watched.values():
            waiting.wake()
        self._rights.ask()

    async def _check_rights(self) -> None:
        """End the streams of removed or changed accounts and credentials, and those of contests that became hidden."""
        clients = list(self.clients)
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
            rows = {row.id: row for row in contests_queries.contests(session)}
            return [
                (is_good or not viewer.logged_in) and (row is None or is_row_shown(session, viewer, row))
                for is_good, (viewer, contest_id) in zip(good_still(session, viewers), viewers, strict=True)
                for row in [rows.get(contest_id or "")]
            ]
