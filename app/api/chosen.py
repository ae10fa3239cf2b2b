"""The submission a team wants to be judged by after the end, in place of its last or best one."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.api.auth import Viewer
from app.api.bodies import Body, Line
from app.api.clics import format_time_or_none
from app.api.deps import Reading, TeamOnly, TheService
from app.api.errors import BadRequest, Conflict, Forbidden
from app.api.gated import GatedRoute
from app.api.standings import TheStanding, is_official, is_own, the_problem
from app.domain.clock import utc_now
from app.grading.boards import Standing
from app.service import Service
from app.storage import judged, participations
from app.storage.participations import Choosing

router = APIRouter(route_class=GatedRoute, tags=["submissions"])
PLACE = "/contests/{contest_id}/problems/{problem_id}/chosen"


class ChosenBody(Body):
    """Which submission shall count."""

    submission_id: Line


class Chosen(BaseModel):
    """The submission a team has chosen at a problem; null: the one the contest's rule takes."""

    problem_id: str
    submission_id: str | None
    time: str | None


@router.get(PLACE, summary="The submission one's own team has chosen")
def get_chosen_submission(problem_id: str, viewer: TeamOnly, standing: TheStanding, session: Reading) -> Chosen:
    """Null while it has chosen none."""
    the_problem(standing, problem_id)
    return _view(session, viewer, standing, problem_id)


@router.put(PLACE, summary="Choose the submission that shall count after the end")
def choose_submission(
    problem_id: str, viewer: TeamOnly, standing: TheStanding, service: TheService, body: ChosenBody
) -> Chosen:
    """Until the end, as often as one likes. The board follows the contest's rule until then."""
    the_problem(standing, problem_id)
    _may_choose(viewer, standing)
    with service.database.read() as session:
        row = judged.submission(session, standing.contest.id, body.submission_id)
    if row is None or not is_own(viewer, row) or row.problem_id != problem_id or not is_official(standing, row):
        expected = f"a submission of your team to problem {problem_id!r}"
        raise BadRequest(f"submission_id: expected {expected}, found {body.submission_id!r}")
    return _write(service, viewer, standing, problem_id, row.id)


@router.delete(PLACE, summary="Choose none")
def clear_chosen_submission(problem_id: str, viewer: TeamOnly, standing: TheStanding, service: TheService) -> Chosen:
    """The contest's rule says then what counts."""
    the_problem(standing, problem_id)
    _may_choose(viewer, standing)
    return _write(service, viewer, standing, problem_id, None)


def _may_choose(viewer: Viewer, standing: Standing) -> None:
    contest = standing.contest
    if not any(team.id == viewer.team_id for team in contest.teams):
        raise Forbidden(f"your team does not take part in contest {contest.id}")
    if not contest.settings.get("choose"):
        raise Conflict("teams do not choose submissions in this contest")
    if contest.own_clock(viewer.team_id).ended(utc_now()) or contest.clock.ended(utc_now()):
        raise Forbidden("the contest is over: what was chosen stays")


def _write(service: Service, viewer: Viewer, standing: Standing, problem_id: str, submission_id: int | None) -> Chosen:
    assert viewer.team_id is not None, "see TeamOnly"
    choosing = Choosing(standing.contest.id, viewer.team_id, problem_id, submission_id, utc_now())
    service.writer.submit(participations.choose, choosing).result()
    service.boards.changed(standing.contest.id)
    with service.database.read() as session:
        return _view(session, viewer, standing, problem_id)


def _view(session: Session, viewer: Viewer, standing: Standing, problem_id: str) -> Chosen:
    row = participations.choice(session, standing.contest.id, viewer.team_id or "", problem_id)
    shown = {} if row is None else judged.shown_ids(session, {row.submission_id})
    return Chosen(
        problem_id=problem_id,
        submission_id=None if row is None else shown[row.submission_id],
        time=format_time_or_none(None if row is None else row.time),
    )
