"""Who reads waits for a place: few read at once, fewer of one viewer, and one at a time enters or sends a piece.

The event loop does everything else between two such steps, so what a submission waits for does not grow with the number
of readers. Steps go round robin over accounts and addresses.

- Reads that take long wait for their place before the app sees them, and send what is large piece by piece.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Hashable
from typing import NamedTuple, cast
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, State
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.errors import Unavailable
from app.core.http.auth import Authenticator
from app.core.http.errors import error_response, headers_of
from app.core.load import source_of
from app.core.messages import N_
from app.core.settings import Settings

Line = OrderedDict["asyncio.Future[None]", None]


class Busy(Unavailable):
    """Others read so much that this would take too long; come back after a second."""

    def __init__(self) -> None:
        super().__init__(N_("too many long reads at this moment; try again"), 1)


class Asker(NamedTuple):
    """Who wants to read: whose places are counted together, and among these, who takes turns."""

    share: Hashable
    whose: Hashable


class Place:
    """One place among those that read; given up once."""

    def __init__(self, queue: Queue, share: Hashable) -> None:
        self._queue, self._share, self._held = queue, share, True

    def leave(self) -> None:
        """Let the next one in."""
        if self._held:
            self._held = False
            self._queue.left(self._share)


class Queue:
    """Who reads and who waits; for one event loop.

    at_once  how many may be inside; `of_one` of them of one share
    seconds  how long somebody waits; None: for ever

    One enters in each turn of the event loop. Whoever waits is a connection, whose number is bounded elsewhere.
    """

    def __init__(self, at_once: int, of_one: int, seconds: float | None) -> None:
        self.at_once, self.of_one, self.seconds = at_once, of_one, seconds
        self.inside: Counter[Hashable] = Counter()
        self.waiting: OrderedDict[Hashable, OrderedDict[Hashable, Line]] = OrderedDict()
        self._is_scheduled = False

    def enter_at_once(self, asker: Asker) -> Place | None:
        """A place, if nobody has entered in this turn of the loop and there is room."""
        if self._is_scheduled or not self._is_free(asker.share):
            return None
        return self._let_in(asker.share)

    async def enter(self, asker: Asker) -> Place:
        """Wait for a place; raises Busy after some seconds."""
        return self.enter_at_once(asker) or await self.wait(asker)

    async def wait(self, asker: Asker, gone: asyncio.Future[None] | None = None) -> Place:
        """Stand in line, until the client is `gone` at most: then it raises ClientDisconnect."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line = self.waiting.setdefault(asker.share, OrderedDict()).setdefault(asker.whose, OrderedDict())
        line[turn] = None
        self._schedule()
        if gone is not None:
            gone.add_done_callback(lambda _: turn.cancel())
        try:
            async with asyncio.timeout(self.seconds):
                await turn
        except BaseException as error:
            if turn in line:
                del line[turn]
                self._drop_empty(asker.share, asker.whose)
            elif isinstance(error, TimeoutError):  # let in at the same moment
                return Place(self, asker.share)
            else:
                self.left(asker.share)
            if isinstance(error, TimeoutError):
                raise Busy from None
            if gone is not None and gone.done() and not _is_cancelled():
                gone.result()
                raise ClientDisconnect from None
            raise
        return Place(self, asker.share)

    def left(self, share: Hashable) -> None:
        """One has left: another one may enter in the loop's next turn."""
        self.inside[share] -= 1
        if not self.inside[share]:
            del self.inside[share]
        if self.waiting:
            self._schedule()

    def _is_free(self, share: Hashable) -> bool:
        return self.inside[share] < self.of_one and self.inside.total() < self.at_once

    def _let_in(self, share: Hashable) -> Place:
        self.inside[share] += 1
        self._schedule()
        return Place(self, share)

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._let_next_in)

    def _let_next_in(self) -> None:
        self._is_scheduled = False
        if self.inside.total() >= self.at_once:
            return
        share = next((each for each in self.waiting if self._is_free(each)), None)
        if share is None:
            return
        lines = self.waiting[share]
        whose, line = next(iter(lines.items()))
        turn, _ = line.popitem(last=False)
        lines.move_to_end(whose)
        self.waiting.move_to_end(share)
        self._drop_empty(share, whose)
        self.inside[share] += 1  # also for a turn that was cancelled just now: its request leaves again
        if not turn.done():
            turn.set_result(None)
        self._schedule()

    def _drop_empty(self, share: Hashable, whose: Hashable) -> None:
        lines = self.waiting[share]
        if not lines[whose]:
            del lines[whose]
        if not lines:
            del self.waiting[share]


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


STREAMS = ("/event-feed", "/stream")
NO = frozenset({"false", "0", "no", "off", "f", "n"})


class Queued:
    """Around the app: a GET below /api waits for its place, and has it until its reply begins.

    Of replies in pieces one piece is handed over in each turn of the event loop, round robin over those who read.
    Streams that stay open have limits of their own (`app.feed.service.hub`).
    """

    def __init__(self, app: ASGIApp, state: State, settings: Settings) -> None:
        self.app = app
        self._state = state
        self._queue = Queue(settings.most_reads, settings.most_reads_of_one, settings.read_wait_seconds)
        self._pieces = Queue(1, 1, None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] != "http" or scope["method"] != "GET" or not is_read(scope):
            await self.app(scope, receive, send)
            return
        asker = self._asker(scope)
        place = self._queue.enter_at_once(asker)
        if place is None:
            listener = Listener(receive)
            receive = listener.receive
            try:
                place = await listener.unless_gone(self._queue, asker)
            except Busy as busy:
                await error_response(503, busy.message, headers=headers_of(busy))(scope, receive, send)
                return
        try:
            await self.app(scope, receive, self._leaving(place, asker, send))
        finally:
            place.leave()

    def _leaving(self, place: Place, asker: Asker, send: Send) -> Send:
        """Send as it was, but that it gives up the place, and that pieces take turns."""

        async def send_in_turn(message: Message) -> None:
            place.leave()
            if message.get("more_body"):
                (await self._pieces.enter(asker)).leave()  # not held while the client is waited for
            await send(message)

        return send_in_turn

    def _asker(self, scope: Scope) -> Asker:
        """The account, if its login is known; else the address, among all who are nobody or have yet to log in."""
        header = Headers(scope=scope).get("authorization")
        viewer = None if header is None else cast(Authenticator, self._state.authenticator).remembered(header)
        if viewer is not None:
            return Asker(("account", viewer.account_id), None)
        client = scope.get("client")
        source = source_of(client[0]) if client else ""
        return Asker("nobody" if header is None else "somebody new", source)


def is_read(scope: Scope) -> bool:
    """Is it a read that ends? A feed that ends with what is there now is one."""
    path: str = scope["path"]
    if not path.startswith("/api/"):
        return False
    if not path.endswith(STREAMS):
        return True
    query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
    return query.get("stream", "").lower() in NO


class Listener:
    """What a client sends while its request waits, kept for the app; and whether it has gone."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._heard: list[Message] = []

    async def receive(self) -> Message:
        """What was heard first, then what comes."""
        return self._heard.pop(0) if self._heard else await self._receive()

    async def unless_gone(self, queue: Queue, asker: Asker) -> Place:
        """Wait for a place; raises ClientDisconnect, and stands in no line any more, once the client has gone."""
        listening = asyncio.ensure_future(self._until_gone())
        try:
            return await queue.wait(asker, listening)
        finally:
            listening.cancel()

    async def _until_gone(self) -> None:
        """Return when the client has gone. A body is left where it is after its first piece: nobody reads it."""
        while (message := await self._receive())["type"] != "http.disconnect":
            self._heard.append(message)
            if message.get("more_body"):
                await asyncio.get_running_loop().create_future()
