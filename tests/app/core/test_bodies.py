"""Bodies of strangers: who sends them is asked first, and they are bounded before anything is made of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute
from starlette.types import Message

from app.core.http.deps import WITH_BODIES, GatedRoute
from app.core.load import DEEPEST, check_values, is_within
from app.core.messages import BadRequest
from app.routes import ROUTERS
from tests.builders.service import Api

OF_NOBODY = {
    "/api/account/password-reset",
    "/api/contests/{contest_id}/registrations",
    "/api/contests/{contest_id}/problems/{problem_id}/games",
    "/api/games/{game_id}/moves",
    "/api/games/{game_id}/resign",
}
"""Routes by which people without an account get one, or a password."""


def api_routes() -> Iterator[APIRoute]:
    """Every route below /api that may have a body."""
    for router in ROUTERS:
        routes: Sequence[BaseRoute] = router.routes
        yield from (each for each in routes if isinstance(each, APIRoute) and each.methods & WITH_BODIES)


def test_every_route_that_changes_something_asks_who_it_is_before_it_reads(quick_api: Api) -> None:
    """No one's body is never read: it is not even received. What takes some from everyone refuses a large one."""
    asked = [(sorted(route.methods)[0], f"/api{route.path}") for route in api_routes()]
    assert len(asked) > 40
    for method, path in asked:
        received: list[str] = []
        expected = 413 if path in OF_NOBODY else 401
        asked_path = path.replace("{", "").replace("}", "")
        assert status_of(quick_api, method, asked_path, received) == expected, (method, path)
        assert received == []


def status_of(api: Api, method: str, path: str, received: list[str]) -> int:
    """The status of a request with a body of JSON; `received` notes when the body is asked for."""
    replies: list[Message] = []
    length = b"100000"
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": b"",
        "headers": [(b"host", b"here"), (b"content-type", b"application/json"), (b"content-length", length)],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }

    async def receive() -> Message:
        received.append(path)
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        await asyncio.sleep(0)
        replies.append(message)

    api.portal.call(api.app, scope, receive, send)
    return int(replies[0]["status"])


def test_all_routes_of_the_api_are_gated() -> None:
    """A router made without the class would read bodies of no one."""
    assert [route.path for route in api_routes() if not isinstance(route, GatedRoute)] == []


@pytest.mark.parametrize("piece", [b'"', b'"\\', b'\\"', b'"\\"', b"[,", b'"a\\'], ids=repr)
def test_counting_values_looks_at_each_byte_once(piece: bytes) -> None:
    """Texts that end nowhere are not looked for again from each of their quotes: that would take hours here."""
    with pytest.raises(BadRequest, match="at most 5 values"):
        check_values(b"[1,1,1,1,1,1]" + piece * 2_000_000 + b"," * 10 + b'",1,1,1,1,1,1', 5)


def test_depth_and_number_of_values_are_bounds_that_may_be_reached() -> None:
    nested: Any = 1
    for _ in range(DEEPEST):
        nested = [nested]
    assert is_within(nested, 1000)
    assert not is_within([nested], 1000)
    assert is_within([1, {"a": 2, "b": [3]}], 6)
    assert not is_within([1, {"a": 2, "b": [3]}], 5)
