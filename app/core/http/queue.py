"""Who reads waits for a place: few read at once, and fewer of one viewer (guarantee 6).

The event loop does everything else meanwhile, so what a submission waits for does not grow with the number of readers.
One account or address waits in the common lines with few of its requests, so that others come in between (guarantee 4).

- Reads that take long wait for their place before the app sees them, and send what is large piece by piece.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from contextlib import ExitStack
from typing import cast
from urllib.parse import parse_qsl
from weakref import WeakValueDictionary

import anyio
from starlette.datastructures import Headers, State
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.errors import Unavailable
from app.core.http.auth import Authenticator
from app.core.http.errors import error_response, headers_of
from app.core.load import source_of
from app.core.messages import N_
from app.core.settings import Settings

STREAMS = ("/event-feed", "/stream")
NO = frozenset({"false", "0", "no", "off", "f", "n"})
BUSY = Unavailable(N_("too many long reads at this moment; try again"), 1)


class Queued:
    """Around the app: a GET below /api waits for its place, and has it until its reply begins.

    Of replies in pieces, requests that have come are served between two pieces. Streams that stay open have limits of
    their own (`app.feed.service.streams`).
    """

    def __init__(self, app: ASGIApp, state: State, settings: Settings) -> None:
        self.app = app
        self._state = state
        self._of_one = settings.most_reads_of_one
        self._seconds = settings.read_wait_seconds
        self._all = asyncio.Semaphore(settings.most_reads)
        # Those of accounts and addresses that read or wait.
        self._own: WeakValueDictionary[Hashable, asyncio.Semaphore] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] != "http" or scope["method"] != "GET" or not is_read(scope):
            await self.app(scope, receive, send)
            return
        turns = [*map(self._turn, self._askers(scope)), self._all]
        with ExitStack() as place:
            if any(turn.locked() for turn in turns):
                waiting = _Waiting(receive)
                receive = waiting.receive
                if not await waiting.entered(place, turns, self._seconds):
                    await error_response(503, BUSY.message, headers=headers_of(BUSY))(scope, receive, send)
                    return
            else:
                await _enter(place, turns)

            async def send_and_leave(message: Message) -> None:
                place.close()
                if message.get("more_body"):
                    await asyncio.sleep(0)
                await send(message)

            await self.app(scope, receive, send_and_leave)

    def _turn(self, asker: Hashable) -> asyncio.Semaphore:
        turn = self._own.get(asker)
        if turn is None:
            turn = self._own[asker] = asyncio.Semaphore(self._of_one)
        return turn

    def _askers(self, scope: Scope) -> Sequence[Hashable]:
        """The account, if its login is known; else the address, and all who are nobody or have yet to log in."""
        header = Headers(scope=scope).get("authorization")
        viewer = None if header is None else cast(Authenticator, self._state.authenticator).remembered(header)
        if viewer is not None:
            return [("account", viewer.account_id)]
        client = scope.get("client")
        everybody = "nobody" if header is None else "somebody new"
        return [(everybody, source_of(client[0]) if client else ""), everybody]


async def _enter(place: ExitStack, turns: Sequence[asyncio.Semaphore]) -> None:
    for turn in turns:
        await turn.acquire()
        place.callback(turn.release)


def is_read(scope: Scope) -> bool:
    """Is it a read that ends? A feed that ends with what is there now is one."""
    path: str = scope["path"]
    if not path.startswith("/api/"):
        return False
    if not path.endswith(STREAMS):
        return True
    query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
    return query.get("stream", "").lower() in NO


class _Waiting:
    """A client whose request waits: what it sends is kept for the app, and its leaving ends the wait."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._heard: list[Message] = []
        self._is_gone = False

    async def receive(self) -> Message:
        """What was heard first, then what comes."""
        return self._heard.pop(0) if self._heard else await self._receive()

    async def entered(self, place: ExitStack, turns: Sequence[asyncio.Semaphore], seconds: float) -> bool:
        """Wait for these turns; False after so many seconds. Raises ClientDisconnect once the client has gone."""
        is_entered = False
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._until_gone, tasks.cancel_scope)
            with anyio.move_on_after(seconds):
                await _enter(place, turns)
                is_entered = True
            tasks.cancel_scope.cancel()
        if self._is_gone and not is_entered:
            raise ClientDisconnect
        return is_entered

    async def _until_gone(self, scope: anyio.CancelScope) -> None:
        """End the wait when the client has gone. A body is left where it is after its first piece: nobody reads it."""
        while (message := await self._receive())["type"] != "http.disconnect":
            self._heard.append(message)
            if message.get("more_body"):
                return
        self._is_gone = True
        scope.cancel()
