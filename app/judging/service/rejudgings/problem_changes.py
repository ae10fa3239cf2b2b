"""Changes of problems that have submissions: they become a rejudging, which is what the reply then shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.core.clics import format_time, format_time_or_none
from app.core.errors import PreconditionFailed
from app.core.messages import N_
from app.judging.queries import rejudging_changes, rejudgings
from app.judging.queries.rejudging_changes import Change
from app.judging.queries.rejudgings import JUDGING, OPEN, READY, Progress
from app.judging.service.references import reference_run
from app.judging.service.rejudgings.previews import Preview, preview
from app.problems.queries.versions import Author
from app.tables import RejudgingRow


class SelectionView(BaseModel):
    """The submissions selected: null is any."""

    problem_id: str | None
    team_id: str | None
    submission_ids: list[str] | None


class RejudgingView(BaseModel):
    """A rejudging: what is judged again and why, what becomes different beside, and how far it is.

    `state` is judging or ready while it is open, then applied, undone or cancelled. `contests` are those whose boards
    it may change. `judge_errors` counts the judgements in which the judge itself failed. `without_answer` names
    the test cases that need an expected answer before it can be applied; `reference_run` is the job that makes one.
    """

    id: str
    contest_id: str
    contests: list[str]
    reason: str
    account_id: str | None
    selection: SelectionView
    changes: list[str]
    state: str
    judged: int
    total: int
    progress: float
    judge_errors: int
    without_answer: list[str]
    reference_run: str | None
    created: str
    applied: str | None
    ended: str | None
    href: str


RESPONSES: dict[int | str, dict[str, object]] = {
    202: {
        "model": RejudgingView,
        "description": "there are submissions: the change waits as a rejudging, to be applied",
    },
}


def view(session: Session, row: RejudgingRow, progress: Progress | None) -> RejudgingView:
    """Show a rejudging."""
    known, unanswered = progress or Progress(), rejudgings.unanswered(session, row)
    ready = READY if known.done == known.total else JUDGING
    return RejudgingView(
        id=str(row.id),
        contest_id=row.contest_id,
        contests=rejudgings.contests_of(row),
        reason=row.reason,
        account_id=row.account_id,
        selection=SelectionView(
            problem_id=row.selection.get("problem"),
            team_id=row.selection.get("team"),
            submission_ids=row.selection.get("named"),
        ),
        changes=list(row.changes.get("summary", [])),
        state=ready if row.state == OPEN else row.state,
        judged=known.done,
        total=known.total,
        progress=known.done / known.total if known.total else 1.0,
        judge_errors=known.errors,
        without_answer=unanswered,
        reference_run=reference_run(session, row.changes["problem_id"], unanswered) if unanswered else None,
        created=format_time(row.created),
        applied=format_time_or_none(row.applied),
        ended=format_time_or_none(row.ended),
        href=f"contests/{row.contest_id}/rejudgings/{row.id}",
    )


def shown(session: Session, row: RejudgingRow) -> RejudgingView:
    """Show a rejudging as far as it is now."""
    return view(session, row, rejudgings.progress(session, [row.id]).get(row.id))


@dataclass(frozen=True, slots=True)
class How:
    """How a request wants a problem changed.

    joins    the open rejudging that the change becomes a part of
    keep     contests with submissions stay with the version that they have
    preview  only say what the change would do
    version  change the problem only if this is its newest version
    """

    joins: int | None = None
    keep: bool = False
    preview: bool = False
    version: int | None = None


AS_IT_COMES = How()


def change(
    session: Session,
    problem_id: str,
    write: Callable[[], None],
    author: Author,
    how: How = AS_IT_COMES,
    *,
    contest_id: str | None = None,
) -> RejudgingView | Preview | None:
    """Change a problem at once, or where that would change what somebody has, open a rejudging and show it.

    A preview instead, where that is asked for. Raises PreconditionFailed where the problem has another version by now.
    """
    check_version(session, problem_id, how.version)
    change = Change(problem_id, write, author, contest_id, how.joins, how.keep)
    if how.preview:
        return preview(session, rejudging_changes.planned(session, change))
    row = rejudging_changes.change_problem(session, change)
    return None if row is None else shown(session, row)


def check_version(session: Session, problem_id: str, version: int | None) -> None:
    """Raise PreconditionFailed where a change was made for another version of the problem than the newest.

    Of two at the same moment the second one waits, and is refused.
    """
    row = None if version is None else rejudging_changes.hold(session, problem_id)
    if row is not None and row.version != version:
        raise PreconditionFailed(
            N_(
                "expected the newest version of %(problem)s, %(version)s, found %(found)s: somebody "
                "has changed the problem since; look at it again (GET problems/%(problem)s/versions)"
            ),
            where="If-Match",
            problem=problem_id,
            version=row.version,
            found=version,
        )
