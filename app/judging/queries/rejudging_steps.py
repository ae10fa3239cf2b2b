"""The steps of a rejudging: it is opened, takes in what arrives in the meantime, and is applied, undone or cancelled.

Each step is taken in the transaction of whoever calls it, all of it or nothing.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, delete, insert, literal, select, text, update
from sqlalchemy.orm import Session, aliased

from app.contests.tables import APPLIED, CANCELLED, OPEN, UNDONE
from app.core import clock, json_documents
from app.core.messages import N_, BadRequest
from app.judging.queries import rejudgings
from app.judging.queries.rejudgings import contests_of, grows, judges
from app.problems.queries import problem_diff, versions
from app.submissions.queries.attempts import few
from app.submissions.tables import DONE, QUEUED, REJUDGED
from app.tables import JudgementRow, RejudgingRow, SubmissionRow


class NothingSelected(BadRequest):
    """No submission is as asked for."""


def begin(
    session: Session,
    contest_id: str,
    selection: json_documents.SelectionDocument,
    reason: str,
    account_id: str | None,
    *,
    changes: json_documents.ProblemChanges | None = None,
    contests: Sequence[str] | None = None,
) -> RejudgingRow:
    """Open a rejudging and queue its judgements.

    Raises NothingSelected, or RejudgingRefused where another open one has one of the submissions, or the problem.
    """
    row = RejudgingRow(
        contest_id=contest_id,
        account_id=account_id,
        reason=reason,
        selection=selection if contests is None else {**selection, "contests": list(contests)},
        changes=changes or {},
        undo={},
        state=OPEN,
        created=clock.utc_now(),
    )
    alone(session)
    rejudgings.refuse_overlap(session, row)
    session.add(row)
    session.flush()
    if not judges(row):
        return row
    if take_in(session, row) == 0:
        raise NothingSelected(N_("expected at least one judged submission to judge again, found none"))
    return row


def take_in(session: Session, row: RejudgingRow) -> int:
    """Queue a judgement of each submission that has none in the rejudging yet; returns their number."""
    live = aliased(JudgementRow)
    chosen = rejudgings.missing(row).subquery()
    current = (live.submission_id == chosen.c.id) & live.current.is_(True)
    rows = select(
        chosen.c.id,
        literal(QUEUED),
        literal(REJUDGED),
        literal(0),
        literal(0),
        literal(False),
        literal(row.id),
        live.id,
        literal(clock.utc_now(), JudgementRow.start_time.type),
    ).outerjoin(live, current)
    columns = ["submission_id", "state", "lane", "attempt", "failures", "current"]
    columns += ["rejudging_id", "replaced_id", "start_time"]
    made = insert(JudgementRow).from_select(columns, rows.order_by(chosen.c.id), include_defaults=False)
    return int(session.execute(made).rowcount)  # type: ignore[attr-defined]  # a cursor result


def take_in_newcomers(session: Session, row: RejudgingRow) -> None:
    """Add submissions that a rejudging has not judged; one that was undone is then open again. `row` is from `lock`.

    Engines take in those of open rejudgings; these lack only the submissions of the last moment.
    """
    if row.state not in {OPEN, UNDONE} or not grows(row) or session.scalar(rejudgings.missing(row).limit(1)) is None:
        return
    if row.state == UNDONE:
        rejudgings.refuse_overlap(session, row)
        row.state = OPEN
    take_in(session, row)


def alone(session: Session) -> None:
    """Let one transaction at a time begin, change and end rejudgings, whichever: what each looks at must not move."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE rejudgings IN SHARE ROW EXCLUSIVE MODE"))


def lock(session: Session, rejudging_id: int) -> RejudgingRow:
    """Take the rejudging for this transaction alone, and let no submission come in before its end."""
    alone(session)
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE submissions IN SHARE MODE"))
    row = session.get(RejudgingRow, rejudging_id, with_for_update=True, populate_existing=True)
    if row is None:
        raise rejudgings.RejudgingRefused(N_("rejudging %(rejudging)s is gone"), rejudging=rejudging_id)
    return row


def apply(session: Session, row: RejudgingRow, *, errors_too: bool = False) -> None:
    """Make its judgements the current ones, and its changes those of the problem. `row` is from `lock`.

    The latest submissions that lack a judgement of either version count as submitted later: they are judged again by
    the changed problem. Raises RejudgingRefused.
    """
    if row.state not in {OPEN, UNDONE}:
        raise rejudgings.RejudgingRefused(N_("rejudging %(rejudging)s is %(state)s"), rejudging=row.id, state=row.state)
    rejudgings.refuse_final(session, row)
    rejudgings.refuse_changed(session, row)
    rejudgings.refuse_unanswered(session, row)
    lacking = rejudgings.unjudged(session, row)
    rejudgings.refuse_unjudged(session, row, lacking)
    if not errors_too and (count := rejudgings.new_errors(session, row)):
        raise rejudgings.RejudgingRefused(
            N_(
                "the judge failed on %(count)s submissions that had a verdict; judge_errors: true "
                "applies it nevertheless"
            ),
            count=count,
        )
    if row.changes:
        rejudgings.refuse_pinned(session, row)
        if _fingerprint(session, row) != row.changes["base"]:
            problem_id = row.changes["problem_id"]
            raise rejudgings.RejudgingRefused(
                N_("%(problem)s has been changed since: cancel this and make a new one"), problem=problem_id
            )
        author = versions.Author(row.account_id, f"rejudging {row.id}: {row.reason}")
        undo = versions.make(session, row.changes["problem_id"], row.changes, author, contests_of(row))
        undo["base"] = _fingerprint(session, row)
        row.undo = undo
    for some in few(JudgementRow.submission_id, lacking):
        session.execute(delete(JudgementRow).where(JudgementRow.rejudging_id == row.id, some))
        replace_judgements(session, some)
    _put_in_place(session, row)
    row.state, row.applied, row.ended = APPLIED, clock.utc_now(), None
    session.flush()


def _fingerprint(session: Session, row: RejudgingRow) -> str:
    """The fingerprint of the part of the problem that a rejudging changes, as it is now."""
    version = problem_diff.document(session, row.changes["problem_id"], row.contest_id)
    return problem_diff.fingerprint(version, row.changes.get("rules", {}))


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


def undo(session: Session, row: RejudgingRow) -> None:
    """Put back what was before it was applied. `row` is from `lock`.

    What was submitted since is judged again, as it was judged by what is now withdrawn.
    """
    if row.state != APPLIED:
        raise rejudgings.RejudgingRefused(
            N_("rejudging %(rejudging)s is %(state)s, not applied"), rejudging=row.id, state=row.state
        )
    rejudgings.refuse_final(session, row)
    rejudgings.refuse_later(session, row)
    if row.changes:
        problem_id = row.changes["problem_id"]
        rejudgings.refuse_pinned(session, row)
        if _fingerprint(session, row) != row.undo["base"]:
            raise rejudgings.RejudgingRefused(
                N_("%(problem)s has been changed since it was applied: undo that first"), problem=problem_id
            )
        author = versions.Author(row.account_id, f"rejudging {row.id} undone: {row.reason}")
        versions.make(session, problem_id, row.undo, author, contests_of(row))
        if judges(row):
            replace_judgements(session, JudgementRow.submission_id.in_(rejudgings.missing(row)))
    # Those that have been judged again since, by a later version of the problem, keep that judgement.
    live = aliased(JudgementRow)
    replaced = select(live.replaced_id).where(live.rejudging_id == row.id, live.current.is_(True))
    _set_current(session, JudgementRow.id.in_(replaced), value=True)
    _set_current(session, (JudgementRow.rejudging_id == row.id) & JudgementRow.current.is_(True), value=False)
    row.state, row.ended, row.undo = UNDONE, clock.utc_now(), {}
    session.flush()


def replace_judgements(session: Session, which: ColumnElement[bool]) -> None:
    """Judge the submissions of these current judgements again.

    Finished ones stay as history: whoever has read one need not read it again. An unfinished one is begun again, as
    another attempt, so that the outcome of a grader that has it now is refused.
    """
    query = select(JudgementRow, SubmissionRow.team_id)
    query = query.join(SubmissionRow, SubmissionRow.id == JudgementRow.submission_id)
    query = query.where(JudgementRow.current.is_(True), which).order_by(JudgementRow.id)
    locked = query.with_for_update(of=JudgementRow)
    replaced = session.execute(locked, execution_options={"populate_existing": True}).all()
    for old, team_id in replaced:
        if old.state != DONE:
            old.state, old.attempt, old.process_id = QUEUED, old.attempt + 1, None
            continue
        old.current = False
        new = JudgementRow(submission_id=old.submission_id, team_id=team_id, state=QUEUED, current=True)
        new.replaced_id, new.start_time = old.id, clock.utc_now()
        session.add(new)
    session.flush()


def drop(session: Session, which: ColumnElement[bool]) -> None:
    """Delete judgements, locked first in the order in which outcomes are recorded: neither waits for the other."""
    session.execute(select(JudgementRow.id).where(which).order_by(JudgementRow.id).with_for_update())
    session.execute(delete(JudgementRow).where(which), execution_options={"synchronize_session": False})


def cancel(session: Session, row: RejudgingRow) -> None:
    """Give an open one up; what is not judged yet will not be. `row` is from `lock`."""
    if row.state != OPEN:
        raise rejudgings.RejudgingRefused(N_("rejudging %(rejudging)s is %(state)s"), rejudging=row.id, state=row.state)
    drop(session, (JudgementRow.rejudging_id == row.id) & (JudgementRow.state != DONE))
    row.state, row.ended = CANCELLED, clock.utc_now()
    session.flush()
