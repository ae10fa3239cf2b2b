"""Queries and commands on rejudgings: open, preview, apply, cancel, undo."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer, refuse_foreign_contests
from app.contests import queries as contests_queries
from app.contests.queries import contest_of
from app.contests.service.names import called
from app.core.clock import utc_now
from app.core.errors import Conflict
from app.core.messages import N_, Message
from app.core.service import Service
from app.core.transactions import after_commit
from app.judging.queries import rejudging_steps, rejudgings
from app.judging.service.rejudging import absorbed, difference
from app.judging.service.rejudgings import difference as differences
from app.judging.service.rejudgings.difference import DifferenceView
from app.judging.service.rejudgings.problem_changes import RejudgingView, shown, view
from app.judging.service.rejudgings.rejudgings import (
    ApplyBody,
    RejudgingBody,
    came_after_rejudging,
    do,
    rejudging_of,
    selection_of,
    with_rule,
)
from app.submissions.queries import submission_queries
from app.submissions.queries.attempts import contests_of
from app.tables import RejudgingRow


def create(session: Session, service: Service, viewer: Viewer, contest_id: str, body: RejudgingBody) -> RejudgingView:
    """Open a rejudging; raises BadRequest naming what of the selection does not exist."""
    contest_of(session, contest_id)
    if body.problem is not None:
        labels = {entry.problem_id: entry.label for entry in contests_queries.entries(session, contest_id)}
        body.problem = called(body.problem, labels) or body.problem
    if body.changes is not None:
        opened = with_rule(session, contest_id, body, body.changes.rule, viewer.account_id)
    else:
        selection = selection_of(session, contest_id, body)
        row = rejudging_steps.begin(session, contest_id, selection, body.reason, viewer.account_id)
        opened = shown(session, row)
    after_commit(session, service.engine.take_up)
    return opened


def listed(session: Session, contest_id: str) -> list[RejudgingView]:
    """The rejudgings that concern a contest in any state, oldest first."""
    contest_of(session, contest_id)
    rows = rejudgings.rejudgings(session, contest_id)
    progress = rejudgings.progress(session, [row.id for row in rows])
    return [view(session, row, progress.get(row.id)) for row in rows]


def one(session: Session, contest_id: str, rejudging_id: str) -> RejudgingView:
    """A rejudging with its progress; raises NotFound."""
    return shown(session, rejudging_of(session, contest_id, rejudging_id))


def preview(
    session: Session, contest_id: str, rejudging_id: str, *, everything: bool, since: str | None
) -> DifferenceView:
    """The changes that a rejudging makes in a contest; `since` is the version after which submissions are newcomers."""
    row = rejudging_of(session, contest_id, rejudging_id)
    changes = difference(session, row, contest_id, utc_now())
    assert changes is not None, "the contest exists"
    known = {each.id: each for each in submission_queries.submissions(session, contest_id)}
    came_after = came_after_rejudging(row, since)
    return differences.view(shown(session, row), changes, known, everything=everything, came_after=came_after)


def apply(
    service: Service, viewer: Viewer, contest_id: str, rejudging_id: str, body: ApplyBody, api: str
) -> RejudgingView:
    """Apply a rejudging in one transaction, submissions that came meanwhile included.

    Raises Conflict where the difference is no longer the version asked for; `api` is the prefix of addresses there.
    """

    def deed(session: Session, row: RejudgingRow) -> None:
        if body.version is not None:
            _refuse_another(session, row, contest_id, body.version, api)
        rejudging_steps.apply(session, row, errors_too=body.judge_errors)

    with service.database.read() as session:
        row = rejudging_of(session, contest_id, rejudging_id)
        refuse_foreign_contests(viewer, contests_of(row))
        number = row.id
    with absorbed(service.database, service.engine, service.gate, number):
        return do(service, viewer, contest_id, rejudging_id, deed)


def _refuse_another(session: Session, row: RejudgingRow, contest_id: str, version: str, api: str) -> None:
    """Raise Conflict unless the difference still is this version; the message says what came since."""
    changes = difference(session, row, contest_id, utc_now())
    assert changes is not None, "the contest exists"
    now = differences.version(changes)
    if now == version:
        return
    last = differences.last_submission(version) or 0
    came = [each for each in submission_queries.submissions(session, contest_id, changes.judgements) if each.id > last]
    what = (
        Message(N_("%(count)s submissions came since"), count=len(came))
        if came
        else Message(N_("no submission came since, but judgements or teams changed"))
    )
    where = f"{api}/contests/{contest_id}/rejudgings/{row.id}/difference?since={version}"
    raise Conflict(
        N_("the difference is no longer %(version)s but %(now)s: %(what)s; look at it again: %(address)s"),
        where="version",
        version=version,
        now=now,
        what=what,
        address=where,
        errors=[{"where": f"submission {each.shown_id}", "message": "came since"} for each in came],
    )


def cancel(service: Service, viewer: Viewer, contest_id: str, rejudging_id: str) -> RejudgingView:
    """Give a rejudging up; its waiting judgements are dropped."""
    cancelled = do(service, viewer, contest_id, rejudging_id, rejudging_steps.cancel, silent=True)
    service.engine.take_up()
    return cancelled


def undo(service: Service, viewer: Viewer, contest_id: str, rejudging_id: str) -> RejudgingView:
    """Restore the state before a rejudging was applied; later submissions to a changed problem are judged again."""
    again: list[int] = []

    def deed(session: Session, row: RejudgingRow) -> None:
        again.extend(rejudging_steps.undo(session, row))

    undone = do(service, viewer, contest_id, rejudging_id, deed)
    for judgement_id in again:
        service.engine.wake(judgement_id)
    return undone
