"""Routes that ask who sends a body before they read any of it, and bound the JSON that they read."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from app.accounts.queries.audit import Actor, acting
from app.accounts.service.rights import OF_ACCOUNTS, Place, Who, check, who_may
from app.accounts.service.viewer import Viewer
from app.core.errors import ServiceError
from app.core.http.acting import actor_of, is_noted
from app.core.http.deps import VIEWER, address_of, current_viewer
from app.core.http.errors import RefusedBody
from app.core.json_bounds import MOST_OF_AN_ACCOUNT, MOST_OF_AN_ADMIN, read_json

WITH_BODIES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
OF_CONTESTS = frozenset({Who.CONTEST_JUDGES, Who.CONTEST_OWNERS})
CONTEST = "contest_id"


class GatedRoute(APIRoute):
    """A route that asks `app.accounts.service.rights` who may use it, before FastAPI reads the body."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Put the gate before the route's handler."""
        handle = super().get_route_handler()
        operation = self.operation_id or self.name
        who = who_may(operation)
        most = MOST_OF_AN_ACCOUNT if who in OF_ACCOUNTS else MOST_OF_AN_ADMIN
        takes_bodies = bool(WITH_BODIES & (self.methods or set()))

        async def gated(request: Request) -> Response:
            await admit(request, who)
            if not takes_bodies:
                return await handle(request)
            with acting_for(request, operation):
                return await handle(_Bounded(request, most))

        return gated


async def admit(request: Request, who: Who) -> None:
    """Keep the viewer of a request in its scope; raises Unauthorized or Forbidden where it may not do this."""
    viewer = await current_viewer(request, request.app.state.authenticator)
    request.scope[VIEWER] = check(who, viewer, _place(request, who))


def acting_for(request: Request, operation: str) -> AbstractContextManager[None]:
    """Note the changes that are made meanwhile as those of the viewer, where it is one whose changes are noted."""
    actor = _actor(request, operation)
    return nullcontext() if actor is None else acting(actor)


def _actor(request: Request, operation: str) -> Actor | None:
    """Whoever the changes of a request are noted for."""
    viewer: Viewer = request.scope[VIEWER]
    if not is_noted(viewer, operation):  # teams, mostly: their address is not taken apart
        return None
    ids = {CONTEST: request.query_params.get(CONTEST), **request.path_params}
    return actor_of(viewer, operation, request.method, request.url.path, address_of(request), ids)


def _place(request: Request, who: Who) -> Place:
    """What the address names. Operations of contests without one in their path take it from the query."""
    path = request.path_params
    contest_id = path.get(CONTEST)
    if contest_id is None and who in OF_CONTESTS:
        contest_id = request.query_params.get(CONTEST)
    return Place(contest_id, path.get("problem_id"))


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
