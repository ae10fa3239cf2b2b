"""HTTP routes: which problems are in a contest, under which label, and how they are scored there."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.authoring.service.contest_problems import EntryBody, EntryChange, EntryView, add, alter, remove
from app.core.http.deps import CurrentViewer, TheBoards, TheService, Writing
from app.core.http.gated import GatedRoute
from app.core.http.middleware import API
from app.judging.routes.problem_changes import RESPONSES, TheHow, accepted
from app.judging.service.rejudgings.previews import Preview
from app.judging.service.rejudgings.problem_changes import RejudgingView

router = APIRouter(route_class=GatedRoute, tags=["contests"])


@router.post("/contests/{contest_id}/problems", summary="Put a problem into a contest", status_code=201)
def add_contest_problem(
    viewer: CurrentViewer, session: Writing, boards: TheBoards, contest_id: str, body: EntryBody, response: Response
) -> EntryView:
    """The scoring rule may be given, else it is the problem's own."""
    shown = add(session, boards, viewer, contest_id, body)
    response.headers["Location"] = f"{API}/contests/{contest_id}/problems/{body.id}"
    return shown


@router.patch(
    "/contests/{contest_id}/problems/{problem_id}",
    summary="Change a problem's place, rule, limits or version",
    response_model=EntryView,
    responses=RESPONSES,
)
def change_contest_problem(
    viewer: CurrentViewer,
    session: Writing,
    service: TheService,
    contest_id: str,
    problem_id: str,
    body: EntryChange,
    how: TheHow,
) -> EntryView | Response:
    """The place changes at once; a rule or version that would change what anybody has becomes a rejudging (202).

    `version` pins the contest to a version of the problem; null lets it follow the newest. `preview=true` says what a
    rule or version would do (200).
    """
    outcome = alter(service, viewer, session, (contest_id, problem_id), body, how)
    return accepted(outcome) if isinstance(outcome, (RejudgingView, Preview)) else outcome


@router.delete("/contests/{contest_id}/problems/{problem_id}", summary="Take a problem out", status_code=204)
def remove_contest_problem(
    _viewer: CurrentViewer, session: Writing, boards: TheBoards, contest_id: str, problem_id: str
) -> None:
    """Only while nobody has submitted to it here."""
    remove(session, boards, contest_id, problem_id)
