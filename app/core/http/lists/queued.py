"""Reads that take long wait for their place before the app sees them, and send what is large piece by piece."""

from __future__ import annotations

import asyncio
from typing import cast
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, State
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.addresses import source_of
from app.core.http.auth import Authenticator
from app.core.http.errors import error_response, headers_of
from app.core.http.lists.queue import Asker, Busy, Place, Queue
from app.core.settings import Settings

STREAMS = ("/event-feed", "/stream")
NO = frozenset({"false", "0", "no", "off", "f", "n"})


class Queued:
    """Around the app: a GET below /api waits for its place, and has it until its reply begins.

    Of replies in pieces one piece is handed over in each turn of the event loop, round robin over those who read.
    Streams that stay open have limits of their own (`app.feed.service.crowd`).
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
