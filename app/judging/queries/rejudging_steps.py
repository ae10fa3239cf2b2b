"""The steps of a rejudging: it is opened, takes in what arrives meanwhile, and is applied, undone or cancelled.

Each step is taken in the transaction of whoever calls it, all of it or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, delete, func, insert, literal, select, text, update
from sqlalchemy.orm import Session, aliased

from app.core.clock import utc_now
from app.core.db.database import Database
from app.core.errors import BadRequest, Conflict
from app.core.json_documents import ProblemChanges, SelectionDocument
from app.core.messages import N_, Message, as_message
from app.judging.queries import rejudgings
from app.judging.queries.rejudgings import APPLIED, CANCELLED, OPEN, UNDONE, Progress
from app.problems.queries import problem_diff, versions
from app.problems.queries.versions import Author
from app.submissions.queries.judgements import DONE, QUEUED
from app.tables import ContestProblemRow, ContestRow, JudgementRow, RejudgingRow, SubmissionRow


class NothingSelected(BadRequest):
    """No submission is as asked for."""


class RejudgingRefused(Conflict):
    """A step contradicts another rejudging, or what has happened since; the message names it."""


class NotJudgedYet(RejudgingRefused):
    """A rejudging cannot be applied while judgements are left to do; a moment later it may."""

    def __init__(self, message: str | Message, /, **values: object) -> None:
        super().__init__(as_message(message, values), retry_after=1)


@dataclass(frozen=True, slots=True)
class Selection:
    """A choice of a contest's submissions: those that meet every given condition.

    `submissions` are the numbers of their rows, each with the id that it was named by.
    """

    problem_id: str | None = None
    team_id: str | None = None
    submissions: Mapping[int, str] | None = None

    def document(self, contests: Sequence[str] | None) -> SelectionDocument:
        """The selection as it is kept, with the contests it concerns if these are more than its own."""
        selection: SelectionDocument = {}
        if self.problem_id is not None:
            selection["problem"] = self.problem_id
        if self.team_id is not None:
            selection["team"] = self.team_id
        if self.submissions is not None:
            selection["submissions"], selection["named"] = list(self.submissions), list(self.submissions.values())
        if contests is not None:
            selection["contests"] = list(contests)
        return selection


def begin(
    session: Session,
    contest_id: str,
    selection: Selection,
    reason: str,
    account_id: str | None,
    *,
    changes: ProblemChanges | None = None,
    contests: Sequence[str] | None = None,
) -> RejudgingRow:
    """Open a rejudging and queue its judgements.

    Raises NothingSelected, or RejudgingRefused where another open one has one of the submissions, or the problem.
    """
    row = RejudgingRow(
        contest_id=contest_id,
        account_id=account_id,
        reason=reason,
        selection=selection.document(contests),
        changes=changes or {},
        undo={},
        state=OPEN,
        created=utc_now(),
    )
    alone(session)
    refuse_overlap(session, row)
    session.add(row)
    session.flush()
    if not rejudgings.judges(row):
        return row
    if take_in(session, row) == 0:
        raise NothingSelected(N_("expected at least one judged submission to judge again, found none"))
    return row


def refuse_overlap(session: Session, row: RejudgingRow) -> None:
    """Two open rejudgings never have a submission in common: which one would count?"""
    mine = rejudgings.selected(row).subquery()
    for other in rejudgings.still_open(session):
        if row.changes and other.changes and row.changes["problem_id"] == other.changes["problem_id"]:
            raise RejudgingRefused(
                N_("rejudging %(rejudging)s (%(contest)s) changes this problem already"),
                rejudging=other.id,
                contest=other.contest_id,
            )
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
                N_(
                    "%(count)s of the submissions are in the open rejudging %(rejudging)s (%(contest)s): "
                    "apply or cancel it first"
                ),
                count=count,
                rejudging=other.id,
                contest=other.contest_id,
            )


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
        literal(utc_now(), JudgementRow.start_time.type),
    ).outerjoin(live, current)
    columns = ["submission_id", "state", "attempt", "failures", "current", "rejudging_id", "replaced_id", "start_time"]
    made = insert(JudgementRow).from_select(columns, rows.order_by(chosen.c.id), include_defaults=False)
    return int(session.execute(made).rowcount)  # type: ignore[attr-defined]  # a cursor result


def take_in_newcomers(session: Session, row: RejudgingRow) -> None:
    """Add submissions that a rejudging has not judged; one that was undone is then open again. `row` is from `lock`."""
    if session.scalar(rejudgings.missing(row).limit(1)) is None:
        return
    if row.state == UNDONE:
        refuse_overlap(session, row)
        row.state = OPEN
    take_in(session, row)


def take_in_all_late(database: Database) -> None:
    """Let open rejudgings take in what has been submitted meanwhile to the problems that they change."""
    with database.read() as session:
        late = rejudgings.late(session)
    if late:
        with database.write() as session:
            take_in_late(session, late)


def take_in_late(session: Session, rejudging_ids: Sequence[int]) -> None:
    """Add what arrived meanwhile to these rejudgings."""
    for rejudging_id in rejudging_ids:
        row = _locked(session, rejudging_id)
        if row is not None and row.state == OPEN:
            take_in(session, row)


def alone(session: Session) -> None:
    """Let one transaction at a time begin, change and end rejudgings, whichever: what each looks at must not move."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE rejudgings IN SHARE ROW EXCLUSIVE MODE"))


def _locked(session: Session, rejudging_id: int) -> RejudgingRow | None:
    return session.get(RejudgingRow, rejudging_id, with_for_update=True, populate_existing=True)


def lock(session: Session, rejudging_id: int) -> RejudgingRow:
    """Take the rejudging for this transaction alone, and let no submission come in before its end."""
    alone(session)
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE submissions IN SHARE MODE"))
    row = _locked(session, rejudging_id)
    if row is None:
        raise RejudgingRefused(N_("rejudging %(rejudging)s is gone"), rejudging=rejudging_id)
    return row


def apply(session: Session, row: RejudgingRow, *, errors_too: bool = False) -> None:
    """Make its judgements the current ones, and its changes those of the problem. `row` is from `lock`.

    Raises RejudgingRefused, also where a submission arrived that it has not judged (`take_in_newcomers`).
    """
    if row.state not in {OPEN, UNDONE}:
        raise RejudgingRefused(N_("rejudging %(rejudging)s is %(state)s"), rejudging=row.id, state=row.state)
    _refuse_final(session, row)
    _refuse_unanswered(session, row)
    _refuse_unjudged(session, row)
    if not errors_too and (count := _new_errors(session, row)):
        raise RejudgingRefused(
            N_(
                "the judge failed on %(count)s submissions that had a verdict; judge_errors: true "
                "applies it nevertheless"
            ),
            count=count,
        )
    if row.changes:
        _refuse_pinned(session, row)
        if _fingerprint(session, row) != row.changes["base"]:
            problem_id = row.changes["problem_id"]
            raise RejudgingRefused(
                N_("%(problem)s has been changed since: cancel this and make a new one"), problem=problem_id
            )
        author = Author(row.account_id, f"rejudging {row.id}: {row.reason}")
        undo = versions.make(session, row.changes["problem_id"], row.changes, author, rejudgings.contests_of(row))
        undo["base"] = _fingerprint(session, row)
        row.undo = undo
    _put_in_place(session, row)
    row.state, row.applied, row.ended = APPLIED, utc_now(), None
    session.flush()


def _refuse_pinned(session: Session, row: RejudgingRow) -> None:
    """Refuse a change of the problem's rows that one of its contests would not get, as it stays with a version."""
    if "pins" in row.changes or row.changes.keys().isdisjoint(versions.PARTS):
        return
    problem_id = row.changes["problem_id"]
    for contest_id in rejudgings.contests_of(row):
        entry = session.get(ContestProblemRow, (contest_id, problem_id))
        if entry is not None and entry.version is not None:
            raise RejudgingRefused(
                N_(
                    "contest %(contest)s has been pinned to version %(version)s of %(problem)s since: "
                    "let it follow the problem again (version: null), or cancel this"
                ),
                contest=contest_id,
                version=entry.version,
                problem=problem_id,
            )


def _refuse_final(session: Session, row: RejudgingRow) -> None:
    """No contest of it is final, nor becomes so before the end of this transaction."""
    query = select(ContestRow.id, ContestRow.finalized).where(ContestRow.id.in_(rejudgings.contests_of(row)))
    rows = session.execute(query.order_by(ContestRow.id).with_for_update(read=True))
    if final := [contest_id for contest_id, finalized in rows if finalized is not None]:
        raise RejudgingRefused(
            N_("contest %(contest)s is final; finalized: false opens it again"), contest=", ".join(final)
        )


def _refuse_unanswered(session: Session, row: RejudgingRow) -> None:
    """No test case would be dropped because its expected answer is still to be made."""
    if names := rejudgings.unanswered(session, row):
        problem_id = row.changes["problem_id"]
        one = N_(
            "test case %(name)s of %(problem)s has no expected answer yet: wait for the reference run, start one "
            "(jurado admin reference run %(problem)s %(name)s), or put it with an answer"
        )
        several = N_(
            "%(listed)s have no expected answer yet: wait for the reference run, start one (jurado admin reference run "
            "%(problem)s %(names)s), or put it with an answer"
        )
        raise RejudgingRefused(
            one if len(names) == 1 else several,
            name=names[0],
            problem=problem_id,
            listed=", ".join(names),
            names=" ".join(names),
        )


def _refuse_unjudged(session: Session, row: RejudgingRow) -> None:
    """Refuse a rejudging without a finished judgement of each of its submissions."""
    newcomers = rejudgings.missing(row).subquery() if rejudgings.grows(row) else None
    if newcomers is not None and (count := session.scalar(select(func.count()).select_from(newcomers))):
        raise NotJudgedYet(
            N_("%(count)s more submissions arrived that are not judged yet: apply it again"), count=count
        )
    progress = rejudgings.progress(session, [row.id]).get(row.id, Progress())
    if progress.done < progress.total:
        raise NotJudgedYet(
            N_("%(count)s of %(total)s judgements are not done yet"),
            count=progress.total - progress.done,
            total=progress.total,
        )
    if rejudgings.grows(row) and (count := len(rejudgings.unjudged(session, row))):
        raise NotJudgedYet(
            N_("%(count)s submissions have not been judged by the problem as it is yet: apply it again"), count=count
        )


def _fingerprint(session: Session, row: RejudgingRow) -> str:
    """The fingerprint of the part of the problem that a rejudging changes, as it is now."""
    version = problem_diff.document(session, row.changes["problem_id"], row.contest_id)
    return problem_diff.fingerprint(version, row.changes.get("rules", {}))


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
        raise RejudgingRefused(
            N_("rejudging %(rejudging)s is %(state)s, not applied"), rejudging=row.id, state=row.state
        )
    _refuse_final(session, row)
    _refuse_later(session, row)
    again: list[int] = []
    if row.changes:
        problem_id = row.changes["problem_id"]
        _refuse_pinned(session, row)
        if _fingerprint(session, row) != row.undo["base"]:
            raise RejudgingRefused(
                N_("%(problem)s has been changed since it was applied: undo that first"), problem=problem_id
            )
        author = Author(row.account_id, f"rejudging {row.id} undone: {row.reason}")
        versions.make(session, problem_id, row.undo, author, rejudgings.contests_of(row))
        if rejudgings.judges(row):
            again = replace_judgements(session, JudgementRow.submission_id.in_(rejudgings.missing(row)))
    live = aliased(JudgementRow)
    replaced = select(live.replaced_id).where(live.rejudging_id == row.id)
    theirs = select(live.submission_id).where(live.rejudging_id == row.id)
    _set_current(session, JudgementRow.submission_id.in_(theirs), value=False)
    _set_current(session, JudgementRow.id.in_(replaced), value=True)
    row.state, row.ended, row.undo = UNDONE, utc_now(), {}
    session.flush()
    return again


def _refuse_later(session: Session, row: RejudgingRow) -> None:
    """Refuse to undo a rejudging whose judgements a later one has replaced."""
    later = aliased(JudgementRow)
    query = (
        select(func.min(later.rejudging_id))
        .select_from(JudgementRow)
        .join(later, (later.submission_id == JudgementRow.submission_id) & later.current.is_(True))
        .where(JudgementRow.rejudging_id == row.id, later.id != JudgementRow.id)
    )
    if (other := session.scalar(query)) is not None:
        raise RejudgingRefused(
            N_("rejudging %(rejudging)s has been applied to some of the submissions since: undo it first"),
            rejudging=other,
        )


def replace_judgements(session: Session, which: ColumnElement[bool]) -> list[int]:
    """Queue a judgement in place of each current one of these; returns the ids of the new ones.

    The old ones stay as they are, as history: whoever has read a finished judgement need not read it again.
    """
    query = select(JudgementRow.id, JudgementRow.submission_id, SubmissionRow.team_id)
    query = query.join(SubmissionRow, SubmissionRow.id == JudgementRow.submission_id)
    replaced = session.execute(query.where(JudgementRow.current.is_(True), which)).all()
    now = utc_now()
    made = []
    for judgement_id, submission_id, team_id in replaced:
        session.get_one(JudgementRow, judgement_id).current = False
        judgement = JudgementRow(submission_id=submission_id, team_id=team_id, state=QUEUED, current=True)
        judgement.replaced_id, judgement.start_time = judgement_id, now
        session.add(judgement)
        made.append(judgement)
    session.flush()
    return [judgement.id for judgement in made]


def cancel(session: Session, row: RejudgingRow) -> None:
    """Give an open one up; what is not judged yet will not be. `row` is from `lock`."""
    if row.state != OPEN:
        raise RejudgingRefused(N_("rejudging %(rejudging)s is %(state)s"), rejudging=row.id, state=row.state)
    session.execute(
        delete(JudgementRow).where(JudgementRow.rejudging_id == row.id, JudgementRow.state != DONE),
        execution_options={"synchronize_session": False},
    )
    row.state, row.ended = CANCELLED, utc_now()
    session.flush()
