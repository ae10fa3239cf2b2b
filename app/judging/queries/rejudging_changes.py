"""A change of a problem that has submissions: made at once where it makes no difference, otherwise kept as a rejudging.

A plan is made first, in a savepoint that is taken back: it is what a preview shows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.json_documents import ProblemChanges, ProblemDocument
from app.core.messages import N_
from app.judging.queries import rejudging_steps, rejudgings
from app.judging.queries.rejudgings import contests_of, judges
from app.problems.queries import pins, problem_diff, versions
from app.problems.queries.versions import Author, summary
from app.tables import ContestProblemRow, ContestRow, JudgementRow, ProblemRow, RejudgingRow


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a problem: `write` writes it to the tables.

    contest_id  the change is one of this contest's rule, and no one else's business
    keep        contests with submissions stay with the version that they have
    """

    problem_id: str
    write: Callable[[], None]
    author: Author
    contest_id: str | None = None
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What a change would do. `before` and `after` are versions of the problem; `live` is the one that is there.

    contests   those that go along with the change, first those with submissions (`submitted`)
    open       the open rejudging that changes the problem; `joined` where the change becomes a part of that one
    pins       the version that a contest is moved to
    """

    problem_id: str
    live: ProblemDocument
    before: ProblemDocument
    after: ProblemDocument
    contests: Sequence[str]
    submitted: Sequence[str]
    open: RejudgingRow | None = None
    joined: RejudgingRow | None = None
    pins: dict[str, int | None] = field(default_factory=dict)

    @property
    def waits(self) -> bool:
        """Whether it waits as a rejudging, as someone would be judged otherwise or have other points."""
        if not self.submitted:
            return False
        return self.open is not None or problem_diff.matters(self.before, self.after)

    @property
    def needs_judging(self) -> bool:
        """Whether a verdict or a raw score could be another one."""
        return problem_diff.needs_judging(self.before, self.after)


def change_problem(session: Session, change: Change) -> RejudgingRow | None:
    """Change a problem at once where no one can tell the difference, otherwise open a rejudging with the change."""
    contests = _reached(session, change)
    if not _submitted(session, change.problem_id, contests):
        hold(session, change.problem_id)
        contests = _reached(session, change)
    if change.keep or not _submitted(session, change.problem_id, contests):
        _refuse_open(session, change)
        _write(session, change, [] if change.keep else contests)
        return None
    rejudging_steps.alone(session)
    plan = planned(session, change)
    if not plan.waits:
        _write(session, change, contests)
        return None
    return _propose(session, plan, change.author)


def hold(session: Session, problem_id: str) -> ProblemRow | None:
    """Let no submission to a problem come in before the end of this transaction; those on their way come before.

    To be called before it is asked whether there are any: on PostgreSQL the first one could be taken, and judged by
    what is about to change, by another transaction in the meantime. Returns the problem; None if there is none.
    """
    rejudging_steps.alone(session)  # first, as whoever applies a rejudging takes both in this order
    return versions.lock(session, problem_id)


def planned(session: Session, change: Change) -> Plan:
    """Find out what a change would do; nothing of it stays. The problem must exist."""
    contests = _reached(session, change)
    submitted = [] if change.keep else _submitted(session, change.problem_id, contests)
    other = rejudgings.open_of_problem(session, change.problem_id) if submitted else None
    pinned = change.contest_id is not None and pins.number(session, change.contest_id, change.problem_id) is not None
    joined = other if other is not None and not pinned and _takes_in(other, submitted) else None
    earlier: ProblemChanges = {} if joined is None else joined.changes
    live = problem_diff.document(session, change.problem_id, change.contest_id)
    after = problem_diff.tried(session, change.problem_id, earlier, change.write, change.contest_id)
    before = problem_diff.merged(live, earlier)
    return Plan(change.problem_id, live, before, after, contests, submitted, other, joined)


def planned_move(session: Session, contest_id: str, problem_id: str, number: int | None) -> Plan:
    """Find out what another version of a problem would do in a contest. Both must exist."""
    live = problem_diff.document(session, problem_id, contest_id)
    manifest = versions.manifest(session, problem_id, number)
    assert manifest is not None, "the version exists"
    after: ProblemDocument = {**manifest, "rules": live["rules"]}
    submitted = _submitted(session, problem_id, [contest_id])
    other = rejudgings.open_of_problem(session, problem_id) if submitted else None
    return Plan(problem_id, live, live, after, [contest_id], submitted, other, pins={contest_id: number})


def move(session: Session, contest_id: str, problem_id: str, number: int | None, author: Author) -> RejudgingRow | None:
    """Let a contest have another version of a problem (None: follow the newest), or open a rejudging that does so."""
    rejudging_steps.alone(session)
    plan = planned_move(session, contest_id, problem_id, number)
    if not plan.submitted:
        hold(session, problem_id)
        plan = planned_move(session, contest_id, problem_id, number)
    if plan.waits:
        return _propose(session, plan, author)
    versions.pin(session, contest_id, problem_id, number)
    return None


def wanted(session: Session, problem_id: str) -> ProblemDocument:
    """The problem as it will be: as it is, or with the changes of the open rejudging that has some."""
    live = problem_diff.document(session, problem_id)
    row = rejudgings.open_of_problem(session, problem_id)
    return live if row is None or "pins" in row.changes else problem_diff.merged(live, row.changes)


def _propose(session: Session, plan: Plan, author: Author) -> RejudgingRow:
    """Open a rejudging with the change, or make it a part of the open one."""
    if plan.joined is not None:
        return _join(session, plan.joined, plan)
    if (other := plan.open) is not None:
        raise _is_changing(other, plan.problem_id)
    return rejudging_steps.begin(
        session,
        plan.contests[0],
        {"problem": plan.problem_id},
        author.note,
        author.account_id,
        changes=_changes(plan),
        contests=plan.contests,
    )


def _write(session: Session, change: Change, contests: Sequence[str]) -> None:
    """Write it: the problem's next version, unless it is a contest's rule alone."""
    if change.contest_id is not None:
        change.write()
        return
    with versions.changing(session, change.problem_id, change.author, contests):
        change.write()


def _refuse_open(session: Session, change: Change) -> None:
    """Refuse a version that contests do not take while a rejudging would bring them another one."""
    other = rejudgings.open_of_problem(session, change.problem_id) if change.keep else None
    if other is not None:
        raise _is_changing(other, change.problem_id)


def _is_changing(other: RejudgingRow, problem_id: str) -> rejudgings.RejudgingRefused:
    return rejudgings.RejudgingRefused(
        N_("rejudging %(rejudging)s (%(contest)s) changes %(problem)s already: apply or cancel it first"),
        rejudging=other.id,
        contest=other.contest_id,
        problem=problem_id,
    )


def _takes_in(other: RejudgingRow, submitted: Sequence[str]) -> bool:
    """Whether an open rejudging changes the problem for these contests too, and not their versions of it."""
    return "pins" not in other.changes and set(submitted) <= set(contests_of(other))


def _changes(plan: Plan) -> ProblemChanges:
    """The document of a change for its rejudging: the diff, its summary in words, and the version it was made from."""
    changes = problem_diff.difference(plan.live, plan.after)
    if plan.pins:
        changes["pins"] = plan.pins
    return {
        **changes,
        "problem_id": plan.problem_id,
        "judging": problem_diff.needs_judging(plan.live, plan.after),
        "summary": summary(plan.live, plan.after),
        "base": problem_diff.fingerprint(plan.live, changes.get("rules", {})),
    }


def _reached(session: Session, change: Change) -> list[str]:
    """The contests that go along with a change: those that follow the problem and are not final, submissions first."""
    if change.contest_id is not None:
        return [change.contest_id]
    query = (
        select(ContestProblemRow.contest_id)
        .join(ContestRow, ContestRow.id == ContestProblemRow.contest_id)
        .where(ContestProblemRow.problem_id == change.problem_id, ContestProblemRow.version.is_(None))
        .where(ContestRow.finalized.is_(None))
        .order_by(ContestProblemRow.contest_id)
    )
    contests = session.scalars(query).all()
    return list(dict.fromkeys([*_submitted(session, change.problem_id, contests), *contests]))


def _submitted(session: Session, problem_id: str, contests: Sequence[str]) -> list[str]:
    return [each for each in contests if versions.has_submissions(session, each, problem_id)]


def _join(session: Session, row: RejudgingRow, plan: Plan) -> RejudgingRow:
    """Make the changes those of an open rejudging, and judge again where verdicts could be others than with it."""
    row.changes = _changes(plan)
    # A contest without submissions goes along too: it may have some by the time the change is applied.
    row.selection = {**row.selection, "contests": list(dict.fromkeys([*contests_of(row), *plan.contests]))}
    session.flush()
    if plan.needs_judging:
        rejudging_steps.drop(session, JudgementRow.rejudging_id == row.id)
    if plan.needs_judging and judges(row):
        rejudgings.refuse_overlap(session, row)
        rejudging_steps.take_in(session, row)
    return row
