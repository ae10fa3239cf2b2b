"""The ceremony: the frozen board opens step by step, forward and back, on this page alone until it opens for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import Query, Request, Response
from fastapi.responses import HTMLResponse

from app.contests.pages.home import DONE, Done
from app.core.errors import BadRequest
from app.core.messages import N_
from app.core.pages.forms import whole_number
from app.core.pages.frames import frame
from app.core.pages.gate import Fields, see
from app.core.pages.names import names_of
from app.core.pages.pages import page
from app.core.pages.visitor import Reading, TheService, Visitor
from app.core.pages.wording import ordinal, points
from app.domain.reveal import Step
from app.scoreboard.pages.board_rows import BoardRows
from app.scoreboard.pages.projector import PublicSnapshot
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.service.rehearsal import Opening, rehearsal
from app.scoreboard.service.reveal import reveal
from app.scoreboard.service.row_renderer import arrays_of

AROUND = 12
"""Rows above and below the team that a step is about."""
MOST_STEPS = 10_000


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a step has shown: the team, the problem, points and places before and after."""

    team: str
    label: str
    cell_before: str
    cell_after: str
    points: str
    place_before: str
    place_after: str
    direction: str
    is_last: bool


def ceremony_page(
    request: Request,
    viewer: Visitor,
    snapshot: PublicSnapshot,
    session: Reading,
    step: Annotated[int, Query(ge=0, le=MOST_STEPS)] = 0,
    done: Done = "",
) -> HTMLResponse:
    """The board after so many steps, around the team that the last one was about."""
    if snapshot.freeze.until is None:
        return page(
            "organiser/ceremony.html",
            request,
            viewer=viewer,
            frame=frame(session, viewer, snapshot, "ceremony"),
            done=DONE.get(done),
            scene=None,
            is_over=snapshot.state.ended is not None,
        )
    scene = rehearsal(snapshot).scene(step)
    arrays = arrays_of(scene.board, None)
    shown = names_of(session, viewer, snapshot)
    columns, board = shown.columns, BoardRows(arrays, shown.columns, shown.groups)
    names = {team.id: team.name for team in snapshot.contest.teams}
    at_team = scene.opening.team_id if scene.opening is not None else scene.next[0] if scene.next is not None else None
    centre = (board.place_of(at_team) or 0) if at_team is not None else 0
    first = max(0, min(centre - AROUND, len(arrays.teams) - 2 * AROUND))
    return page(
        "organiser/ceremony.html",
        request,
        viewer=viewer,
        frame=frame(session, viewer, snapshot, "ceremony"),
        done=DONE.get(done),
        scene=scene,
        is_over=snapshot.state.ended is not None,
        columns=columns,
        lines=[board.line(place) for place in range(first, min(first + 2 * AROUND, len(arrays.teams)))],
        teams=len(arrays.teams),
        opened=None if scene.opening is None else _sentence(scene.opening, names, snapshot),
        opening=scene.opening,
        coming=None if scene.next is None else names.get(scene.next[0], scene.next[0]),
        coming_label=None if scene.next is None else snapshot.contest.labels.get(scene.next[1], scene.next[1]),
        next_team=None if scene.next is None else scene.next[0],
    )


def publish(request: Request, service: TheService, contest_id: str, fields: Fields) -> Response:
    """Open for everybody what has been shown so far, or all of it; the order is the one of the rehearsal."""
    if "all" in fields:
        reveal(service, contest_id, Step.ALL)
        return see(request, f"/admin/contests/{contest_id}/ceremony", done="thawed")
    steps = whole_number("steps", fields.get("steps", ""))
    if steps is None or not 1 <= steps <= MOST_STEPS:
        raise BadRequest(
            N_("expected a number from 1 to %(most)s, found %(found)r"),
            where="steps",
            most=MOST_STEPS,
            found=fields.get("steps", "")[:40],
        )
    for _ in range(steps):
        if not reveal(service, contest_id, Step.CELL).opened:
            break
    return see(request, f"/admin/contests/{contest_id}/ceremony", done="saved")


def _sentence(opening: Opening, names: Mapping[str, str], snapshot: ContestSnapshot) -> Sentence:
    before, after = opening.before.rank, opening.after.rank
    direction = ""
    if before is not None and after is not None and before != after:
        direction = "up" if after < before else "down"
    return Sentence(
        names.get(opening.team_id, opening.team_id),
        snapshot.contest.labels.get(opening.problem_id, opening.problem_id),
        points(opening.before.cell),
        points(opening.after.cell),
        points(opening.after.points),
        "" if before is None else ordinal(before),
        "" if after is None else ordinal(after),
        direction,
        opening.is_last,
    )
