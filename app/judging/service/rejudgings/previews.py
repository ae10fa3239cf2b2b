"""What a change of a problem would do, before it is made: cases, contests, submissions and teams."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.contests.queries import contests
from app.core.json_documents import ProblemDocument
from app.judging.queries.rejudging_changes import Plan
from app.problems.queries import problem_diff, versions
from app.problems.queries.problem_summary import CaseChange, case_changes, summary
from app.tables import ContestProblemRow, ContestRow, ProblemRow, SubmissionRow


class CasePreview(BaseModel):
    """A test case that is added, removed or changed, and the parts of it that are."""

    name: str
    group: str
    change: Literal["added", "removed", "changed"]
    parts: list[str]


class ContestPreview(BaseModel):
    """A contest that has the problem. `goes_along`: the change reaches it; else `why` not: pinned, final or kept."""

    id: str
    version: int
    goes_along: bool
    why: str | None
    submissions: int
    teams: int


class Preview(BaseModel):
    """What a change would do; nothing of it has been made.

    outcome      nothing; at_once; rejudging: it would wait to be applied
    judging      verdicts or raw scores could change; `points`: points could
    version      the newest that there is; 0: the problem is new
    changes      the difference in words
    submissions  of the contests that go along, which would be judged again or get other points; `teams` whose they are
    rejudging    the open rejudging that changes the problem already
    """

    problem_id: str
    version: int
    outcome: Literal["nothing", "at_once", "rejudging"]
    judging: bool
    points: bool
    changes: list[str]
    testcases: list[CasePreview]
    without_answer: list[str]
    contests: list[ContestPreview]
    submissions: int
    teams: int
    rejudging: str | None


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
        judging=plan.again,
        points=problem_diff.matters(plan.before, plan.after),
        changes=summary(plan.before, plan.after) if is_other else [],
        testcases=case_previews(plan.before, plan.after),
        without_answer=problem_diff.unanswered(plan.before["cases"], plan.after["cases"]),
        contests=known,
        submissions=sum(each.submissions for each in known if each.id in reached),
        teams=_teams(session, plan.problem_id, reached),
        rejudging=None if plan.open is None else str(plan.open.id),
    )


def preview_of_new(problem_id: str, after: ProblemDocument) -> Preview:
    """Show what a package that is a new problem would bring."""
    added = [CaseChange(name, "added") for name in after["cases"]]
    return Preview(
        problem_id=problem_id,
        version=0,
        outcome="at_once",
        judging=False,
        points=False,
        changes=[f"problem {problem_id}: added"],
        testcases=[_case(after, after, each) for each in added],
        without_answer=[],
        contests=[],
        submissions=0,
        teams=0,
        rejudging=None,
    )


def case_previews(before: ProblemDocument, after: ProblemDocument) -> list[CasePreview]:
    """The test cases that differ between two versions."""
    return [_case(before, after, each) for each in case_changes(before["cases"], after["cases"])]


def _case(before: ProblemDocument, after: ProblemDocument, change: CaseChange) -> CasePreview:
    version = before if change.kind == "removed" else after
    group = version["cases"][change.name]["group_name"]
    return CasePreview(name=change.name, group=group, change=change.kind, parts=list(change.parts))


def _entries(session: Session, problem_id: str) -> list[ContestProblemRow]:
    query = select(ContestProblemRow).where(ContestProblemRow.problem_id == problem_id)
    return list(session.scalars(query.order_by(ContestProblemRow.contest_id)))


def _contest(session: Session, plan: Plan, entry: ContestProblemRow) -> ContestPreview:
    submissions = contests.submission_count(session, entry.contest_id, problem_id=plan.problem_id)
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
