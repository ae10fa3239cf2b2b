"""HTTP routes: the submission a team wants to be judged by after the end, in place of its last or best one."""

from __future__ import annotations

from fastapi import APIRouter

from app.api.http.deps import Reading, TeamOnly, TheService
from app.api.http.gated import GatedRoute
from app.api.http.snapshot import TheSnapshot
from app.services.errors import BadRequest
from app.services.submissions.chosen import Chosen, ChosenBody, may_choose, view, write
from app.services.visibility import is_official, is_own, the_problem
from app.storage import submission_queries

router = APIRouter(route_class=GatedRoute, tags=["submissions"])
PLACE = "/contests/{contest_id}/problems/{problem_id}/chosen"


@router.get(PLACE, summary="The submission one's own team has chosen")
def get_chosen_submission(problem_id: str, viewer: TeamOnly, snapshot: TheSnapshot, session: Reading) -> Chosen:
    """Null while it has chosen none."""
    the_problem(snapshot, problem_id)
    return view(session, viewer, snapshot, problem_id)


@router.put(PLACE, summary="Choose the submission that shall count after the end")
def choose_submission(
    problem_id: str, viewer: TeamOnly, snapshot: TheSnapshot, service: TheService, body: ChosenBody
) -> Chosen:
    """Until the end, as often as one likes. The board follows the contest's rule until then."""
    the_problem(snapshot, problem_id)
    may_choose(viewer, snapshot)
    with service.database.read() as session:
        row = submission_queries.submission(session, snapshot.contest.id, body.submission_id)
    if row is None or not is_own(viewer, row) or row.problem_id != problem_id or not is_official(snapshot, row):
        expected = f"a submission of your team to problem {problem_id!r}"
        raise BadRequest(f"submission_id: expected {expected}, found {body.submission_id!r}")
    return write(service, viewer, snapshot, problem_id, row.id)


@router.delete(PLACE, summary="Choose none")
def clear_chosen_submission(problem_id: str, viewer: TeamOnly, snapshot: TheSnapshot, service: TheService) -> Chosen:
    """The contest's rule says then what counts."""
    the_problem(snapshot, problem_id)
    may_choose(viewer, snapshot)
    return write(service, viewer, snapshot, problem_id, None)
