"""Refusals wait where an address has many of them, or many requests under way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.http.middleware import MOST_A_SECOND, MOST_AT_ONCE, MOST_UNKNOWN, Refusals


def test_refusals_of_an_address_with_many_requests_under_way_wait_and_those_of_others_do_not() -> None:
    assert asyncio.run(sent_beside(MOST_AT_ONCE, status=404, address="192.0.2.1")) == []
    assert asyncio.run(sent_beside(MOST_AT_ONCE, status=404, address="192.0.2.2")) == [404]
    assert asyncio.run(sent_beside(MOST_AT_ONCE - 1, status=404, address="192.0.2.1")) == [404]


def test_good_replies_and_faults_of_the_server_never_wait() -> None:
    assert asyncio.run(sent_beside(MOST_AT_ONCE, status=200, address="192.0.2.1")) == [200]
    assert asyncio.run(sent_beside(MOST_AT_ONCE, status=503, address="192.0.2.1")) == [503]


def test_a_refusal_that_has_waited_is_sent() -> None:
    assert asyncio.run(sent_beside(MOST_AT_ONCE, status=429, address="192.0.2.1", is_over=True)) == [429]


def test_refusals_beyond_a_number_a_second_wait() -> None:
    """Requests that are refused at once are never under way together, however many connections send them."""
    assert asyncio.run(waited_of(MOST_A_SECOND)) == 0
    assert asyncio.run(waited_of(3 * MOST_A_SECOND)) > 0  # however the seconds fall


async def waited_of(count: int) -> int:
    """The number of refusals that wait of so many in a row."""
    waited = 0

    async def wait() -> None:
        nonlocal waited
        waited += 1

    refusals = Refusals(Response(status_code=404), wait)
    for _ in range(count):
        await ask(refusals, "/", "192.0.2.1", [])
    return waited


def test_the_connection_is_closed_behind_a_refusal_of_which_much_is_unread() -> None:
    for length, headers in ((10**6, [(b"connection", b"close")]), (100, [])):
        assert asyncio.run(headers_of_refusal(b"%d" % length)) == headers


async def headers_of_refusal(length: bytes) -> list[tuple[bytes, bytes]]:
    """The headers of a refusal beside many others, of a request whose body no one has read."""
    unanswered = asyncio.Event()

    async def no_wait() -> None:
        return

    refusals = Refusals(answering(401, unanswered.wait), no_wait)
    others = [asyncio.create_task(ask(refusals, "/slow", "192.0.2.1", [])) for _ in range(MOST_AT_ONCE)]
    await asyncio.sleep(0)
    sent: list[tuple[bytes, bytes]] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": True}

    async def send(message: Message) -> None:
        sent.extend(each for each in message.get("headers", ()) if each[0] == b"connection")

    scope = {"type": "http", "path": "/", "client": ("192.0.2.1", 1), "headers": [(b"content-length", length)]}
    await refusals(scope, receive, send)
    unanswered.set()
    await asyncio.gather(*others)
    return sent


def test_large_bodies_without_credentials_are_taken_a_few_at_a_time() -> None:
    large = (b"content-length", b"1000000")
    assert asyncio.run(begun_of(3 * MOST_UNKNOWN, [large])) == MOST_UNKNOWN
    assert asyncio.run(begun_of(3 * MOST_UNKNOWN, [large, (b"authorization", b"Bearer x")])) == 3 * MOST_UNKNOWN
    assert asyncio.run(begun_of(3 * MOST_UNKNOWN, [(b"content-length", b"10")])) == 3 * MOST_UNKNOWN


async def begun_of(count: int, headers: list[tuple[bytes, bytes]]) -> int:
    """The number of requests that reach the app of so many that come at once; all reach it in the end."""
    begun, answered = 0, asyncio.Event()

    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        nonlocal begun
        begun += 1
        await answered.wait()

    refusals = Refusals(app)
    tasks = [asyncio.create_task(ask(refusals, "/", "192.0.2.1", [], headers)) for _ in range(count)]
    for _ in range(10):
        await asyncio.sleep(0)
    at_once = begun
    answered.set()
    await asyncio.gather(*tasks)
    assert begun == count
    return at_once


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


async def ask(
    app: ASGIApp, path: str, address: str, statuses: list[int], headers: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    """Ask an app as a client of that address, and note the statuses that it sends."""

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await app({"type": "http", "path": path, "client": (address, 1), "headers": list(headers)}, receive, send)
