"""The inputs of final cases, where each team asks for them and has so many minutes from then on."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter, Response
from pydantic import BaseModel

from app.api.auth import Viewer
from app.api.clics import format_time, format_time_or_none
from app.api.contest_changes import why_not_running
from app.api.deps import Reading, TeamOnly, TheService
from app.api.errors import Conflict, Forbidden
from app.api.gated import GatedRoute
from app.api.standings import TheStanding, the_problem
from app.domain.clock import utc_now
from app.domain.contests import ScoredProblem
from app.grading.boards import Standing
from app.storage import participations
from app.storage.participations import InputRequest

router = APIRouter(route_class=GatedRoute, tags=["test cases"])


class FinalInputs(BaseModel):
    """When a team asked for the final inputs of a problem, until when it may answer, and where they are."""

    problem_id: str
    time: str | None
    deadline: str | None
    open: bool
    href: str | None


@router.get("/contests/{contest_id}/problems/{problem_id}/inputs", summary="Until when final answers are taken")
def get_final_inputs(problem_id: str, viewer: TeamOnly, standing: TheStanding, session: Reading) -> FinalInputs:
    """Of one's own team; nothing before it has asked for them."""
    the_problem(standing, problem_id)
    asked = participations.asked(session, standing.contest.id, viewer.team_id or "", problem_id)
    return view(standing, problem_id, asked)


@router.post("/contests/{contest_id}/problems/{problem_id}/inputs", summary="Ask for the final inputs", status_code=201)
def ask_for_final_inputs(
    problem_id: str, viewer: TeamOnly, standing: TheStanding, service: TheService, response: Response
) -> FinalInputs:
    """Starts the team's timer, once: asked again, it tells of the one that runs."""
    problem = the_problem(standing, problem_id)
    now = utc_now()
    request = InputRequest(standing.contest.id, _team(viewer, standing), problem_id, now)
    with service.database.read() as session:
        asked = participations.asked(session, request.contest_id, request.team_id, problem_id)
    if asked is None:
        _may_ask(service, standing, problem, request)
        new = service.writer.submit(participations.ask, request).result()
        response.status_code = 201 if new else 200
        with service.database.read() as session:
            asked = participations.asked(session, request.contest_id, request.team_id, problem_id)
    else:
        response.status_code = 200
    return view(standing, problem_id, asked)


def view(standing: Standing, problem_id: str, asked: datetime | None) -> FinalInputs:
    """Show a team's timer."""
    now = utc_now()
    contest = standing.contest
    deadline = contest.finals.deadline(contest.clock, asked)
    shown = contest.finals.shown(contest.clock, now, asked)
    return FinalInputs(
        problem_id=problem_id,
        time=None if asked is None else format_time(asked),
        deadline=format_time_or_none(deadline),
        open=contest.clock.running(now) and contest.finals.taken(contest.clock, now, asked),
        href=f"contests/{contest.id}/problems/{problem_id}/inputs.zip" if shown else None,
    )


def _team(viewer: Viewer, standing: Standing) -> str:
    if viewer.team_id is None or not any(team.id == viewer.team_id for team in standing.contest.teams):
        raise Forbidden(f"your team does not take part in contest {standing.contest.id}")
    return viewer.team_id


def _may_ask(service: TheService, standing: Standing, problem: ScoredProblem, request: InputRequest) -> None:
    """Raise Conflict where there is nothing to ask for now."""
    contest = standing.contest
    if contest.finals.window is None:
        raise Conflict("teams cannot ask for final inputs in this contest")
    if not contest.clock.running(request.time):
        raise Conflict(f"final inputs are not given out: {why_not_running(contest.clock, request.time)}")
    judges = service.boards.standing(contest.id, public=False)
    whole = None if judges is None else judges.contest.problem(problem.id)
    if whole is None or not whole.final_cases:
        raise Conflict(f"problem {problem.id!r} has no final inputs")
