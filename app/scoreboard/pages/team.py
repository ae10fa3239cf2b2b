"""The page of a team: its place, its points in each problem, and how they grew.

`ShortWay` sends the page of the scoreboard before any routing (guarantee 6: 1,000 open scoreboards).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from types import SimpleNamespace
from typing import Annotated, NamedTuple, cast

from fastapi import Depends, FastAPI, Request, Response
from fastapi.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from app.accounts.service.viewer import PUBLIC, Viewer
from app.contests.queries import NoContest
from app.contests.service.visibility import snapshot_for
from app.core.http.auth import Authenticator
from app.core.pages.frames import frame, names_of
from app.core.pages.pages import page
from app.core.pages.visitor import Reading, TheSnapshot, Visitor, or_refusal
from app.core.pages.wording import points, seconds
from app.core.service import Service
from app.domain.history import Past
from app.scoreboard.pages.board import Asked, board_page
from app.scoreboard.pages.board_rows import BoardRows, Shows
from app.scoreboard.service.pages import BoardPages
from app.scoreboard.service.row_renderer import WrittenHistory, history_steps
from app.tables import OrganizationRow
from app.teams.service.teams import visible_team

STEPS = 50
# Units of the drawing of points over time.
WIDTH, HEIGHT = 600, 120


async def _history(request: Request, snapshot: TheSnapshot) -> WrittenHistory:
    pages = cast(BoardPages, request.app.state.pages)
    return await pages.history_soon(snapshot, history_steps(snapshot, STEPS))


def team_page(
    request: Request,
    viewer: Visitor,
    snapshot: TheSnapshot,
    session: Reading,
    history: Annotated[WrittenHistory, Depends(_history)],
    team_id: str,
) -> HTMLResponse:
    """A team as its row on the board, larger, with its points over time as a drawing and a table."""
    team = visible_team(session, viewer, snapshot.contest.id, team_id)
    arrays = snapshot.main
    names = names_of(session, viewer, snapshot)
    columns, rows = names.columns, BoardRows(arrays, names.columns, names.groups)
    place = rows.place_of(team_id)
    organization = session.get(OrganizationRow, team.organization_id) if team.organization_id else None
    past = history.teams.get(team_id, [])
    most = sum(column.most for column in columns)
    return page(
        "team.html",
        request,
        viewer=viewer,
        frame=frame(session, viewer, snapshot, "scoreboard"),
        name=team.display_name or team.name,
        organization=None if organization is None else organization.name,
        line=None if place is None else rows.line(place),
        columns=columns,
        teams=len(arrays.teams),
        most=most,
        past=[(seconds(each.time), points(each.points), each.rank) for each in past],
        path=_path(past, most, snapshot.contest.clock.duration),
        width=WIDTH,
        height=HEIGHT,
    )


def _path(past: Sequence[Past], most: float, whole: timedelta) -> str:
    """The steps of the points as the path of a drawing: steps, since points stand between two changes."""
    if not most or not whole:
        return ""
    parts, at = [f"M0 {HEIGHT}"], 0.0
    for each in past:
        x = min(1.0, max(0.0, each.time / whole)) * WIDTH
        parts.append(f"H{x:.0f}V{HEIGHT - each.points / most * (HEIGHT - 4):.0f}")
        at = x
    return "".join(parts) if at else ""


BOARD = re.compile(r"/c/([A-Za-z0-9_.-]+)/scoreboard")
# The queries that this way knows, in the order in which the page writes them.
USUAL = re.compile(
    r"(?:cells=(points|raw|place))?(?:(?:^|&)group=([A-Za-z0-9_.-]{1,36}))?(?:(?:^|&)start=([1-9]\d{0,5}))?"
)


class _Asked(NamedTuple):
    """The board that is asked for, by whom, and which part of it."""

    contest_id: str
    viewer: Viewer
    part: Asked


# What the metrics want to know of the route that answered.
ROUTE = SimpleNamespace(path="/c/{contest_id}/scoreboard")
ASKED = "jurado.board_page"


class ShortWay:
    """Around an app: answers for the scoreboard, for readers who are known already."""

    def __init__(self, inner: ASGIApp, app: FastAPI, framed: Callable[[ASGIApp], ASGIApp]) -> None:
        self._inner = inner
        self._app = app
        self._framed = framed(self._answer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] != "http" or scope["method"] != "GET" or _is_of_another_origin(scope):
            await self._inner(scope, receive, send)
        elif (address := BOARD.fullmatch(scope["path"])) and (asked := self._asked(scope, address[1])):
            facts = {ASKED: asked, "app": self._app, "route": ROUTE, "path_params": {"contest_id": asked.contest_id}}
            await self._framed({**scope, **facts}, receive, send)
        else:
            await self._inner(scope, receive, send)

    def _asked(self, scope: Scope, contest_id: str) -> _Asked | None:
        """What is asked for, if it is asked for in the usual manner."""
        query = USUAL.fullmatch(scope["query_string"].decode("latin-1"))
        viewer = None if query is None else self._viewer(scope)
        if query is None or viewer is None:
            return None
        cells, group, start = query.groups()
        part = Asked(cast(Shows, cells or "points"), group, start=int(start or 1))
        return _Asked(contest_id, viewer.at(contest_id), part)

    def _viewer(self, scope: Scope) -> Viewer | None:
        """Who asks; None where that must be looked up."""
        header: bytes | None = dict(scope["headers"]).get(b"authorization")
        if header is None:
            return PUBLIC
        return cast(Authenticator, self._app.state.authenticator).remembered(header.decode("latin-1"))

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


def _is_of_another_origin(scope: Scope) -> bool:
    """Whether a page of another origin asks, which wants to be told more."""
    return any(name == b"origin" for name, _ in scope["headers"])
