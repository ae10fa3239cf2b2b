"""Reads that take long wait in a queue: few at a time, fewer of one viewer, and beyond that 503 with Retry-After."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Hashable
from typing import cast

from starlette.datastructures import Headers, State
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.auth import Authenticator
from app.api.errors import ApiError, error_response

AT_ONCE, OF_ONE = 16, 6
"""Reads that go on at once, and those of one account, or of all who are nobody. Below the pool of connections."""
WAITING, WAITING_OF_ONE = 400, 100
SECONDS = 5.0


class Busy(ApiError):
    """Others read so much that this would take too long; come back after a second."""

    status = 503

    def __init__(self) -> None:
        super().__init__("too many long reads at this moment; try again", headers={"Retry-After": "1"})


class Queued:
    """Around the app: a GET below /api waits for its place, and has it until its reply begins.

    Streams have limits of their own (`app.api.feed.crowd`).
    """

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app = app
        self._state = state
        self._queue = Queue()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] != "http" or scope["method"] != "GET" or not _is_read(scope["path"]):
            await self.app(scope, receive, send)
            return
        try:
            place = await self._queue.enter(self._whose(scope))
        except Busy as busy:
            await error_response(503, busy.message, headers=busy.headers)(scope, receive, send)
            return

        async def send_leaving(message: Message) -> None:
            place.leave()
            await send(message)

        try:
            await self.app(scope, receive, send_leaving)
        finally:
            place.leave()

    def _whose(self, scope: Scope) -> Hashable:
        """The account, if its login is known; else one of two names for all others."""
        header = Headers(scope=scope).get("authorization")
        if header is None:
            return "nobody"
        viewer = cast(Authenticator, self._state.authenticator).remembered(header)
        return "somebody new" if viewer is None else ("account", viewer.account_id)


def _is_read(path: str) -> bool:
    return path.startswith("/api/") and not path.endswith(("/event-feed", "/stream"))


class Place:
    """One place among those that read; given up once."""

    def __init__(self, queue: Queue, whose: Hashable) -> None:
        self._queue, self._whose, self._held = queue, whose, True

    def leave(self) -> None:
        """Let the next one in."""
        if self._held:
            self._held = False
            self._queue.left(self._whose)


class Queue:
    """Who reads and who waits; for one event loop."""

    def __init__(self, at_once: int = AT_ONCE, of_one: int = OF_ONE, seconds: float = SECONDS) -> None:
        self.at_once, self.of_one, self.seconds = at_once, of_one, seconds
        self.inside: Counter[Hashable] = Counter()
        self.waiting: deque[tuple[Hashable, asyncio.Future[None]]] = deque()

    async def enter(self, whose: Hashable) -> Place:
        """Wait for a place; raises Busy where too many wait already, or after some seconds."""
        if not self._free(whose) or any(each == whose for each, _ in self.waiting):
            await self._wait(whose)
        else:
            self.inside[whose] += 1
        return Place(self, whose)

    async def _wait(self, whose: Hashable) -> None:
        if len(self.waiting) >= WAITING or sum(each == whose for each, _ in self.waiting) >= WAITING_OF_ONE:
            raise Busy
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (whose, turn)
        self.waiting.append(entry)
        try:
            async with asyncio.timeout(self.seconds):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():  # let in at the same moment
                self.left(whose)
            elif entry in self.waiting:
                self.waiting.remove(entry)
            if isinstance(error, TimeoutError):
                raise Busy from None
            raise

    def _free(self, whose: Hashable) -> bool:
        return self.inside.total() < self.at_once and self.inside[whose] < self.of_one

    def left(self, whose: Hashable) -> None:
        """One has left: the first who may enters, in the order in which they came."""
        self.inside[whose] -= 1
        if not self.inside[whose]:
            del self.inside[whose]
        for entry in list(self.waiting):
            if entry[1].done():
                self.waiting.remove(entry)
            elif self._free(entry[0]):
                self.waiting.remove(entry)
                self.inside[entry[0]] += 1
                entry[1].set_result(None)
