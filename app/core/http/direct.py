"""Answers the two most frequent requests before FastAPI routes them (guarantee 6).

FastAPI's and Starlette's layers, routing, CORS and compression take a third of a submission's processor time. FastAPI
has routes for both requests too, which send the same replies. They take everything else: pages of browsers, other
queries, and logins that are not known yet, so that wrong ones wait with other refusals. Scoreboards are sent before our
own layers as well: behind them 6,600 compressed ones are sent in a second, before them 8,100.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from fastapi import FastAPI, Request, Response
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from app.accounts.service.tokens import who_may
from app.accounts.service.viewer import PUBLIC, Viewer
from app.core.http.auth import Authenticator
from app.core.http.deps import VIEWER, acting_for, admit
from app.core.http.errors import reply_to

ADDRESS = re.compile(r"/api/contests/([A-Za-z0-9_.-]+)/(\w+)")
# Pages of browsers are to be told what CORS says.
OF_PAGES = frozenset({b"origin", b"sec-fetch-site"})
ANY = re.compile(rb".*", re.DOTALL)


class Endpoint(NamedTuple):
    """Answers a request with a matching query. `path` and `operation` are those of FastAPI's route."""

    path: str
    operation: str
    answer: Callable[[Request], Awaitable[Response]]
    query: re.Pattern[bytes] = ANY


class Direct:
    """A layer around `app` that answers by `endpoints`: by the method and the last part of a contest's address.

    `framed` adds the log, the metrics and the headers where no layer outside of this one does.
    """

    def __init__(
        self,
        app: ASGIApp,
        owner: FastAPI,
        endpoints: Mapping[tuple[str, str], Endpoint],
        framed: Callable[[ASGIApp], ASGIApp] = lambda answer: answer,
    ) -> None:
        self.app = app
        self._owner = owner
        self._endpoints = endpoints
        self._framed = framed(self._answer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        address = ADDRESS.fullmatch(scope["path"]) if scope["type"] == "http" else None
        endpoint = None if address is None else self._endpoints.get((scope["method"], address[2]))
        if address is None or endpoint is None or endpoint.query.fullmatch(scope["query_string"]) is None:
            await self.app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        viewer = self._viewer(headers.get(b"authorization"))
        if viewer is None or not OF_PAGES.isdisjoint(headers):
            await self.app(scope, receive, send)
            return
        scope.update({"app": self._owner, "route": endpoint, "path_params": {"contest_id": address[1]}, VIEWER: viewer})
        await self._framed(scope, receive, send)

    def _viewer(self, header: bytes | None) -> Viewer | None:
        """Return who asks, if that is known without a look at the database."""
        authenticator: Authenticator = self._owner.state.authenticator
        return PUBLIC if header is None else authenticator.remembered(header.decode("latin-1"))

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
