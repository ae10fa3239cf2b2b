"""Changes of problems that have submissions: they become a rejudging, which is what the reply then shows.

- What a change of a problem would do, before it is made: cases, contests, submissions and teams.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.contests import queries as contests_queries
from app.contests.tables import OPEN
from app.core.clics import format_time, format_time_or_none
from app.core.json_documents import ProblemDocument
from app.core.messages import N_, PreconditionFailed
from app.judging.queries import rejudging_changes, rejudgings
from app.judging.queries.rejudging_changes import Change, Plan
from app.judging.queries.rejudgings import JUDGING, READY, contests_of
from app.judging.service.reference_runs import reference_run
from app.problems.queries import problem_diff, versions
from app.problems.queries.versions import Author, CaseChange, case_changes, summary
from app.tables import ContestProblemRow, ContestRow, ProblemRow, RejudgingRow, SubmissionRow


class ContestPreview(BaseModel):
    """A contest that has the problem.

    `goes_along`: the change reaches it; otherwise `why` not: pinned, final or kept.
    """

    id: str
    version: int
    goes_along: bool
    why: str | None
    submissions: int
    teams: int


class Preview(BaseModel):
    """The preview of a change.

    outcome      nothing; at_once; rejudging: it would wait to be applied
    judging      verdicts or raw scores could change; `points`: points could
    version      the newest version; 0: the problem is new
    changes      the difference in words
    submissions  of the contests that go along, which would be judged again or get other points; `teams` whose they are
    rejudging    the open rejudging that changes the problem already
    """

    problem_id: str
    version: int
    outcome: Literal["nothing", "at_once", "rejudging"]
    changes: list[str]
    testcases: list[CaseChange]
    judging: bool = False
    points: bool = False
    without_answer: list[str] = []
    contests: list[ContestPreview] = []
    submissions: int = 0
    teams: int = 0
    rejudging: str | None = None


def preview(session: Session, plan: Plan) -> Preview:
    """Show a plan."""
    row = session.get_one(ProblemRow, plan.problem_id)
    known = [_contest(session, plan, entry) for entry in _entries(session, plan.problem_id)]
    reached = [each.id for each in known if each.goes_along] if plan.waits else []
    is_other = problem_diff.difference(plan.before, plan.after) != {}
    return Preview(
        problem_id=plan.problem_id,
        version=row.version,
        outcome="nothing" if not is_other else "rejudging" if plan.waits else "at_once",
        judging=plan.needs_judging,
        points=problem_diff.matters(plan.before, plan.after),
        changes=summary(plan.before, plan.after) if is_other else [],
        testcases=case_changes(plan.before["cases"], plan.after["cases"]),
        without_answer=problem_diff.unanswered(plan.before["cases"], plan.after["cases"]),
        contests=known,
        submissions=sum(each.submissions for each in known if each.id in reached),
        teams=_teams(session, plan.problem_id, reached),
        rejudging=None if plan.open is None else str(plan.open.id),
    )


def preview_of_new(problem_id: str, after: ProblemDocument) -> Preview:
    """Show what a package that is a new problem would bring."""
    return Preview(
        problem_id=problem_id,
        version=0,
        outcome="at_once",
        changes=[f"problem {problem_id}: added"],
        testcases=case_changes({}, after["cases"]),
    )


def _entries(session: Session, problem_id: str) -> list[ContestProblemRow]:
    query = select(ContestProblemRow).where(ContestProblemRow.problem_id == problem_id)
    return list(session.scalars(query.order_by(ContestProblemRow.contest_id)))


def _contest(session: Session, plan: Plan, entry: ContestProblemRow) -> ContestPreview:
    submissions = contests_queries.submission_count(session, entry.contest_id, problem_id=plan.problem_id)
    goes_along = entry.contest_id in plan.contests and (bool(submissions == 0) or entry.contest_id in plan.submitted)
    return ContestPreview(
        id=entry.contest_id,
        version=versions.current(session, entry.contest_id, plan.problem_id),
        goes_along=goes_along,
        why=None if goes_along else _why(session, entry),
        submissions=submissions,
        teams=_teams(session, plan.problem_id, [entry.contest_id]),
    )


def _why(session: Session, entry: ContestProblemRow) -> str:
    if entry.version is not None:
        return f"pinned to version {entry.version}"
    is_final = session.get_one(ContestRow, entry.contest_id).finalized is not None
    return "final" if is_final else "keeps its version"


def _teams(session: Session, problem_id: str, contest_ids: list[str]) -> int:
    query = select(func.count(SubmissionRow.team_id.distinct())).where(SubmissionRow.problem_id == problem_id)
    return session.scalar(query.where(SubmissionRow.contest_id.in_(contest_ids))) or 0


class SelectionView(BaseModel):
    """The submissions selected: null is any."""

    problem_id: str | None
    team_id: str | None
    submission_ids: list[str] | None


class RejudgingView(BaseModel):
    """A rejudging: its submissions and reason, other changes, and its progress.

    `state` is judging or ready while it is open, then applied, undone or cancelled. It may change the boards of
    `contests`. `judge_errors` counts the judgements in which the judge itself failed. `without_answer` names the test
    cases that need an expected answer before it can be applied; `reference_run` is the job that makes one.
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


def shown(session: Session, row: RejudgingRow) -> RejudgingView:
    """Show a rejudging as far as it is now."""
    known, unanswered = rejudgings.progress(session, row.id), rejudgings.unanswered(session, row)
    ready = READY if known.done == known.total else JUDGING
    return RejudgingView(
        id=str(row.id),
        contest_id=row.contest_id,
        contests=contests_of(row),
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


@dataclass(frozen=True, slots=True)
class How:
    """How a request wants a problem changed.

    keep     contests with submissions stay with the version that they have
    preview  only say what the change would do
    version  change the problem only if this is its newest version
    """

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
    """Change a problem at once, or where that would change what someone has, by a rejudging that is shown.

    A preview instead, where that is asked for. Raises PreconditionFailed where the problem has another version by now.
    """
    check_version(session, problem_id, how.version)
    change = Change(problem_id, write, author, contest_id, how.keep)
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
                "expected the newest version of %(problem)s, %(version)s, found %(found)s: the problem was"
                " changed; reload it (GET problems/%(problem)s/versions)"
            ),
            where="If-Match",
            problem=problem_id,
            version=row.version,
            found=version,
        )
