"""A short way to the page that everybody looks at: the scoreboard is sent before any routing.

Finding the route, its dependencies and its arguments costs as much as the page does. Readers who have to be looked up,
the board of an earlier minute and teams that are looked for go the long way, through `app.web.board.scoreboard`; what
is sent is the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, cast

from fastapi import FastAPI, Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.service import Service
from app.services.names import NoContest
from app.services.viewer import PUBLIC, Viewer
from app.services.visibility import snapshot_for
from app.web.board import Asked, board_page
from app.web.board_rows import Shows
from app.web.visitor import or_refusal

BOARD = re.compile(r"/c/([A-Za-z0-9_.-]+)/scoreboard")
USUAL = re.compile(
    r"(?:cells=(points|raw|place))?(?:(?:^|&)group=([A-Za-z0-9_.-]{1,36}))?(?:(?:^|&)start=([1-9]\d{0,5}))?"
)
"""The queries that this way knows, in the order in which the page writes them."""


@dataclass(frozen=True, slots=True)
class _Route:
    """What the metrics want to know of the route that answered."""

    path: str = "/c/{contest_id}/scoreboard"


class _Asked(NamedTuple):
    """The board that is asked for, by whom, and which part of it."""

    contest_id: str
    viewer: Viewer
    part: Asked


ROUTE = _Route()
ASKED = "jurado.board_page"


class ShortWay:
    """Around an app: answers for the scoreboard's page, for readers who are known already."""

    def __init__(self, inner: ASGIApp, app: FastAPI, framed: Callable[[ASGIApp], ASGIApp]) -> None:
        self._inner = inner
        self._app = app
        self._framed = framed(self._answer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        asked = None
        if scope["type"] == "http" and scope["method"] == "GET":
            address = BOARD.fullmatch(scope["path"])
            asked = None if address is None else self._asked(scope, address[1])
        if asked is None:
            await self._inner(scope, receive, send)
        else:
            facts = {ASKED: asked, "app": self._app, "route": ROUTE, "path_params": {"contest_id": asked.contest_id}}
            await self._framed({**scope, **facts}, receive, send)

    def _asked(self, scope: Scope, contest_id: str) -> _Asked | None:
        """What is asked for, if it is asked for in the usual manner."""
        query = USUAL.fullmatch(scope["query_string"].decode("latin-1"))
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if query is None or b"origin" in headers:  # a page of another origin wants to be told more
            return None
        header = headers.get(b"authorization")
        viewer = PUBLIC if header is None else self._app.state.authenticator.remembered(header.decode("latin-1"))
        if viewer is None:
            return None
        cells, group, start = query.groups()
        part = Asked(cast(Shows, cells or "points"), group, start=int(start or 1))
        return _Asked(contest_id, viewer.at(contest_id), part)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked: _Asked = scope[ASKED]
        request = Request(scope, receive)
        reply = await or_refusal(request, self._page(request, asked))
        await reply(scope, receive, send)

    async def _page(self, request: Request, asked: _Asked) -> Response:
        service = cast(Service, self._app.state.service)
        snapshot = await snapshot_for(service.boards, asked.viewer, asked.contest_id)
        if snapshot is None:
            raise NoContest(asked.contest_id)
        return await board_page(request, asked.viewer, snapshot, asked.part)
