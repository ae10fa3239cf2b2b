"""A short way to the page everybody asks for: the scoreboard is sent before any routing.

Finding the route, its dependencies and its arguments costs five times what sending the bytes does. Those who come while
a changed board is being written wait here too: hundreds of them on the long way would keep the next one from being
written. Other viewers and other options go through `app.api.scoreboard`; what is sent is the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import cast

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.auth import PUBLIC, Authenticator, Viewer
from app.api.scoreboard import page_soon, reply
from app.api.sheets import page_key
from app.api.standings import seen_by
from app.service import Service

BOARD = re.compile(r"/api/contests/([A-Za-z0-9_.-]+)/scoreboard")
SINCE = re.compile(rb"since=([0-9a-f]{1,40})")


@dataclass(frozen=True, slots=True)
class _Route:
    """What the metrics want to know of the route that answered."""

    path: str = "/contests/{contest_id}/scoreboard"


ROUTE = _Route()


class Express:
    """Answers for the scoreboard's route, for viewers who are known already."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        found = BOARD.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "GET" else None
        if found is None or not await self._answered(scope, receive, send, found[1]):
            await self.app(scope, receive, send)

    async def _answered(self, scope: Scope, receive: Receive, send: Send, contest_id: str) -> bool:
        query = scope["query_string"]
        asked = SINCE.fullmatch(query)
        if query and asked is None:
            return False
        request = Request(scope)
        headers = request.headers
        if "origin" in headers:
            return False  # a page of another origin: the long way adds what browsers want to know
        state = scope["app"].state
        viewer = _viewer(state.authenticator, headers.get("authorization"))
        if viewer is None:
            return False
        boards = cast(Service, state.service).boards
        public = not viewer.sees_all
        standing = boards.ready(contest_id, public=public) or await boards.standing_soon(contest_id, public=public)
        if standing is None:
            return False
        standing = seen_by(viewer, standing)
        page = await page_soon(boards, standing)
        since = None if asked is None else asked[1].decode()
        response = await reply(request, boards.history[page_key(standing)], page, since)
        scope["route"] = ROUTE
        await response(scope, receive, send)
        return True


def _viewer(authenticator: Authenticator, header: str | None) -> Viewer | None:
    """Who asks, if that is known without looking it up."""
    return PUBLIC if header is None else authenticator.remembered(header)
