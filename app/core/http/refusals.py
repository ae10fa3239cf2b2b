"""Refusals wait where an address has many of them, or many requests under way: asking again at once gains nothing.

A refusal costs the server a part of a millisecond, and hundreds of connections that repeat what was refused would take
the event loop from everybody else. While a refusal waits, the rest of its body stays unread; then the connection is
closed if that may be much, as reading it to the end costs more than the refusal.

Nobody may send much without credentials, so such requests of an address are worked on a few at a time.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from functools import partial
from time import monotonic

from cachetools import LRUCache
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.addresses import source_of

MOST_AT_ONCE = 16
"""Requests under way of one address up to which a refusal is sent at once."""
MOST_A_SECOND = 250
"""Refusals of one address in a second up to which one is sent at once."""
SECONDS = 1.0
MOST_UNKNOWN = 8
"""Requests of one address with a large body and without credentials that are worked on at once, refusals included."""
MOST_ADDRESSES = 10_000
LITTLE = 64 * 1024
"""Bytes of a body that are read to the end for the sake of the connection."""
CLOSE = (b"connection", b"close")


class Refusals:
    """Around the app: replies of 400 to 499 wait a second where their address has had too many."""

    def __init__(self, app: ASGIApp, wait: Callable[[], Awaitable[object]] = partial(asyncio.sleep, SECONDS)) -> None:
        self.app = app
        self._wait = wait
        self._under_way: Counter[str] = Counter()
        self._refused: LRUCache[tuple[str, int], int] = LRUCache(MOST_ADDRESSES)
        self._turns: dict[str, asyncio.Semaphore] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        client = scope.get("client")
        if scope["type"] != "http" or client is None:
            await self.app(scope, receive, send)
            return
        source = source_of(client[0])
        under_way = self._under_way
        under_way[source] += 1
        headers: dict[bytes, bytes] = dict(scope["headers"])
        is_large = is_unread = _is_large(headers)

        async def receive_noted() -> Message:
            nonlocal is_unread
            message = await receive()
            is_unread = is_unread and bool(message.get("more_body"))
            return message

        async def send_in_time(message: Message) -> None:
            if 400 <= message.get("status", 0) < 500 and self._is_pressed(source):
                await self._wait()
                if is_unread:
                    message = {**message, "headers": [*message["headers"], CLOSE]}
            await send(message)

        try:
            async with self._turn(source) if is_large and b"authorization" not in headers else nullcontext():
                await self.app(scope, receive_noted, send_in_time)
        finally:
            under_way[source] -= 1
            if not under_way[source]:
                del under_way[source]
                self._turns.pop(source, None)

    def _is_pressed(self, source: str) -> bool:
        """Count a refusal; tells whether it is to wait. Requests refused at once are never under way together."""
        now = source, int(monotonic())
        refused = self._refused[now] = self._refused.get(now, 0) + 1
        return refused > MOST_A_SECOND or self._under_way[source] > MOST_AT_ONCE

    def _turn(self, source: str) -> asyncio.Semaphore:
        return self._turns.setdefault(source, asyncio.Semaphore(MOST_UNKNOWN))


def _is_large(headers: Mapping[bytes, bytes]) -> bool:
    """Tell whether the body of a request may be more than a little."""
    length = headers.get(b"content-length", b"")
    return b"transfer-encoding" in headers or (length.isdigit() and (len(length) > 18 or int(length) > LITTLE))
