"""Routes that ask who sends a body before they read any of it, and bound the JSON that they read."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from app.api.http.deps import admin_only, current_viewer, judge_or_admin, logged_in, team_only
from app.api.http.errors import RefusedBody
from app.services.errors import ServiceError
from app.services.json_bounds import MOST_OF_AN_ACCOUNT, MOST_OF_AN_ADMIN, read_json

GATES = (logged_in, admin_only, judge_or_admin, team_only)
WITH_BODIES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class GatedRoute(APIRoute):
    """A route that refuses whoever may not use it before FastAPI reads the body, which it does before all else."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Put the gates among the route's dependencies before its handler."""
        handle = super().get_route_handler()
        if not WITH_BODIES & (self.methods or set()):
            return handle
        calls = set(_calls(self.dependant))
        gates = [gate for gate in GATES if gate in calls]

        async def gated(request: Request) -> Response:
            most = MOST_OF_AN_ACCOUNT
            if gates:
                viewer = await current_viewer(request, request.app.state.authenticator)
                for gate in gates:
                    await gate(viewer)
                most = MOST_OF_AN_ADMIN if viewer.is_admin else most
            return await handle(_Bounded(request, most))

        return gated


class _Bounded(Request):
    """A request whose JSON has at most so many values."""

    def __init__(self, request: Request, most: int) -> None:
        super().__init__(request.scope, request.receive)
        self._most = most
        self._value: Any = None
        self._is_read = False

    async def body(self) -> bytes:
        """The bytes of the body; raises RefusedBody."""
        with _as_http():
            return await super().body()

    async def json(self) -> Any:
        """The value of the body, read once; raises RefusedBody."""
        if not self._is_read:
            with _as_http():
                self._value = await read_json(await self.body(), self._most)
            self._is_read = True
        return self._value


@contextmanager
def _as_http() -> Iterator[None]:
    try:
        yield
    except ServiceError as refusal:
        raise RefusedBody(refusal) from None


def _calls(dependant: Dependant) -> Iterator[Any]:
    yield dependant.call
    for inner in dependant.dependencies:
        yield from _calls(inner)
