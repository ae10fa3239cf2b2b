"""HTTP routes: the inputs of final cases, where each team asks for them and has so many minutes from then on."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.api.http.deps import Reading, TeamOnly, TheService
from app.api.http.gated import GatedRoute
from app.api.http.snapshot import TheSnapshot
from app.domain.clock import utc_now
from app.domain.contests import ScoredProblem
from app.grading.scoreboard_cache import ContestSnapshot
from app.services.contests.changes import why_not_running
from app.services.errors import Conflict
from app.services.submissions.final_inputs import FinalInputs, asking_team, view
from app.services.visibility import the_problem
from app.storage import participations
from app.storage.participations import InputRequest

router = APIRouter(route_class=GatedRoute, tags=["test cases"])


@router.get("/contests/{contest_id}/problems/{problem_id}/inputs", summary="Until when final answers are taken")
def get_final_inputs(problem_id: str, viewer: TeamOnly, snapshot: TheSnapshot, session: Reading) -> FinalInputs:
    """Of one's own team; nothing before it has asked for them."""
    the_problem(snapshot, problem_id)
    asked = participations.asked(session, snapshot.contest.id, viewer.team_id or "", problem_id)
    return view(snapshot, problem_id, asked)


@router.post("/contests/{contest_id}/problems/{problem_id}/inputs", summary="Ask for the final inputs", status_code=201)
def ask_for_final_inputs(
    problem_id: str, viewer: TeamOnly, snapshot: TheSnapshot, service: TheService, response: Response
) -> FinalInputs:
    """Starts the team's timer, once: asked again, it tells of the one that runs."""
    problem = the_problem(snapshot, problem_id)
    now = utc_now()
    request = InputRequest(snapshot.contest.id, asking_team(viewer, snapshot), problem_id, now)
    with service.database.read() as session:
        asked = participations.asked(session, request.contest_id, request.team_id, problem_id)
    if asked is None:
        _may_ask(service, snapshot, problem, request)
        new = service.writer.submit(participations.ask, request).result()
        response.status_code = 201 if new else 200
        with service.database.read() as session:
            asked = participations.asked(session, request.contest_id, request.team_id, problem_id)
    else:
        response.status_code = 200
    return view(snapshot, problem_id, asked)


def _may_ask(service: TheService, snapshot: ContestSnapshot, problem: ScoredProblem, request: InputRequest) -> None:
    """Raise Conflict where there is nothing to ask for now."""
    contest = snapshot.contest
    if contest.finals.window is None:
        raise Conflict("teams cannot ask for final inputs in this contest")
    if not contest.clock.running(request.time):
        raise Conflict(f"final inputs are not given out: {why_not_running(contest.clock, request.time)}")
    judges = service.boards.snapshot(contest.id, public=False)
    whole = None if judges is None else judges.contest.problem(problem.id)
    if whole is None or not whole.final_cases:
        raise Conflict(f"problem {problem.id!r} has no final inputs")
