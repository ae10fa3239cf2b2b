"""The board for a hall: what everybody may see, whoever opens it; large, without any tools."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Query, Request
from fastapi.responses import HTMLResponse

from app.accounts.service.viewer import PUBLIC
from app.contests.service.names import NoContest
from app.contests.service.visibility import snapshot_for
from app.core.errors import BadRequest
from app.core.messages import N_
from app.core.pages.frames import frame
from app.core.pages.names import groups_shown, names_of
from app.core.pages.pages import page
from app.core.pages.visitor import Reading, TheService
from app.core.pages.wording import seconds
from app.scoreboard.pages.board_rows import BoardRows
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.service.row_renderer import arrays_of

MOST_ROWS = 500
"""Rows that a hall is shown, page by page: half an hour at 12 seconds a page."""
TOP = 5
"""Rows that stay while the others go by."""
Theme = Literal["light", "dark", "system"]


async def _public(contest_id: str, service: TheService) -> ContestSnapshot:
    """Everybody's snapshot, also where an admin's browser drives the projector."""
    snapshot = await snapshot_for(service.boards, PUBLIC, contest_id)
    if snapshot is None:
        raise NoContest(contest_id)
    return snapshot


PublicSnapshot = Annotated[ContestSnapshot, Depends(_public)]


def projector(
    request: Request,
    snapshot: PublicSnapshot,
    session: Reading,
    theme: Theme = "light",
    group: Annotated[str | None, Query(max_length=36)] = None,
    rows: Annotated[int | None, Query(ge=6, le=60)] = None,
    every: Annotated[int, Query(ge=3, le=120)] = 12,
) -> HTMLResponse:
    """Who leads and how long is left, then page after page of the board, its first rows always there."""
    names = names_of(session, PUBLIC, snapshot)
    groups = groups_shown(PUBLIC, snapshot, names)
    if group is not None and group not in groups:
        raise BadRequest(N_("expected the id of a group of this board, found %(found)r"), where="group", found=group)
    arrays = arrays_of(snapshot, group)
    columns, board = names.columns, BoardRows(arrays, names.columns, groups)
    freeze = snapshot.contest.clock.freeze_time
    return page(
        "organiser/projector.html",
        request,
        viewer=PUBLIC,
        frame=frame(session, PUBLIC, snapshot, "scoreboard"),
        theme=theme,
        rows=rows,
        every=every,
        top=TOP,
        group=None if group is None else groups[group],
        columns=columns,
        lines=[board.line(place) for place in range(min(MOST_ROWS, len(arrays.teams)))],
        teams=len(arrays.teams),
        freeze_at=None if freeze is None else seconds(freeze),
    )
