"""Rejudgings: judgements next to those that count, compared with them, and why a step of one is refused.

The judgements of a rejudging are rows like all others, and queued like all others; but they are not current, and
nothing shows them until the rejudging is applied. Its judgements tell whether an open one is ready, so that there is
no state that a crash could leave behind. `rejudging_steps` changes them.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Select, exists, func, select
from sqlalchemy.orm import Session, aliased

from app.contests.tables import OPEN, UNDONE
from app.core.clock import utc_now
from app.core.messages import N_, Conflict, Message, as_message
from app.problems.queries import problem_diff, versions
from app.submissions.queries.attempts import few
from app.submissions.tables import DONE
from app.tables import ContestProblemRow, ContestRow, JudgementRow, RejudgingRow, SubmissionRow

# Applying does not wait for the judgements of submissions that are younger.
LATEST = timedelta(seconds=10)
# State of an open rejudging, as its judgements tell.
JUDGING, READY = "judging", "ready"


@dataclass(frozen=True, slots=True)
class Progress:
    """The numbers of a rejudging's judgements that are done, and that failed by the judge's own fault."""

    done: int
    total: int
    errors: int


def contests_of(row: RejudgingRow) -> list[str]:
    """The contests a rejudging concerns: more than its own where a problem itself changes."""
    return list(row.selection.get("contests", [row.contest_id]))


def judges(row: RejudgingRow) -> bool:
    """Whether the rejudging has judgements. A change of points alone has none."""
    return bool(row.changes.get("judging", True))


def grows(row: RejudgingRow) -> bool:
    """Whether the rejudging takes in what is submitted while it is open."""
    return bool(row.changes) and judges(row)


def rejudgings(session: Session, contest_id: str) -> list[RejudgingRow]:
    """Rejudgings that concern a contest, its own and those of its problems, oldest first."""
    rows = session.scalars(select(RejudgingRow).order_by(RejudgingRow.id))
    return [row for row in rows if contest_id in contests_of(row)]


def get(session: Session, contest_id: str, rejudging_id: int) -> RejudgingRow | None:
    """One rejudging, or None."""
    row = session.get(RejudgingRow, rejudging_id)
    return row if row is not None and contest_id in contests_of(row) else None


def still_open(session: Session) -> Sequence[RejudgingRow]:
    """Rejudgings that are neither applied nor cancelled, oldest first."""
    return session.scalars(select(RejudgingRow).where(RejudgingRow.state == OPEN).order_by(RejudgingRow.id)).all()


def open_of_problem(session: Session, problem_id: str) -> RejudgingRow | None:
    """The open rejudging that changes a problem; there is one at most."""
    return next((row for row in still_open(session) if row.changes.get("problem_id") == problem_id), None)


def progress(session: Session, rejudging_id: int) -> Progress:
    """The progress of a rejudging."""
    done, errors = (func.count().filter(each) for each in (JudgementRow.state == DONE, JudgementRow.type == "JE"))
    query = select(done, func.count(), errors).where(JudgementRow.rejudging_id == rejudging_id)
    return Progress(*session.execute(query).one())


def selected(row: RejudgingRow) -> Select[int]:
    """The submissions a rejudging is about: those selected, and where a problem changes, all that anyone sends."""
    wanted, query = row.selection, select(SubmissionRow.id)
    query = query.where(SubmissionRow.contest_id.in_(contests_of(row)))
    if "problem" in wanted:
        query = query.where(SubmissionRow.problem_id == wanted["problem"])
    if "team" in wanted:
        query = query.where(SubmissionRow.team_id == wanted["team"])
    if "submissions" in wanted:
        query = query.where(SubmissionRow.id.in_(wanted["submissions"]))
    if not row.changes:
        judged = (JudgementRow.submission_id == SubmissionRow.id) & JudgementRow.current.is_(True)
        query = query.where(exists().where(judged, JudgementRow.state == DONE))
    return query


def lacking_newcomers(session: Session) -> list[int]:
    """The open rejudgings of changed problems that have had submissions since their last judgement was queued."""
    lacking = []
    for row in filter(grows, still_open(session)):
        last = session.scalar(select(func.max(JudgementRow.submission_id)).where(JudgementRow.rejudging_id == row.id))
        if session.scalar(selected(row).where(SubmissionRow.id > (last or 0)).limit(1)) is not None:
            lacking.append(row.id)
    return lacking


def missing(row: RejudgingRow) -> Select[int]:
    """The submissions among these that the rejudging has no judgement of yet."""
    mine = exists().where(JudgementRow.rejudging_id == row.id, JudgementRow.submission_id == SubmissionRow.id)
    return selected(row).where(~mine)


def unanswered(session: Session, row: RejudgingRow) -> list[str]:
    """The test cases that applying it would leave without an expected answer, so that no one could answer them."""
    cases = {name: case for name, case in row.changes.get("cases", {}).items() if case is not None}
    if row.state not in {OPEN, UNDONE} or all(case["answer_sha256"] is not None for case in cases.values()):
        return []
    version = problem_diff.document(session, row.changes["problem_id"], row.contest_id)
    return problem_diff.unanswered(version["cases"], cases)


def unjudged(session: Session, row: RejudgingRow) -> set[int]:
    """The submissions that lack a finished judgement: its own, or the one that counts, which undoing would restore.

    Their unfinished judgements are locked: in the order in which outcomes are recorded, so that neither waits in vain.
    """
    mine = select(JudgementRow.submission_id).where(JudgementRow.rejudging_id == row.id)
    current = JudgementRow.current.is_(True) & JudgementRow.submission_id.in_(mine)
    query = select(JudgementRow.submission_id).where(
        JudgementRow.state != DONE, (JudgementRow.rejudging_id == row.id) | current
    )
    lacking = set(session.scalars(query.order_by(JudgementRow.id).with_for_update()))
    return lacking | set(session.scalars(missing(row))) if grows(row) else lacking


def judged(session: Session, contest_id: str, row: RejudgingRow) -> Sequence[JudgementRow]:
    """The finished judgements of a contest's submissions that a rejudging has: its own, those before and after."""
    mine = aliased(JudgementRow)
    theirs = select(mine.submission_id).where(mine.rejudging_id == row.id)
    query = (
        select(JudgementRow)
        .join(SubmissionRow, SubmissionRow.id == JudgementRow.submission_id)
        .where(SubmissionRow.contest_id == contest_id, JudgementRow.submission_id.in_(theirs))
        .where(JudgementRow.state == DONE)
        .order_by(JudgementRow.id)
    )
    return session.scalars(query).all()


class RejudgingRefused(Conflict):
    """A step contradicts another rejudging, or what has happened since; the message names it."""


class NotJudgedYet(RejudgingRefused):
    """A rejudging cannot be applied while judgements are left to do; a moment later it may."""

    def __init__(self, message: str | Message, /, **values: object) -> None:
        super().__init__(as_message(message, values), retry_after=1)


def refuse_overlap(session: Session, row: RejudgingRow) -> None:
    """Refuse a rejudging that shares submissions to judge, or the problem that it changes, with another open one."""
    for other in still_open(session):
        if other.id == row.id:
            continue
        if row.changes and other.changes and row.changes["problem_id"] == other.changes["problem_id"]:
            raise RejudgingRefused(
                N_("rejudging %(rejudging)s (%(contest)s) changes this problem already"),
                rejudging=other.id,
                contest=other.contest_id,
            )
        if count := _count_shared(session, row, other):
            raise RejudgingRefused(
                N_(
                    "%(count)s of the submissions are in the open rejudging %(rejudging)s (%(contest)s): "
                    "apply or cancel it first"
                ),
                count=count,
                rejudging=other.id,
                contest=other.contest_id,
            )


def _count_shared(session: Session, row: RejudgingRow, other: RejudgingRow) -> int:
    """The submissions of a rejudging that another one has judgements of; none where only points change."""
    if not (judges(row) and judges(other)):
        return 0
    mine = selected(row).subquery()
    its = (JudgementRow.submission_id == mine.c.id) & (JudgementRow.rejudging_id == other.id)
    return session.scalar(select(func.count()).select_from(mine).join(JudgementRow, its)) or 0


def refuse_changed(session: Session, row: RejudgingRow) -> None:
    """Refuse judgements of selected submissions if another rejudging has changed their problem since this one began.

    It was applied, or undone: some of the judgements are of a version that the problem has no longer.
    """
    if row.changes:
        return  # `apply` compares the problem
    query = select(RejudgingRow).where(RejudgingRow.id != row.id, RejudgingRow.applied.is_not(None))
    query = query.where((RejudgingRow.applied > row.created) | (RejudgingRow.ended > row.created))
    for other in session.scalars(query.order_by(RejudgingRow.id)):
        if other.changes and _count_shared(session, other, row):
            raise RejudgingRefused(
                N_("%(problem)s has been changed since: cancel this and make a new one"),
                problem=other.changes["problem_id"],
            )


def refuse_pinned(session: Session, row: RejudgingRow) -> None:
    """Refuse a change of the problem's rows that one of its contests would not get, as it stays with a version."""
    if "pins" in row.changes or row.changes.keys().isdisjoint(versions.MANIFEST):
        return
    problem_id = row.changes["problem_id"]
    for contest_id in contests_of(row):
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


def refuse_final(session: Session, row: RejudgingRow) -> None:
    """No contest of it is final, nor becomes so before the end of this transaction."""
    query = select(ContestRow.id, ContestRow.finalized).where(ContestRow.id.in_(contests_of(row)))
    rows = session.execute(query.order_by(ContestRow.id).with_for_update(read=True))
    if final := [contest_id for contest_id, finalized in rows if finalized is not None]:
        raise RejudgingRefused(
            N_("contest %(contest)s is final; finalized: false opens it again"), contest=", ".join(final)
        )


def refuse_unanswered(session: Session, row: RejudgingRow) -> None:
    """No test case would be dropped because its expected answer is still to be made."""
    if names := unanswered(session, row):
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


def refuse_unjudged(session: Session, row: RejudgingRow, lacking: Collection[int]) -> None:
    """Refuse where one of these submissions would lose its verdict, except the latest: they have a new one soon."""
    query = (
        select(func.count())
        .select_from(SubmissionRow)
        .join(JudgementRow, (JudgementRow.submission_id == SubmissionRow.id) & JudgementRow.current.is_(True))
        .where(JudgementRow.state == DONE)
    )
    if grows(row):
        query = query.where(SubmissionRow.time <= max(row.created, utc_now() - LATEST))
    count = sum(session.scalar(query.where(some)) or 0 for some in few(SubmissionRow.id, lacking))
    if count:
        raise NotJudgedYet(
            N_(
                "%(count)s of %(total)s judgements are not done yet: apply it again in a moment, or pause the contest "
                "first where its submissions come faster than they are judged"
            ),
            count=count,
            total=progress(session, row.id).total,
        )


def new_errors(session: Session, row: RejudgingRow) -> int:
    """Judgements that end in a judge error where there is a verdict now."""
    live = aliased(JudgementRow)
    query = (
        select(func.count())
        .select_from(JudgementRow)
        .join(live, (live.submission_id == JudgementRow.submission_id) & live.current.is_(True))
        .where(JudgementRow.rejudging_id == row.id, JudgementRow.type == "JE", live.state == DONE, live.type != "JE")
    )
    return session.scalar(query) or 0


def refuse_later(session: Session, row: RejudgingRow) -> None:
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
