"""A server that answers by heart, and remembers what it was asked: for what no real one says on demand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import httpx
import pytest

from app.core.commands.client import Client
from app.core.commands.config import Login

Answer = Any
"""JSON, a response, or what makes one of a request; in a list: one after the other, the last one forever."""


@dataclass
class Scripted:
    """Answers by method and path below /api; whatever is not named is 404."""

    answers: Mapping[str, Answer]
    asked: list[tuple[str, Any]] = field(default_factory=list)

    def client(self) -> Client:
        """A client of it."""
        return Client(Login("http://scripted", "token"), transport=httpx.MockTransport(self.answer), first_pause=0.0)

    def answer(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        name = f"{request.method} {request.url.path.removeprefix('/api/')}"
        body = request.read()
        self.asked.append((name, json.loads(body) if body else None))
        known = self.answers.get(name, httpx.Response(404, json={"code": 404, "message": f"nothing at {name}"}))
        if isinstance(known, list) and known and isinstance(known[0], httpx.Response | Callable):
            known = known.pop(0) if len(known) > 1 else known[0]
        if isinstance(known, Callable):  # type: ignore[arg-type]
            known = known(request)
        return known if isinstance(known, httpx.Response) else httpx.Response(200, json=known)

    def sent(self, name: str) -> list[Any]:
        """The bodies that were sent to one path."""
        return [body for asked, body in self.asked if asked == name]

    def install(self, monkeypatch: pytest.MonkeyPatch) -> Scripted:
        """Let every command talk to it."""
        monkeypatch.setattr("app.core.commands.client.Client.open", self.client)
        return self


def event_stream(*events: tuple[str, Any]) -> httpx.Response:
    """A reply of server-sent events, which then breaks off."""

    def lines() -> Iterator[bytes]:
        yield b": here\n\n"
        for at, (name, data) in enumerate(events, start=1):
            yield f"id: {at}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode()

    return httpx.Response(200, content=lines(), headers={"Content-Type": "text/event-stream"})


def first(count: int, each: Iterable[Any]) -> list[Any]:
    """The first ones of what never ends."""
    return list(islice(each, count))


def problem(id_: str, label: str) -> dict[str, Any]:
    """A problem of a contest, as the server lists it."""
    return {"id": id_, "label": label, "name": id_, "test_data_count": 1, "max_score": 100.0, "rule": {}}


def contest(id_: str) -> dict[str, Any]:
    """A contest as the server shows one that has no start yet."""
    return {
        "id": id_,
        "name": f"Contest {id_}",
        "start_time": None,
        "duration": "5:00:00.000",
        "scoreboard_freeze_duration": None,
        "scoreboard_thaw_time": None,
        "open_to_all": False,
        "settings": {},
    }
