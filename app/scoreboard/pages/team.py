"""The page of a team: its rank, its points in each problem, and how they grew."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, cast

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from app.core.pages.frames import frame, names_of
from app.core.pages.pages import page
from app.core.pages.visitor import Reading, TheSnapshot, Visitor
from app.core.pages.wording import points, seconds
from app.domain.history import Past
from app.scoreboard.pages.board_rows import BoardRows
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
