"""A short way to the page everybody asks for: the scoreboard is sent before any routing.

Finding the route, its dependencies and its arguments costs five times what sending the bytes does. Those who come while
a changed board is being written wait here too: hundreds of them on the long way would keep the next one from being
written. Other viewers and other options go through `app.scoreboard.service.scoreboard`; what is sent is the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, cast

from starlette.datastructures import State
from starlette.types import ASGIApp, Receive, Scope, Send

from app.accounts.service.viewer import PUBLIC, Viewer
from app.contests.service.visibility import snapshot_for
from app.core.http.auth import Authenticator
from app.core.http.middleware import Frame
from app.core.service import Service
from app.scoreboard.routes.scoreboard import reply
from app.scoreboard.service.pages import WHOLE, BoardPages, Options
from app.scoreboard.service.scoreboard import Wanted, unknown_contest

BOARD = re.compile(r"/api/contests/([A-Za-z0-9_.-]+)/scoreboard")
# The queries that this way knows.
USUAL = re.compile(rb"(form=compact)?(?:(?:^|&)since=([0-9a-f]{1,40}))?")


@dataclass(frozen=True, slots=True)
class _Route:
    """What the metrics want to know of the route that answered."""

    path: str = "/contests/{contest_id}/scoreboard"


class _Asked(NamedTuple):
    """Which board is asked for, by whom, and how it is wanted."""

    contest_id: str
    viewer: Viewer
    wanted: Wanted
    options: Options


ROUTE = _Route()
COMPACT = Options(compact=True)
ASKED = "jurado.board"


class Express:
    """Around all the rest of the app: answers for the scoreboard's route, for viewers who are known already."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app = app
        self._state = state
        self._framed = Frame(self._answer, state.metrics)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        asked = None
        if scope["type"] == "http" and scope["method"] == "GET":
            address = BOARD.fullmatch(scope["path"])
            asked = None if address is None else self._asked(scope, address[1])
        if asked is None:
            await self.app(scope, receive, send)
        else:
            scope[ASKED], scope["route"] = asked, ROUTE
            await self._framed(scope, receive, send)

    def _asked(self, scope: Scope, contest_id: str) -> _Asked | None:
        """What is asked for, if it is asked for in the usual manner."""
        query = USUAL.fullmatch(scope["query_string"])
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if query is None or b"origin" in headers:  # a page of another origin wants to be told more
            return None
        viewer = _viewer(self._state.authenticator, headers.get(b"authorization"))
        if viewer is None:
            return None
        wanted = Wanted.of(
            headers.get(b"if-none-match", b""),
            headers.get(b"accept-encoding", b""),
            None if query[2] is None else query[2].decode(),
        )
        return _Asked(contest_id, viewer.at(contest_id), wanted, COMPACT if query[1] else WHOLE)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked: _Asked = scope[ASKED]
        service = cast(Service, self._state.service)
        pages = cast(BoardPages, self._state.pages)
        snapshot = await snapshot_for(service.boards, asked.viewer, asked.contest_id)
        if snapshot is None:
            raise await unknown_contest(service, asked.contest_id)
        page = await pages.page_soon(snapshot, asked.options)
        response = await reply(asked.wanted, pages, page)
        await response(scope, receive, send)


def _viewer(authenticator: Authenticator, header: bytes | None) -> Viewer | None:
    """Who asks, if that is known without looking it up."""
    return PUBLIC if header is None else authenticator.remembered(header.decode("latin-1"))
