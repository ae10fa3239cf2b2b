"""HTTP routes: the inputs of final cases, where each team asks for them and has so many minutes from then on."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.core.http.deps import CurrentViewer, Reading, TheService
from app.core.http.gated import GatedRoute
from app.core.http.snapshot import TheSnapshot
from app.submissions.service.final_inputs import FinalInputs, ask, final_inputs

router = APIRouter(route_class=GatedRoute, tags=["test cases"])


@router.get("/contests/{contest_id}/problems/{problem_id}/inputs", summary="Until when final answers are taken")
def get_final_inputs(problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading) -> FinalInputs:
    """Of one's own team; nothing before it has asked for them."""
    return final_inputs(viewer, snapshot, session, problem_id)


@router.post("/contests/{contest_id}/problems/{problem_id}/inputs", summary="Ask for the final inputs", status_code=201)
def ask_for_final_inputs(
    problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, service: TheService, response: Response
) -> FinalInputs:
    """Starts the team's timer, once: asked again, it tells of the one that runs."""
    started = ask(service, viewer, snapshot, problem_id)
    response.status_code = 201 if started.is_new else 200
    return started.inputs
