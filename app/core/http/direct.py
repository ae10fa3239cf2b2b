"""Answers the two requests that come most often in front of FastAPI's routing (guarantee 6).

A scoreboard and a submission cost FastAPI, CORS and compression more than their own work: a third of the processor
time that a submission has. Their routes exist in FastAPI too, and send the same. Boards pass by our own layers as well:
behind them 6,600 zipped ones are sent in a second, before them 11,000.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.accounts.service.tokens import who_may
from app.core.http.deps import acting_for, admit
from app.core.http.errors import reply_to

ADDRESS = re.compile(r"/api/contests/([A-Za-z0-9_.-]+)/(\w+)")
# Pages of browsers are to be told what CORS says.
OF_PAGES = frozenset({b"origin", b"sec-fetch-site"})
ANY = re.compile(rb".*", re.DOTALL)


class Endpoint(NamedTuple):
    """What answers a request with such a query. `path` and `operation` are those of FastAPI's route."""

    path: str
    operation: str
    answer: Callable[[Request], Awaitable[Response]]
    query: re.Pattern[bytes] = ANY


class Direct:
    """Around an app: answers by `endpoints`, by method and the last part of the address of a contest.

    What is answered outside of the app's own layers has those of `framed` around it, and is told of its `owner`.
    """

    def __init__(
        self,
        app: ASGIApp,
        endpoints: Mapping[tuple[str, str], Endpoint],
        owner: ASGIApp | None = None,
        framed: Callable[[ASGIApp], ASGIApp] = lambda answer: answer,
    ) -> None:
        self.app = app
        self._endpoints = endpoints
        self._owner = owner
        self._framed = framed(self._answer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        address = ADDRESS.fullmatch(scope["path"]) if scope["type"] == "http" else None
        endpoint = None if address is None else self._endpoints.get((scope["method"], address[2]))
        if (
            endpoint is None
            or address is None
            or endpoint.query.fullmatch(scope["query_string"]) is None
            or any(name in OF_PAGES for name, _ in scope["headers"])
        ):
            await self.app(scope, receive, send)
            return
        scope["route"], scope["path_params"] = endpoint, {"contest_id": address[1]}
        if self._owner is not None:
            scope["app"] = self._owner
        await self._framed(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint: Endpoint = scope["route"]
        request = Request(scope, receive)
        try:
            await admit(request, who_may(endpoint.operation))
            with acting_for(request, endpoint.operation):
                response = await endpoint.answer(request)
        except ClientDisconnect:
            raise
        except Exception as error:
            response = await reply_to(request, error)
        await response(scope, receive, send)
