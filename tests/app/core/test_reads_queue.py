"""Reads wait for places, and one who asks for much keeps few others waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.datastructures import State

from app.core.http.lists import Queued, is_read
from tests.builders.service import Api, settings_with

TURNS = 20


async def turns(count: int = TURNS) -> None:
    """Let the event loop turn."""
    for _ in range(count):
        await asyncio.sleep(0)


class Served:
    """An app behind the queue that answers when it is told to, and clients of it."""

    def __init__(self, **settings: Any) -> None:
        self.begun: list[str] = []
        self.answer = asyncio.Event()
        self.queued = Queued(self._app, State(), settings_with(**settings))

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        self.begun.append(scope["path"])
        assert (await receive())["type"] == "http.request"
        await self.answer.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def ask(self, path: str, address: str, gone: asyncio.Event, query: bytes = b"") -> asyncio.Task[list[int]]:
        """A request of a client that leaves when `gone` is set; gives the statuses that came."""
        statuses: list[int] = []
        messages = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> Any:
            if messages:
                return messages.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            statuses.extend([message["status"]] if "status" in message else [])

        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "headers": [],
            "query_string": query,
            "client": (address, 1),
        }

        async def request() -> list[int]:
            await self.queued(scope, receive, send)
            return statuses

        return asyncio.create_task(request())


def played(play: Callable[[], Awaitable[None]]) -> None:
    """Run one scene in an event loop of its own."""

    async def run() -> None:
        await play()

    asyncio.run(run())


def test_requests_of_clients_that_left_while_they_waited_leave_their_places() -> None:
    async def scene() -> None:
        served = Served(most_reads_of_one=2)
        stays, goes = asyncio.Event(), asyncio.Event()
        tasks = [served.ask(f"/api/{at}", "192.0.2.1", stays) for at in range(2)]
        await turns()
        tasks += [served.ask("/api/left", "192.0.2.1", goes) for _ in range(5)]
        tasks.append(served.ask("/api/last", "192.0.2.1", stays))
        await turns()
        goes.set()
        served.answer.set()
        assert await asyncio.gather(*tasks) == [[200]] * 8
        assert served.begun[-1] == "/api/last"
        assert not any(turn.locked() for turn in served.queued._own.values())

    played(scene)


def test_addresses_take_turns_however_many_requests_one_of_them_sends() -> None:
    async def scene() -> None:
        served = Served(most_reads_of_one=2)
        stays = asyncio.Event()
        tasks = [served.ask("/api/one", "192.0.2.1", stays) for _ in range(30)]
        await turns()
        tasks += [served.ask("/api/other", "192.0.2.2", stays) for _ in range(2)]
        await turns()
        assert served.begun == ["/api/one"] * 2, "nobodies share their places, wherever they come from"
        served.answer.set()
        assert await asyncio.gather(*tasks) == [[200]] * 32
        assert [at for at, path in enumerate(served.begun) if path == "/api/other"][1] <= 6

    played(scene)


def test_who_waits_too_long_gets_503_and_health_and_streams_never_wait() -> None:
    async def scene() -> None:
        served = Served(most_reads_of_one=1, read_wait_seconds=0.01)
        stays = asyncio.Event()
        first = served.ask("/api/0", "192.0.2.1", stays)
        await turns()
        assert await served.ask("/api/contests/c/event-feed", "192.0.2.2", stays, b"stream=false") == [503]
        passing = [
            served.ask("/api/contests/c/event-feed", "192.0.2.2", stays),
            served.ask("/api/contests/c/scoreboard/stream", "192.0.2.2", stays),
            served.ask("/health/live", "192.0.2.2", stays),
        ]
        await turns()
        assert len(served.begun) == 4
        served.answer.set()
        assert await asyncio.gather(first, *passing) == [[200]] * 4

    played(scene)


@pytest.mark.parametrize(
    ("path", "query", "waits"),
    [
        ("/api/contests/c/judgements", b"", True),
        ("/api/contests/c/event-feed", b"", False),
        ("/api/contests/c/event-feed", b"stream=true", False),
        ("/api/contests/c/event-feed", b"types=runs&stream=False", True),
        ("/api/contests/c/event-feed", b"stream=0", True),
        ("/health/ready", b"", False),
    ],
)
def test_reads_that_end_wait_and_streams_do_not(path: str, query: bytes, waits: bool) -> None:
    assert is_read({"path": path, "query_string": query}) is waits


def test_every_spelling_of_no_that_the_feed_takes_is_a_read_that_ends(api: Api) -> None:
    """FastAPI decides what `stream=...` means; a feed that ends must not pass by the queue."""
    for value in ("false", "False", "FALSE", "0", "no", "off", "f", "n", "N", "oFF"):
        taken = api.get(f"contests/none/event-feed?stream={value}").status_code
        assert taken == 404, value
        assert is_read({"path": "/api/contests/none/event-feed", "query_string": f"stream={value}".encode()}), value
