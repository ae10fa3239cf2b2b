"""A short way for the request that must never wait: a submission is taken before any routing.

FastAPI's routing, its dependencies and the layers around them cost a small submission more than taking it. What they
would do for such a request is done here by the same functions: the log and the counts, the bound of its body, the
rights, the actor of its changes, the replies to errors. A request that needs more takes the long way to the same
endpoint: one of a page (its origin is checked, and it is told of headers), one under another spelling of the address.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fastapi import FastAPI, Request
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from app.accounts.service.rights import who_may
from app.core.http.errors import reply_to
from app.core.http.gated import acting_for, admit
from app.core.http.middleware import BodyLimit, Frame
from app.core.settings import Settings
from app.submissions.routes.submit import submit

ADDRESS = re.compile(r"/api/contests/([A-Za-z0-9_.-]+)/submissions")
OF_PAGES = frozenset({b"origin", b"sec-fetch-site"})
"""Headers by which browsers say which page sends a request."""
OPERATION = "submit"


@dataclass(frozen=True, slots=True)
class _Route:
    """What the metrics want to know of the route that answered."""

    path: str = "/contests/{contest_id}/submissions"


ROUTE = _Route()


class ExpressSubmissions:
    """Around an app: takes submissions itself, and hands every other request on."""

    def __init__(self, app: ASGIApp, owner: FastAPI, settings: Settings) -> None:
        self.app = app
        self._owner = owner
        self._who = who_may(OPERATION)
        limited = BodyLimit(self._answer, most=settings.max_upload, package=settings.max_package)
        self._framed = Frame(limited, owner.state.metrics)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        address = None
        if scope["type"] == "http" and scope["method"] == "POST":
            address = ADDRESS.fullmatch(scope["path"])
        if address is None or any(name in OF_PAGES for name, _ in scope["headers"]):
            await self.app(scope, receive, send)
            return
        scope["app"], scope["route"], scope["path_params"] = self._owner, ROUTE, {"contest_id": address[1]}
        await self._framed(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            await admit(request, self._who)
            with acting_for(request, OPERATION):
                response = await submit(request)
        except ClientDisconnect:
            raise
        except Exception as error:
            response = await reply_to(request, error)
        await response(scope, receive, send)
