"""A team's part in a contest: whose clock it goes by, and whether it is disqualified."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.api.bodies import Body, same_id
from app.api.clics import Id, format_reltime, format_time_or_none
from app.api.contest_changes import refuse_final, why_not_running
from app.api.contests import contest_of
from app.api.deps import AdminOnly, Reading, TeamOnly, TheBoards, TheService, Writing, after_commit
from app.api.errors import Conflict, Forbidden, NotFound
from app.api.gated import GatedRoute
from app.api.teams import TeamView, document
from app.domain.clock import utc_now
from app.domain.participation import Participation, ParticipationKind, own_clock
from app.storage import contests, participations, teams
from app.storage.participations import Beginning
from app.storage.scored import clock, personal_duration
from app.storage.tables import ContestRow, ContestTeamRow

router = APIRouter(route_class=GatedRoute, tags=["contests"])


class ParticipationBody(Body):
    """Which clock of its own a team starts."""

    kind: Literal["virtual", "personal"]


class ParticipationView(BaseModel):
    """By which clock a team takes part, and where that clock is: null where it has no start, or no end as yet."""

    team_id: str
    kind: ParticipationKind
    start_time: str | None
    end_time: str | None
    contest_time: str
    running: bool


class Disqualification(Body):
    """What a contest says of one team."""

    id: Id | None = None
    disqualified: bool


@router.get("/contests/{contest_id}/participation", summary="The clock of one's own team")
def get_participation(viewer: TeamOnly, session: Reading, contest_id: str) -> ParticipationView:
    """The contest's, unless the team has one of its own."""
    row = contest_of(session, contest_id)
    team_id = _taking_part(session, row, viewer.team_id)
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
        team_id = _taking_part(session, row, viewer.team_id)
        there = participations.participation(session, contest_id, team_id)
        if there is None:
            _may_begin(session, row, team_id, kind, now)
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


def view(row: ContestRow, team_id: str, found: Participation | None) -> ParticipationView:
    """Show a team's clock."""
    now = utc_now()
    times = own_clock(clock(row), personal_duration(row.settings), found)
    return ParticipationView(
        team_id=team_id,
        kind=ParticipationKind.OFFICIAL if found is None else found.kind,
        start_time=format_time_or_none(times.start),
        end_time=format_time_or_none(times.end),
        contest_time=format_reltime(times.contest_time(now)),
        running=times.running(now),
    )


def _taking_part(session: Session, row: ContestRow, team_id: str | None) -> str:
    if team_id is None or not teams.takes_part(session, row, team_id):
        raise Forbidden(f"your team does not take part in contest {row.id}")
    return team_id


def _may_begin(session: Session, row: ContestRow, team_id: str, kind: ParticipationKind, now: datetime) -> None:
    """Raise Conflict where such a clock cannot be started now."""
    times = clock(row)
    if kind is ParticipationKind.PERSONAL:
        if personal_duration(row.settings) is None:
            raise Conflict("the contest has one clock for all teams")
        if not times.running(now):
            raise Conflict(f"your team's own clock cannot start: {why_not_running(times, now)}")
        return
    if not row.settings.get("virtual"):
        raise Conflict("the contest takes no virtual teams")
    if not times.decided(now):
        raise Conflict("virtual teams may start once the contest has ended and its results are seen")
    if count := contests.submission_count(session, row.id, team_id=team_id):
        raise Conflict(f"your team has {count} submissions in this contest already")
