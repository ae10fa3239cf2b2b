"""A client of streams, in this process: it reads a reply while it is being sent, and may go away in the middle."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.types import Message

from tests.builders.service import PASSWORD, Api

PATIENCE = 60.0


@dataclass
class Stream:
    """A reply that may still be going on."""

    api: Api
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    received: bytearray = field(default_factory=bytearray)
    ended: bool = False

    def lines(self) -> list[str]:
        """The whole lines that have come by now; keep-alives are empty ones."""
        return bytes(self.received).decode().split("\n")[:-1]

    def events(self) -> list[dict[str, Any]]:
        """The events that have come by now."""
        return [json.loads(line) for line in self.lines() if line]

    def wait(self, condition: Any) -> None:
        """Wait until something holds; fails if it does not for long."""
        until = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < until, f"nothing more came after {self.lines()[-3:]}"
            time.sleep(0.005)

    def wait_for(self, count: int) -> list[dict[str, Any]]:
        """Wait until so many events have come."""
        self.wait(lambda: len(self.events()) >= count)
        return self.events()


@contextmanager
def open_stream(
    api: Api, path: str, *, user: str | None = None, headers: dict[str, str] | None = None, begun: bool = True
) -> Iterator[Stream]:
    """GET something that continues, once the reply has `begun`; the client goes away at the end."""
    stream = Stream(api)
    address = urlsplit(path if path.startswith("/") else f"/api/{path}")
    sent = {"host": "jurado.test", **(headers or {})}
    if user is not None:
        sent["authorization"] = "Basic " + base64.b64encode(f"{user}:{PASSWORD}".encode()).decode()
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": address.path,
        "raw_path": address.path.encode(),
        "query_string": address.query.encode(),
        "root_path": "",
        "headers": [(key.lower().encode(), value.encode()) for key, value in sent.items()],
        "client": ("127.0.0.1", 1),
        "server": ("jurado.test", 80),
    }

    async def start() -> tuple[asyncio.Task[None], asyncio.Event]:
        gone = asyncio.Event()
        asked = False

        async def receive() -> Message:
            nonlocal asked
            if not asked:
                asked = True
                return {"type": "http.request", "body": b"", "more_body": False}
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                stream.status = message["status"]
                stream.headers = {key.decode(): value.decode() for key, value in message["headers"]}
            else:
                stream.received += message.get("body", b"")
                stream.ended = not message.get("more_body", False)

        return asyncio.get_running_loop().create_task(api.app(scope, receive, send)), gone

    task, gone = api.portal.call(start)

    async def stop() -> None:
        gone.set()
        await asyncio.wait_for(task, PATIENCE)

    try:
        stream.wait(lambda: stream.status or task.done() or not begun)
        yield stream
    finally:
        api.portal.call(stop)


def fold(events: list[dict[str, Any]]) -> dict[str, dict[str | None, Any]]:
    """What a client knows after these events: by type and id; what is gone is not there."""
    known: dict[str, dict[str | None, Any]] = {}
    for event in events:
        if event["data"] is None:
            known.get(event["type"], {}).pop(event["id"], None)
        else:
            known.setdefault(event["type"], {})[event["id"]] = event["data"]
    return {type_: objects for type_, objects in known.items() if objects}


Who = str | dict[str, str] | None
"""A username of the people, headers that prove someone, or no one."""


def _as(who: Who) -> dict[str, Any]:
    return {"headers": who} if isinstance(who, dict) else {"user": who}


def shown(api: Api, contest_id: str, user: Who) -> dict[str, dict[str | None, Any]]:
    """What the endpoints tell this user, in the same form."""
    from app.feed.service.rendering import ORDER

    objects: dict[str, dict[str | None, Any]] = {}
    for type_ in ORDER:
        if type_ == "accounts" and user is None:
            continue  # no one has no account, and the endpoint says so with 404
        path = f"contests/{contest_id}" + ("" if type_ == "contest" else f"/{type_}")
        reply = api.get(path, **_as(user))
        assert reply.status_code == 200, (path, reply.text)
        body = reply.json()
        known = {None: body} if type_ in {"contest", "state"} else {each["id"]: each for each in body}
        if known:
            objects[type_] = known
    return objects


def read_feed(api: Api, contest_id: str = "c", *, user: Who = None, token: str | None = None) -> list[Any]:
    """Everything a feed says up to now, from the beginning or behind a token."""
    since = "" if token is None else f"&since_token={token}"
    reply = api.get(f"contests/{contest_id}/event-feed?stream=false{since}", **_as(user))
    assert reply.status_code == 200, reply.text
    return [json.loads(line) for line in reply.text.splitlines() if line]
