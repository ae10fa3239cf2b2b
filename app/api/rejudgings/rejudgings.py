"""HTTP routes: rejudgings, opened, previewed, applied and undone."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from sqlalchemy.orm import Session

from app.api.http.deps import AdminOnly, JudgeOrAdmin, Reading, TheService, Writing
from app.api.http.gated import GatedRoute
from app.api.http.middleware import API
from app.domain.clock import utc_now
from app.grading.absorbing import absorbed
from app.grading.rejudging import difference
from app.services.contests.contests import contest_of
from app.services.errors import Conflict
from app.services.names import called
from app.services.rejudgings import difference as rejudging_difference
from app.services.rejudgings.problem_changes import RejudgingView, refusals, shown, view
from app.services.rejudgings.rejudgings import (
    ApplyBody,
    RejudgingBody,
    came_after_rejudging,
    do,
    rejudging_of,
    selection_of,
    with_rule,
)
from app.services.transactions import after_commit
from app.storage import contests, rejudging_steps, rejudgings, submission_queries
from app.storage.tables import RejudgingRow

router = APIRouter(route_class=GatedRoute, tags=["rejudgings"])
PLACE = "/contests/{contest_id}/rejudgings/{rejudging_id}"


@router.post("/contests/{contest_id}/rejudgings", status_code=201, summary="Judge submissions again")
def create_rejudging(
    viewer: AdminOnly, session: Writing, service: TheService, contest_id: str, body: RejudgingBody, response: Response
) -> RejudgingView:
    """Silently and in the background: nothing changes for anybody until it is applied."""
    contest_of(session, contest_id)
    if body.problem is not None:
        labels = {entry.problem_id: entry.label for entry in contests.entries(session, contest_id)}
        body.problem = called(body.problem, labels) or body.problem
    if body.changes is not None:
        made = with_rule(session, contest_id, body, body.changes.rule, viewer.account_id)
    else:
        selection = selection_of(session, contest_id, body)
        with refusals():
            row = rejudging_steps.begin(session, contest_id, selection, body.reason, viewer.account_id)
        made = shown(session, row)
    after_commit(session, service.engine.take_up)
    response.headers["Location"] = f"{API}/{made.href}"
    return made


@router.get("/contests/{contest_id}/rejudgings", summary="All rejudgings")
def list_rejudgings(_viewer: JudgeOrAdmin, session: Reading, contest_id: str) -> list[RejudgingView]:
    """Those that concern the contest, oldest first, also those that are applied, undone or cancelled."""
    contest_of(session, contest_id)
    rows = rejudgings.rejudgings(session, contest_id)
    progress = rejudgings.progress(session, [row.id for row in rows])
    return [view(session, row, progress.get(row.id)) for row in rows]


@router.get(PLACE, summary="One rejudging")
def get_rejudging(_viewer: JudgeOrAdmin, session: Reading, contest_id: str, rejudging_id: str) -> RejudgingView:
    """Its state, and how many of its judgements are done."""
    return shown(session, rejudging_of(session, contest_id, rejudging_id))


@router.get(f"{PLACE}/difference", summary="What a rejudging changes")
def get_rejudging_difference(
    _viewer: JudgeOrAdmin,
    session: Reading,
    contest_id: str,
    rejudging_id: str,
    everything: Annotated[bool, Query(alias="all", description="also what stays as it is")] = False,
    since: Annotated[str | None, Query(description="a version: newcomers are those that came after it")] = None,
) -> rejudging_difference.DifferenceView:
    """In this contest: per case verdict and raw score, per submission type and points, per team points and rank.

    Before and after applying it; of one that is applied, before and after that. What is not judged yet is as it was.
    """
    row = rejudging_of(session, contest_id, rejudging_id)
    found = difference(session, row, contest_id, utc_now())
    assert found is not None, "the contest is there"
    known = {each.id: each for each in submission_queries.submissions(session, contest_id)}
    came_after = came_after_rejudging(row, since)
    return rejudging_difference.view(shown(session, row), found, known, everything=everything, came_after=came_after)


def _refuse_another(session: Session, row: RejudgingRow, contest_id: str, version: str) -> None:
    """The difference is still this version of it; raises Conflict that says what came since."""
    found = difference(session, row, contest_id, utc_now())
    assert found is not None, "the contest is there"
    now = rejudging_difference.version(found)
    if now == version:
        return
    last = rejudging_difference.last_submission(version) or 0
    came = [each for each in submission_queries.submissions(session, contest_id, found.judgements) if each.id > last]
    what = (
        f"{len(came)} submissions came since" if came else "no submission came since, but judgements or teams changed"
    )
    where = f"{API}/contests/{contest_id}/rejudgings/{row.id}/difference?since={version}"
    raise Conflict(
        f"version: the difference is no longer {version} but {now}: {what}; look at it again: {where}",
        errors=[{"where": f"submission {each.shown_id}", "message": "came since"} for each in came],
    )


@router.post(f"{PLACE}/apply", summary="Apply a rejudging")
def apply_rejudging(
    _viewer: AdminOnly, service: TheService, contest_id: str, rejudging_id: str, body: ApplyBody | None = None
) -> RejudgingView:
    """All of it in one transaction, with what was submitted meanwhile: the last few submissions to a changed problem
    are judged in this step, while others to it wait. 409 with Retry-After while more is to be judged; one that was
    undone may be applied once more.
    """

    def deed(session: Session, row: RejudgingRow) -> None:
        if body is not None and body.version is not None:
            _refuse_another(session, row, contest_id, body.version)
        rejudging_steps.apply(session, row, errors_too=body is not None and body.judge_errors)

    with service.database.read() as session:
        number = rejudging_of(session, contest_id, rejudging_id).id
    with refusals(), absorbed(service.database, service.engine, service.gate, number):
        return do(service, contest_id, rejudging_id, deed)


@router.post(f"{PLACE}/cancel", summary="Give a rejudging up")
def cancel_rejudging(_viewer: AdminOnly, service: TheService, contest_id: str, rejudging_id: str) -> RejudgingView:
    """Nothing of it is seen anywhere; what is not judged yet will not be."""
    made = do(service, contest_id, rejudging_id, rejudging_steps.cancel, silent=True)
    service.engine.take_up()
    return made


@router.post(f"{PLACE}/undo", summary="Undo a rejudging")
def undo_rejudging(_viewer: AdminOnly, service: TheService, contest_id: str, rejudging_id: str) -> RejudgingView:
    """Everything is as it was before it was applied; what was submitted since to a changed problem is judged again."""
    again: list[int] = []
    made = do(service, contest_id, rejudging_id, lambda session, row: again.extend(rejudging_steps.undo(session, row)))
    for judgement_id in again:
        service.engine.wake(judgement_id)
    return made
