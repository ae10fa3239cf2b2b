"""Refusals wait where one address has many requests under way, so that asking again at once is worth nothing.

A refusal costs the server a part of a millisecond, and hundreds of connections that repeat what was refused would take
the event loop from everybody else. While a refusal waits, the rest of its body stays unread.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.services.addresses import source_of

MOST_AT_ONCE = 16
"""Requests under way of one address up to which a refusal is sent at once."""
SECONDS = 1.0


class Refusals:
    """Around the app: replies of 400 to 499 wait a second where their address has more requests under way."""

    def __init__(self, app: ASGIApp, wait: Callable[[], Awaitable[object]] = partial(asyncio.sleep, SECONDS)) -> None:
        self.app = app
        self._wait = wait
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        client = scope.get("client")
        if scope["type"] != "http" or client is None:
            await self.app(scope, receive, send)
            return
        source = source_of(client[0])
        under_way = self._under_way
        under_way[source] += 1

        async def send_in_time(message: Message) -> None:
            if 400 <= message.get("status", 0) < 500 and under_way[source] > MOST_AT_ONCE:
                await self._wait()
            await send(message)

        try:
            await self.app(scope, receive, send_in_time)
        finally:
            under_way[source] -= 1
            if not under_way[source]:
                del under_way[source]
