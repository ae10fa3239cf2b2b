"""HTTP routes: a team's part in a contest: whose clock it goes by, and whether it is disqualified."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from app.api.http.deps import AdminOnly, Reading, TeamOnly, TheBoards, TheService, Writing
from app.api.http.gated import GatedRoute
from app.domain.clock import utc_now
from app.domain.participation import ParticipationKind
from app.services.bodies import same_id
from app.services.contests.changes import refuse_final
from app.services.contests.contests import contest_of
from app.services.contests.participation import (
    Disqualification,
    ParticipationBody,
    ParticipationView,
    may_begin,
    taking_part,
    view,
)
from app.services.errors import Conflict, NotFound
from app.services.people.teams import TeamView, document
from app.services.transactions import after_commit
from app.storage import participations, teams
from app.storage.participations import Beginning
from app.storage.tables import ContestTeamRow

router = APIRouter(route_class=GatedRoute, tags=["contests"])


@router.get("/contests/{contest_id}/participation", summary="The clock of one's own team")
def get_participation(viewer: TeamOnly, session: Reading, contest_id: str) -> ParticipationView:
    """The contest's, unless the team has one of its own."""
    row = contest_of(session, contest_id)
    team_id = taking_part(session, row, viewer.team_id)
    return view(row, team_id, participations.participation(session, contest_id, team_id))


@router.post("/contests/{contest_id}/participation", summary="Start one's own clock", status_code=201)
def begin_participation(
    viewer: TeamOnly, service: TheService, contest_id: str, body: ParticipationBody, response: Response
) -> ParticipationView:
    """Once: asked again, it tells of the clock that runs already. Nothing can stop it."""
    now = utc_now()
    kind = ParticipationKind(body.kind)
    with service.database.read() as session:
        row = contest_of(session, contest_id)
        team_id = taking_part(session, row, viewer.team_id)
        there = participations.participation(session, contest_id, team_id)
        if there is None:
            may_begin(session, row, team_id, kind, now)
    if there is not None and there.kind is not kind:
        raise Conflict(f"your team's {there.kind} clock runs already")
    new = (
        there is None
        and service.writer.submit(participations.begin, Beginning(contest_id, team_id, kind, now)).result()
    )
    service.boards.changed(contest_id)
    response.status_code = 201 if new else 200
    with service.database.read() as session:
        return view(row, team_id, participations.participation(session, contest_id, team_id))


@router.patch(
    "/contests/{contest_id}/teams/{team_id}",
    summary="Disqualify a team, or take that back",
    response_model=TeamView,
    response_model_exclude_unset=True,
)
def disqualify_team(
    viewer: AdminOnly, session: Writing, boards: TheBoards, contest_id: str, team_id: str, body: Disqualification
) -> Any:
    """Its submissions stay, and are judged; boards and BEST are at once as if it had sent none."""
    row = contest_of(session, contest_id)
    same_id(team_id, body.id)
    team = teams.get(session, team_id)
    if team is None or not teams.takes_part(session, row, team_id):
        raise NotFound(f"no team {team_id!r} in contest {contest_id!r}")
    refuse_final(row)
    place = session.get(ContestTeamRow, (contest_id, team_id)) or ContestTeamRow(contest_id=contest_id, team_id=team_id)
    place.disqualified = body.disqualified
    session.add(place)
    after_commit(session, lambda: boards.changed(contest_id))
    return document(viewer, team, contest_id, {team_id} if place.disqualified else ())
