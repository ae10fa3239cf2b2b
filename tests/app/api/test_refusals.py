"""Refusals wait where one address has many requests under way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.http.refusals import MOST_AT_ONCE, Refusals


def test_refusals_of_an_address_with_many_requests_under_way_wait_and_those_of_others_do_not() -> None:
    assert asyncio.run(sent_beside(MOST_AT_ONCE, status=404, address="192.0.2.1")) == []
    assert asyncio.run(sent_beside(MOST_AT_ONCE, status=404, address="192.0.2.2")) == [404]
    assert asyncio.run(sent_beside(MOST_AT_ONCE - 1, status=404, address="192.0.2.1")) == [404]


def test_good_replies_and_faults_of_the_server_never_wait() -> None:
    assert asyncio.run(sent_beside(MOST_AT_ONCE, status=200, address="192.0.2.1")) == [200]
    assert asyncio.run(sent_beside(MOST_AT_ONCE, status=503, address="192.0.2.1")) == [503]


def test_a_refusal_that_has_waited_is_sent() -> None:
    assert asyncio.run(sent_beside(MOST_AT_ONCE, status=429, address="192.0.2.1", is_over=True)) == [429]


async def sent_beside(others: int, *, status: int, address: str, is_over: bool = False) -> list[int]:
    """The statuses sent for one request of `address` beside others of 192.0.2.1, which are not answered yet."""
    unanswered, waited = asyncio.Event(), asyncio.Event()
    if is_over:
        waited.set()
    refusals = Refusals(answering(status, unanswered.wait), waited.wait)
    statuses: list[int] = []
    tasks = [asyncio.create_task(ask(refusals, "/slow", "192.0.2.1", [])) for _ in range(others)]
    await asyncio.sleep(0)
    tasks.append(asyncio.create_task(ask(refusals, "/", address, statuses)))
    for _ in range(10):
        await asyncio.sleep(0)
    sent = list(statuses)
    unanswered.set()
    waited.set()
    await asyncio.gather(*tasks)
    return sent


def answering(status: int, until: Callable[[], Awaitable[object]]) -> ASGIApp:
    """An app that answers with one status, and /slow only later."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/slow":
            await until()
        await Response(status_code=status)(scope, receive, send)

    return app


async def ask(app: ASGIApp, path: str, address: str, statuses: list[int]) -> None:
    """Ask an app as a client of that address, and note the statuses that it sends."""

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await app({"type": "http", "path": path, "client": (address, 1)}, receive, send)
