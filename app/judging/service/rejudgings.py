"""Rejudgings: submissions judged again, silently; previewed, applied and undone (guarantee 8)."""

from collections.abc import Callable

from pydantic import Field
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer, refuse_foreign_contests
from app.contests import queries as contests_queries
from app.contests.queries import contest_of
from app.contests.service.capabilities import called
from app.core.bodies import Body, Line
from app.core.clics import example
from app.core.clock import utc_now
from app.core.db.by_id import as_id
from app.core.db.database import after_commit
from app.core.json_documents import SelectionDocument
from app.core.messages import N_, BadRequest, Conflict, NotFound
from app.core.service import Service
from app.judging.queries import rejudging_steps, rejudgings
from app.judging.queries.rejudgings import JUDGING, contests_of
from app.judging.service import rejudging_difference
from app.judging.service.problem_changes import RejudgingView, shown
from app.judging.service.rejudging_difference import DifferenceView
from app.submissions.queries import submission_queries
from app.tables import RejudgingRow, TeamRow

MOST_NAMED = 10_000


@example({"problem": "comesolo", "reason": "the checker took boards that were not full"})
class RejudgingBody(Body):
    """The submissions to judge again, and the reason: all that match `problem`, `team` and `submissions`."""

    reason: Line
    problem: Line | None = None
    team: Line | None = None
    submissions: list[Line] | None = Field(None, min_length=1, max_length=MOST_NAMED)


class ApplyBody(Body):
    """`judge_errors`: also where the judge failed on submissions that had a verdict.

    `version`: only if the difference in this contest still is that version of it.
    """

    judge_errors: bool = False
    version: Line | None = None


def create(session: Session, service: Service, viewer: Viewer, contest_id: str, body: RejudgingBody) -> RejudgingView:
    """Open a rejudging; raises BadRequest naming what of the selection does not exist."""
    contest_of(session, contest_id)
    if body.problem is not None:
        labels = {entry.problem_id: entry.label for entry in contests_queries.entries(session, contest_id)}
        body.problem = called(body.problem, labels) or body.problem
    selection = _selection_of(session, contest_id, body)
    row = rejudging_steps.begin(session, contest_id, selection, body.reason, viewer.account_id)
    after_commit(session, lambda: service.engine.wake(rejudging=True))
    return shown(session, row)


def listed(session: Session, contest_id: str) -> list[RejudgingView]:
    """The rejudgings that concern a contest in any state, oldest first."""
    contest_of(session, contest_id)
    return [shown(session, row) for row in rejudgings.rejudgings(session, contest_id)]


def one(session: Session, contest_id: str, rejudging_id: str) -> RejudgingView:
    """A rejudging with its progress; raises NotFound."""
    return shown(session, _rejudging_of(session, contest_id, rejudging_id))


def preview(session: Session, contest_id: str, rejudging_id: str, *, everything: bool) -> DifferenceView:
    """The changes that a rejudging makes in a contest."""
    row = _rejudging_of(session, contest_id, rejudging_id)
    changes = rejudging_difference.difference(session, row, contest_id, utc_now())
    known = {each.id: each for each in submission_queries.submissions(session, contest_id)}
    return rejudging_difference.view(shown(session, row), changes, known, opened=row.created, everything=everything)


def apply(service: Service, viewer: Viewer, contest_id: str, rejudging_id: str, body: ApplyBody) -> RejudgingView:
    """Apply a rejudging in one transaction. The latest submissions, if they have no judgement of it, get one after.

    Raises Conflict where the difference is no longer the version asked for.
    """

    def deed(session: Session, row: RejudgingRow) -> None:
        if body.version is not None:
            now = rejudging_difference.version(rejudging_difference.difference(session, row, contest_id, utc_now()))
            if now != body.version:
                raise Conflict(
                    N_("the difference is no longer %(version)s but %(now)s; look at it again"),
                    where="version",
                    version=body.version,
                    now=now,
                )
        rejudging_steps.apply(session, row, errors_too=body.judge_errors)

    if _do(service, viewer, contest_id, rejudging_id, rejudging_steps.take_in_newcomers, quiet=True).state == JUDGING:
        service.engine.wake(rejudging=True)
    applied = _do(service, viewer, contest_id, rejudging_id, deed)
    service.engine.wake()  # for the latest submissions
    return applied


def cancel(service: Service, viewer: Viewer, contest_id: str, rejudging_id: str) -> RejudgingView:
    """Give a rejudging up; its waiting judgements are dropped."""
    cancelled = _do(service, viewer, contest_id, rejudging_id, rejudging_steps.cancel, quiet=True)
    service.engine.wake(rejudging=True)
    return cancelled


def undo(service: Service, viewer: Viewer, contest_id: str, rejudging_id: str) -> RejudgingView:
    """Restore the state before a rejudging was applied; later submissions to a changed problem are judged again."""
    undone = _do(service, viewer, contest_id, rejudging_id, rejudging_steps.undo)
    service.engine.wake()
    return undone


def _selection_of(session: Session, contest_id: str, body: RejudgingBody) -> SelectionDocument:
    """The selected submissions; raises BadRequest naming unknown problems, teams and submissions."""
    selection: SelectionDocument = {}
    if body.problem is not None:
        if contests_queries.entry(session, contest_id, body.problem) is None:
            raise BadRequest(
                N_("expected a problem of contest %(contest)s, found %(found)r"),
                where="problem",
                contest=contest_id,
                found=body.problem,
            )
        selection["problem"] = body.problem
    if body.team is not None:
        if session.get(TeamRow, body.team) is None:
            raise BadRequest(N_("expected a team, found %(found)r"), where="team", found=body.team)
        selection["team"] = body.team
    if body.submissions is None:
        return selection
    rows = {each: submission_queries.submission(session, contest_id, each) for each in body.submissions}
    if unknown := [each for each, row in rows.items() if row is None]:
        raise BadRequest(
            N_("expected submissions of contest %(contest)s, found %(found)s"),
            where="submissions",
            contest=contest_id,
            found=", ".join(unknown[:20]),
        )
    ids = {row.id: each for each, row in rows.items() if row is not None}
    selection["submissions"], selection["named"] = list(ids), list(ids.values())
    return selection


def _rejudging_of(session: Session, contest_id: str, rejudging_id: str) -> RejudgingRow:
    """The rejudging of the path; raises NotFound."""
    contest_of(session, contest_id)
    row = rejudgings.get(session, contest_id, as_id(rejudging_id) or 0)
    if row is None:
        raise NotFound(
            N_("no rejudging %(rejudging)r in contest %(contest)r"), rejudging=rejudging_id, contest=contest_id
        )
    return row


def _do(
    service: Service,
    viewer: Viewer,
    contest_id: str,
    rejudging_id: str,
    deed: Callable[[Session, RejudgingRow], None],
    *,
    quiet: bool = False,
) -> RejudgingView:
    """Run an act on the rejudging in one transaction, and tell the boards of every contest unless it is `quiet`."""
    with service.database.write(quiet=quiet) as session:
        row = rejudging_steps.lock(session, _rejudging_of(session, contest_id, rejudging_id).id)
        refuse_foreign_contests(viewer, contests_of(row))
        deed(session, row)
        made = shown(session, row)
    for each in [] if quiet else made.contests:
        service.boards.changed(each)
    return made
