"""HTTP routes: a team's part in a contest: whose clock it goes by, and whether it is disqualified."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.contests.service.participation import (
    Disqualification,
    ParticipationBody,
    ParticipationView,
    begin,
    disqualify,
    participation,
)
from app.core.clics import JsonObject
from app.core.http.deps import CurrentViewer, Reading, TheBoards, TheService, Writing
from app.core.http.gated import GatedRoute
from app.teams.service.teams import TeamView

router = APIRouter(route_class=GatedRoute, tags=["contests"])


@router.get("/contests/{contest_id}/participation", summary="The clock of one's own team")
def get_participation(viewer: CurrentViewer, session: Reading, contest_id: str) -> ParticipationView:
    """The contest's, unless the team has one of its own."""
    return participation(session, viewer, contest_id)


@router.post("/contests/{contest_id}/participation", summary="Start one's own clock", status_code=201)
def begin_participation(
    viewer: CurrentViewer, service: TheService, contest_id: str, body: ParticipationBody, response: Response
) -> ParticipationView:
    """Once: asked again, it tells of the clock that runs already. Nothing can stop it."""
    begun = begin(service, viewer, contest_id, body)
    response.status_code = 201 if begun.is_new else 200
    return begun.participation


@router.patch(
    "/contests/{contest_id}/teams/{team_id}",
    summary="Disqualify a team, or take that back",
    response_model=TeamView,
    response_model_exclude_unset=True,
)
def disqualify_team(
    viewer: CurrentViewer, session: Writing, boards: TheBoards, contest_id: str, team_id: str, body: Disqualification
) -> JsonObject:
    """Its submissions stay, and are judged; boards and BEST are at once as if it had sent none."""
    return disqualify(session, boards, viewer, contest_id, team_id, body)
