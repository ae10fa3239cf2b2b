"""HTTP routes: the submission a team wants to be judged by after the end, in place of its last or best one."""

from __future__ import annotations

from fastapi import APIRouter

from app.core.http.deps import CurrentViewer, Reading, TheService
from app.core.http.gated import GatedRoute
from app.core.http.snapshot import TheSnapshot
from app.submissions.service.chosen import Chosen, ChosenBody, choose, chosen

router = APIRouter(route_class=GatedRoute, tags=["submissions"])
PLACE = "/contests/{contest_id}/problems/{problem_id}/chosen"


@router.get(PLACE, summary="The submission one's own team has chosen")
def get_chosen_submission(problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading) -> Chosen:
    """Null while it has chosen none."""
    return chosen(viewer, snapshot, session, problem_id)


@router.put(PLACE, summary="Choose the submission that shall count after the end")
def choose_submission(
    problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, service: TheService, body: ChosenBody
) -> Chosen:
    """Until the end, as often as one likes. The board follows the contest's rule until then."""
    return choose(service, viewer, snapshot, problem_id, body)


@router.delete(PLACE, summary="Choose none")
def clear_chosen_submission(
    problem_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, service: TheService
) -> Chosen:
    """The contest's rule says then what counts."""
    return choose(service, viewer, snapshot, problem_id, None)
