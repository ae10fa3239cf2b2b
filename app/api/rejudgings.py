"""Rejudgings: submissions judged again, silently, with a look at what it would change before it is applied or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.api import rejudging_difference
from app.api.bodies import Body, Line
from app.api.changes import RejudgingView, change, refusals, shown, view
from app.api.contest_problems import Rule, checked_rule, entry_of
from app.api.contests import contest_of
from app.api.deps import AdminOnly, JudgeOrAdmin, Reading, TheService, Writing, after_commit
from app.api.errors import BadRequest, Conflict, NotFound
from app.api.gated import GatedRoute
from app.api.middleware import API
from app.api.named import called
from app.domain.clock import utc_now
from app.grading.absorbing import absorbed
from app.grading.rejudging import difference
from app.service import Service
from app.storage import contests, judged, rejudging_steps, rejudgings, teams
from app.storage.ids import as_id
from app.storage.rejudging_steps import Selection
from app.storage.tables import RejudgingRow, SubmissionRow

router = APIRouter(route_class=GatedRoute, tags=["rejudgings"])
PLACE = "/contests/{contest_id}/rejudgings/{rejudging_id}"
MOST_NAMED = 10_000


class ChangesBody(Body):
    """What is to become different for the whole problem with the rejudging: how this contest scores it."""

    rule: Rule


class RejudgingBody(Body):
    """Which submissions to judge again, and why: all that are as each of `problem`, `team` and `submissions` says."""

    reason: Line
    problem: Line | None = None
    team: Line | None = None
    submissions: list[Line] | None = Field(None, min_length=1, max_length=MOST_NAMED)
    changes: ChangesBody | None = None


class ApplyBody(Body):
    """`judge_errors`: also where the judge failed on submissions that had a verdict.

    `version`: only if the difference in this contest still is that version of it.
    """

    judge_errors: bool = False
    version: str | None = Field(None, pattern=rejudging_difference.VERSION.pattern)


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
        made = _with_rule(session, contest_id, body, body.changes.rule, viewer.account_id)
    else:
        selection = _selection(session, contest_id, body)
        with refusals():
            row = rejudging_steps.begin(session, contest_id, selection, body.reason, viewer.account_id)
        made = shown(session, row)
    after_commit(session, service.engine.take_up)
    response.headers["Location"] = f"{API}/{made.href}"
    return made


def _with_rule(
    session: Session, contest_id: str, body: RejudgingBody, rule: Rule, account_id: str | None
) -> RejudgingView:
    if body.problem is None or body.team is not None or body.submissions is not None:
        raise BadRequest("changes: expected a problem beside them and nothing else selected, for a rule is everybody's")
    row = entry_of(session, contest_id, body.problem)
    wanted = checked_rule(session, row, rule)

    def write() -> None:
        row.rule = wanted

    made = change(session, body.problem, write, body.reason, account_id, contest_id=contest_id)
    if made is None:
        raise BadRequest("changes.rule: expected another rule, in a problem with submissions; found no difference")
    return made


def _selection(session: Session, contest_id: str, body: RejudgingBody) -> Selection:
    """What is selected; raises BadRequest that says what of it there is not."""
    if body.problem is not None and contests.entry(session, contest_id, body.problem) is None:
        raise BadRequest(f"problem: expected a problem of contest {contest_id}, found {body.problem!r}")
    if body.team is not None and teams.get(session, body.team) is None:
        raise BadRequest(f"team: expected a team, found {body.team!r}")
    if body.submissions is None:
        return Selection(body.problem, body.team)
    found = {each: judged.submission(session, contest_id, each) for each in body.submissions}
    if unknown := [each for each, row in found.items() if row is None]:
        raise BadRequest(f"submissions: expected submissions of contest {contest_id}, found {', '.join(unknown[:20])}")
    ids = {row.id: each for each, row in found.items() if row is not None}
    return Selection(body.problem, body.team, ids)


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


def rejudging_of(session: Session, contest_id: str, rejudging_id: str) -> RejudgingRow:
    """The rejudging of the path; raises NotFound."""
    contest_of(session, contest_id)
    row = rejudgings.get(session, contest_id, as_id(rejudging_id) or 0)
    if row is None:
        raise NotFound(f"no rejudging {rejudging_id!r} in contest {contest_id!r}")
    return row


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
    known = {each.id: each for each in judged.submissions(session, contest_id)}
    came_after = _came_after(row, since)
    return rejudging_difference.view(shown(session, row), found, known, everything=everything, came_after=came_after)


def _came_after(row: RejudgingRow, since: str | None) -> Callable[[SubmissionRow], bool]:
    """Tell which submissions came after a version of the difference; without one, after the rejudging was opened."""
    if since is None:
        return lambda submission: submission.time > row.created
    last = rejudging_difference.last_submission(since)
    if last is None:
        raise BadRequest(f"since: expected the version of a difference, found {since[:80]!r}")
    return lambda submission: submission.id > last


def _refuse_another(session: Session, row: RejudgingRow, contest_id: str, version: str) -> None:
    """The difference is still this version of it; raises Conflict that says what came since."""
    found = difference(session, row, contest_id, utc_now())
    assert found is not None, "the contest is there"
    now = rejudging_difference.version(found)
    if now == version:
        return
    last = rejudging_difference.last_submission(version) or 0
    came = [each for each in judged.submissions(session, contest_id, found.judgements) if each.id > last]
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
        return _do(service, contest_id, rejudging_id, deed)


@router.post(f"{PLACE}/cancel", summary="Give a rejudging up")
def cancel_rejudging(_viewer: AdminOnly, service: TheService, contest_id: str, rejudging_id: str) -> RejudgingView:
    """Nothing of it is seen anywhere; what is not judged yet will not be."""
    made = _do(service, contest_id, rejudging_id, rejudging_steps.cancel, silent=True)
    service.engine.take_up()
    return made


@router.post(f"{PLACE}/undo", summary="Undo a rejudging")
def undo_rejudging(_viewer: AdminOnly, service: TheService, contest_id: str, rejudging_id: str) -> RejudgingView:
    """Everything is as it was before it was applied; what was submitted since to a changed problem is judged again."""
    again: list[int] = []
    made = _do(service, contest_id, rejudging_id, lambda session, row: again.extend(rejudging_steps.undo(session, row)))
    for judgement_id in again:
        service.engine.wake(judgement_id)
    return made


def _do(
    service: Service,
    contest_id: str,
    rejudging_id: str,
    deed: Callable[[Session, RejudgingRow], None],
    *,
    silent: bool = False,
) -> RejudgingView:
    """Do something with the rejudging in one transaction, and tell the boards of every contest it concerns."""
    with service.database.write() as session, refusals():
        row = rejudging_steps.lock(session, rejudging_of(session, contest_id, rejudging_id).id)
        deed(session, row)
        made = shown(session, row)
    for each in [] if silent else made.contests:
        service.boards.changed(each)
    return made
