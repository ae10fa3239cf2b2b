"""The steps of a rejudging: it is opened, takes in what arrives meanwhile, and is applied, undone or cancelled.

Each step is taken in the transaction of whoever calls it, all of it or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, exists, func, insert, literal, select, text, true, update
from sqlalchemy.orm import Session, aliased

from app.storage import problems, rejudgings, versions
from app.storage.judgements import DONE, QUEUED
from app.storage.rejudgings import APPLIED, CANCELLED, OPEN, UNDONE, Progress
from app.storage.tables import ContestRow, JudgementRow, RejudgingRow, SubmissionRow
from app.storage.versions import Changes, Document


class NothingSelected(Exception):
    """No submission is as asked for."""


class RejudgingRefused(Exception):
    """It would contradict another rejudging, or what has happened since; the message says what."""


class Stragglers(Exception):
    """Submissions arrived meanwhile and have to be judged before the rejudging can be applied."""

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} more submissions arrived meanwhile and are being judged; apply it again after that")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which submissions of a contest: all of them, less those that are not as each of these says.

    `submissions` are the numbers of their rows, each with the id that it was named by.
    """

    problem_id: str | None = None
    team_id: str | None = None
    submissions: Mapping[int, str] | None = None

    def document(self) -> dict[str, Any]:
        """The selection as it is kept."""
        found: dict[str, Any] = {"problem": self.problem_id, "team": self.team_id}
        if self.submissions is not None:
            found |= {"submissions": list(self.submissions), "named": list(self.submissions.values())}
        return {key: value for key, value in found.items() if value is not None}


def begin(
    session: Session,
    contest_id: str,
    selection: Selection,
    reason: str,
    account_id: str | None,
    *,
    changes: Changes | None = None,
    contests: Sequence[str] | None = None,
) -> RejudgingRow:
    """Open a rejudging and queue its judgements.

    Raises NothingSelected, or RejudgingRefused where another open one has one of the submissions, or the problem.
    """
    row = RejudgingRow(
        contest_id=contest_id,
        account_id=account_id,
        reason=reason,
        selection=selection.document() | ({"contests": list(contests)} if contests is not None else {}),
        changes=dict(changes or {}),
        undo={},
        state=OPEN,
        created=datetime.now(UTC),
    )
    _alone(session)
    _refuse_overlap(session, row)
    session.add(row)
    session.flush()
    if not rejudgings.judges(row):
        return row
    if take_in(session, row) == 0:
        raise NothingSelected("expected at least one judged submission to judge again, found none")
    return row


def _refuse_overlap(session: Session, row: RejudgingRow) -> None:
    """Two open rejudgings never have a submission in common: which one would count?"""
    mine = rejudgings.selected(row).subquery()
    for other in rejudgings.still_open(session):
        if row.changes and other.changes and row.changes["problem_id"] == other.changes["problem_id"]:
            raise RejudgingRefused(f"rejudging {other.id} ({other.contest_id}) changes this problem already")
        if not (rejudgings.judges(row) and rejudgings.judges(other)):
            continue
        theirs = rejudgings.selected(other).subquery() if other.changes else None
        shared = select(func.count()).select_from(mine)
        if theirs is not None:
            shared = shared.join(theirs, theirs.c.id == mine.c.id)
        else:
            its = (JudgementRow.submission_id == mine.c.id) & (JudgementRow.rejudging_id == other.id)
            shared = shared.join(JudgementRow, its)
        if count := session.scalar(shared):
            raise RejudgingRefused(
                f"{count} of the submissions are in the open rejudging {other.id} ({other.contest_id}): "
                "apply or cancel it first"
            )


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
    _alone(session)
    other = rejudgings.open_of_problem(session, problem_id)
    joined = None if joins is None else _to_join(other, joins, problem_id)
    kept = {} if joined is None else joined.changes
    live = versions.document(session, problem_id)
    before, wanted = versions.merged(live, kept), versions.tried(session, problem_id, kept, change)
    if other is None and not versions.matters(before, wanted):
        change()
        return None
    if joined is not None:
        again = versions.needs_judging(before, wanted)
        return _join(session, joined, _changes(problem_id, live, wanted), again=again)
    if other is not None:
        raise RejudgingRefused(
            f"rejudging {other.id} ({other.contest_id}) changes {problem_id} already: "
            f"apply or cancel it first, or make this a part of it with ?rejudging={other.id}"
        )
    changes = _changes(problem_id, live, wanted)
    contests = [contest_id] if contest_id is not None else _contests(session, problem_id)
    return begin(session, contests[0], Selection(problem_id), reason, account_id, changes=changes, contests=contests)


def _to_join(other: RejudgingRow | None, joins: int, problem_id: str) -> RejudgingRow:
    if other is None or other.id != joins:
        raise RejudgingRefused(f"rejudging {joins} is none that changes {problem_id} and is still open")
    return other


def _changes(problem_id: str, live: Document, wanted: Document) -> dict[str, Any]:
    """What a rejudging keeps of a change: the difference, what it says in words, and what it was made from."""
    found = versions.difference(live, wanted)
    return found | {
        "problem_id": problem_id,
        "judging": versions.needs_judging(live, wanted),
        "summary": versions.summary(live, wanted),
        "base": versions.fingerprint(live, found.get("rules", {})),
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


def _join(session: Session, row: RejudgingRow, changes: dict[str, Any], *, again: bool) -> RejudgingRow:
    """Make the changes those of an open rejudging; where they say more of verdicts than before, judge anew."""
    row.changes = changes
    session.flush()
    if again:
        session.execute(delete(JudgementRow).where(JudgementRow.rejudging_id == row.id))
        take_in(session, row)
    return row


def take_in(session: Session, row: RejudgingRow) -> int:
    """Queue a judgement of each submission that has none in the rejudging yet; returns their number."""
    live = aliased(JudgementRow)
    chosen = rejudgings.missing(row).subquery()
    current = (live.submission_id == chosen.c.id) & live.current.is_(True)
    rows = select(
        chosen.c.id,
        literal(QUEUED),
        literal(0),
        literal(0),
        literal(False),
        literal(row.id),
        live.id,
        literal(datetime.now(UTC), JudgementRow.start_time.type),
    ).outerjoin(live, current)
    columns = ["submission_id", "state", "attempt", "failures", "current", "rejudging_id", "replaced_id", "start_time"]
    made = insert(JudgementRow).from_select(columns, rows.order_by(chosen.c.id), include_defaults=False)
    return int(session.execute(made).rowcount)  # type: ignore[attr-defined]  # a cursor result


def take_in_late(session: Session, rejudging_ids: Sequence[int]) -> None:
    """Have what arrived meanwhile judged by these rejudgings as well."""
    for rejudging_id in rejudging_ids:
        row = _locked(session, rejudging_id)
        if row is not None and row.state == OPEN:
            take_in(session, row)


def _alone(session: Session) -> None:
    """Let one transaction at a time begin, change and end rejudgings, whichever: what each looks at must not move."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE rejudgings IN SHARE ROW EXCLUSIVE MODE"))


def _locked(session: Session, rejudging_id: int) -> RejudgingRow | None:
    return session.get(RejudgingRow, rejudging_id, with_for_update=True, populate_existing=True)


def lock(session: Session, rejudging_id: int) -> RejudgingRow:
    """Take the rejudging for this transaction alone, and let no submission come in before its end."""
    _alone(session)
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE submissions IN SHARE MODE"))
    row = _locked(session, rejudging_id)
    if row is None:
        raise RejudgingRefused(f"rejudging {rejudging_id} is gone")
    return row


def apply(session: Session, row: RejudgingRow, *, errors_too: bool = False) -> None:
    """Make its judgements the current ones, and its changes those of the problem. `row` is from `lock`.

    Raises Stragglers (the caller then takes them in) or RejudgingRefused.
    """
    if row.state not in {OPEN, UNDONE}:
        raise RejudgingRefused(f"rejudging {row.id} is {row.state}")
    _refuse_final(session, row)
    if count := _stragglers(session, row):
        raise Stragglers(count)
    found = rejudgings.progress(session, [row.id]).get(row.id, Progress())
    if found.done < found.total:
        raise RejudgingRefused(f"{found.total - found.done} of {found.total} judgements are not done yet")
    if not errors_too and (count := _new_errors(session, row)):
        raise RejudgingRefused(
            f"the judge failed on {count} submissions that had a verdict; judge_errors: true applies it nevertheless"
        )
    if row.changes:
        problem_id = row.changes["problem_id"]
        if _fingerprint(session, row) != row.changes["base"]:
            raise RejudgingRefused(f"{problem_id} has been changed since: cancel this and make a new one")
        undo = versions.write(session, problem_id, row.changes)
        row.undo = undo | {"base": _fingerprint(session, row)}
    _put_in_place(session, row)
    row.state, row.applied, row.ended = APPLIED, datetime.now(UTC), None
    session.flush()


def _refuse_final(session: Session, row: RejudgingRow) -> None:
    """No contest of it is final, nor becomes so before the end of this transaction."""
    query = select(ContestRow.id, ContestRow.finalized).where(ContestRow.id.in_(rejudgings.contests_of(row)))
    rows = session.execute(query.order_by(ContestRow.id).with_for_update(read=True))
    if final := [contest_id for contest_id, finalized in rows if finalized is not None]:
        raise RejudgingRefused(f"contest {', '.join(final)} is final; finalized: false opens it again")


def _stragglers(session: Session, row: RejudgingRow) -> int:
    """How many submissions it has yet to take in."""
    if not rejudgings.grows(row):
        return 0
    return session.scalar(select(func.count()).select_from(rejudgings.missing(row).subquery())) or 0


def _fingerprint(session: Session, row: RejudgingRow) -> str:
    """What the problem it changes is now, as far as it changes it."""
    return versions.fingerprint(versions.document(session, row.changes["problem_id"]), row.changes.get("rules", {}))


def _new_errors(session: Session, row: RejudgingRow) -> int:
    """Judgements that end in a judge error where there is a verdict now."""
    live = aliased(JudgementRow)
    query = (
        select(func.count())
        .select_from(JudgementRow)
        .join(live, (live.submission_id == JudgementRow.submission_id) & live.current.is_(True))
        .where(JudgementRow.rejudging_id == row.id, JudgementRow.type == "JE", live.state == DONE, live.type != "JE")
    )
    return session.scalar(query) or 0


def _put_in_place(session: Session, row: RejudgingRow) -> None:
    live = aliased(JudgementRow)
    replaced = (
        select(live.id)
        .where(live.submission_id == JudgementRow.submission_id, live.current.is_(True))
        .order_by(live.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    mine = JudgementRow.rejudging_id == row.id
    session.execute(
        update(JudgementRow).where(mine).values(replaced_id=replaced), execution_options={"synchronize_session": False}
    )
    theirs = select(live.submission_id).where(live.rejudging_id == row.id)
    _set_current(session, JudgementRow.current.is_(True) & JudgementRow.submission_id.in_(theirs), value=False)
    _set_current(session, mine, value=True)


def _set_current(session: Session, which: ColumnElement[bool], *, value: bool) -> None:
    session.execute(
        update(JudgementRow).where(which).values(current=value), execution_options={"synchronize_session": False}
    )


def undo(session: Session, row: RejudgingRow) -> list[int]:
    """Put back what was before it was applied. `row` is from `lock`.

    What was submitted since is judged again, as it was judged by what is now withdrawn: returns those judgements.
    """
    if row.state != APPLIED:
        raise RejudgingRefused(f"rejudging {row.id} is {row.state}, not applied")
    _refuse_final(session, row)
    _refuse_later(session, row)
    again: list[int] = []
    if row.changes:
        problem_id = row.changes["problem_id"]
        if _fingerprint(session, row) != row.undo["base"]:
            raise RejudgingRefused(f"{problem_id} has been changed since it was applied: undo that first")
        versions.write(session, problem_id, row.undo)
        if rejudgings.judges(row):
            again = _judge_again(session, row)
    live = aliased(JudgementRow)
    replaced = select(live.replaced_id).where(live.rejudging_id == row.id)
    _set_current(session, JudgementRow.rejudging_id == row.id, value=False)
    _set_current(session, JudgementRow.id.in_(replaced), value=True)
    row.state, row.ended, row.undo = UNDONE, datetime.now(UTC), {}
    session.flush()
    return again


def _refuse_later(session: Session, row: RejudgingRow) -> None:
    """What was judged again once more stays until that is undone."""
    later = aliased(JudgementRow)
    query = (
        select(func.min(later.rejudging_id))
        .select_from(JudgementRow)
        .join(later, (later.submission_id == JudgementRow.submission_id) & later.current.is_(True))
        .where(JudgementRow.rejudging_id == row.id, later.id != JudgementRow.id)
    )
    if (other := session.scalar(query)) is not None:
        raise RejudgingRefused(f"rejudging {other} has been applied to some of the submissions since: undo it first")


def _judge_again(session: Session, row: RejudgingRow) -> list[int]:
    """Queue a judgement in place of each that was made since the rejudging was applied."""
    since = session.execute(
        select(JudgementRow.id, JudgementRow.submission_id).where(
            JudgementRow.current.is_(True), JudgementRow.submission_id.in_(rejudgings.missing(row))
        )
    ).all()
    now = datetime.now(UTC)
    made = []
    for judgement_id, submission_id in since:
        session.get_one(JudgementRow, judgement_id).current = False
        judgement = JudgementRow(
            submission_id=submission_id, state=QUEUED, current=True, replaced_id=judgement_id, start_time=now
        )
        session.add(judgement)
        made.append(judgement)
    session.flush()
    return [judgement.id for judgement in made]


def cancel(session: Session, row: RejudgingRow) -> None:
    """Give an open one up; what is not judged yet will not be. `row` is from `lock`."""
    if row.state != OPEN:
        raise RejudgingRefused(f"rejudging {row.id} is {row.state}")
    session.execute(
        delete(JudgementRow).where(JudgementRow.rejudging_id == row.id, JudgementRow.state != DONE),
        execution_options={"synchronize_session": False},
    )
    row.state, row.ended = CANCELLED, datetime.now(UTC)
    session.flush()
