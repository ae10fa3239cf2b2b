"""A change of a problem that has submissions: made at once where it makes no difference, else kept as a rejudging."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import ColumnElement, delete, exists, select, true
from sqlalchemy.orm import Session

from app.storage import problem_diff, problems, rejudging_steps, rejudgings
from app.storage.documents import ProblemChanges, ProblemDocument
from app.storage.rejudging_steps import RejudgingRefused, Selection
from app.storage.tables import JudgementRow, RejudgingRow, SubmissionRow


def change_problem(
    session: Session,
    problem_id: str,
    change: Callable[[], None],
    reason: str,
    account_id: str | None,
    *,
    contest_id: str | None = None,
    joins: int | None = None,
) -> RejudgingRow | None:
    """Change a problem at once where nobody can tell the difference, else open a rejudging with the change.

    `change` writes to the tables; in the second case what it has written is looked at and taken back. With `joins` the
    change becomes part of that open rejudging; then, and only then, there may be one of this problem already.
    `contest_id`: the change is one of this contest's rule, and nobody else's business.
    """
    if not _submitted(session, problem_id, contest_id):
        change()
        return None
    rejudging_steps.alone(session)
    other = rejudgings.open_of_problem(session, problem_id)
    joined = None if joins is None else _to_join(other, joins, problem_id)
    earlier: ProblemChanges = {} if joined is None else joined.changes
    live = problem_diff.document(session, problem_id)
    before, after = problem_diff.merged(live, earlier), problem_diff.tried(session, problem_id, earlier, change)
    if other is None and not problem_diff.matters(before, after):
        change()
        return None
    if joined is not None:
        again = problem_diff.needs_judging(before, after)
        return _join(session, joined, _changes(problem_id, live, after), again=again)
    if other is not None:
        raise RejudgingRefused(
            f"rejudging {other.id} ({other.contest_id}) changes {problem_id} already: "
            f"apply or cancel it first, or make this a part of it with ?rejudging={other.id}"
        )
    changes = _changes(problem_id, live, after)
    contests = [contest_id] if contest_id is not None else _contests(session, problem_id)
    return rejudging_steps.begin(
        session, contests[0], Selection(problem_id), reason, account_id, changes=changes, contests=contests
    )


def wanted(session: Session, problem_id: str) -> ProblemDocument:
    """The problem as it will be: as it is, or with the changes of the open rejudging that has some."""
    live = problem_diff.document(session, problem_id)
    row = rejudgings.open_of_problem(session, problem_id)
    return live if row is None else problem_diff.merged(live, row.changes)


def _to_join(other: RejudgingRow | None, joins: int, problem_id: str) -> RejudgingRow:
    if other is None or other.id != joins:
        raise RejudgingRefused(f"rejudging {joins} is none that changes {problem_id} and is still open")
    return other


def _changes(problem_id: str, live: ProblemDocument, after: ProblemDocument) -> ProblemChanges:
    """The document of a change for its rejudging: the diff, its summary in words, and the version it was made from."""
    changes = problem_diff.difference(live, after)
    return {
        **changes,
        "problem_id": problem_id,
        "judging": problem_diff.needs_judging(live, after),
        "summary": problem_diff.summary(live, after),
        "base": problem_diff.fingerprint(live, changes.get("rules", {})),
    }


def _submitted(session: Session, problem_id: str, contest_id: str | None) -> bool:
    query = select(exists().where(SubmissionRow.problem_id == problem_id, _in_contest(contest_id)))
    return bool(session.scalar(query))


def _in_contest(contest_id: str | None) -> ColumnElement[bool]:
    return true() if contest_id is None else SubmissionRow.contest_id == contest_id


def _contests(session: Session, problem_id: str) -> list[str]:
    """The contests that have a problem: first those with submissions to it."""
    submitted = session.scalars(
        select(SubmissionRow.contest_id).where(SubmissionRow.problem_id == problem_id).distinct()
    ).all()
    return list(dict.fromkeys([*sorted(submitted), *problems.contests_of(session, problem_id)]))


def _join(session: Session, row: RejudgingRow, changes: ProblemChanges, *, again: bool) -> RejudgingRow:
    """Make the changes those of an open rejudging; where they say more of verdicts than before, judge anew."""
    row.changes = changes
    session.flush()
    if again:
        session.execute(delete(JudgementRow).where(JudgementRow.rejudging_id == row.id))
        rejudging_steps.take_in(session, row)
    return row
