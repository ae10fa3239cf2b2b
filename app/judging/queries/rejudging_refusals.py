"""Why a step of a rejudging is refused: another rejudging, a final contest, or judgements that are not done."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from app.core.errors import Conflict
from app.core.messages import N_, Message, as_message
from app.judging.queries import rejudgings
from app.judging.queries.rejudgings import Progress
from app.problems.queries import versions
from app.submissions.queries.attempts import contests_of, grows, judges
from app.submissions.tables import DONE
from app.tables import ContestProblemRow, ContestRow, JudgementRow, RejudgingRow


class RejudgingRefused(Conflict):
    """A step contradicts another rejudging, or what has happened since; the message names it."""


class NotJudgedYet(RejudgingRefused):
    """A rejudging cannot be applied while judgements are left to do; a moment later it may."""

    def __init__(self, message: str | Message, /, **values: object) -> None:
        super().__init__(as_message(message, values), retry_after=1)


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
        if not (judges(row) and judges(other)):
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


def refuse_pinned(session: Session, row: RejudgingRow) -> None:
    """Refuse a change of the problem's rows that one of its contests would not get, as it stays with a version."""
    if "pins" in row.changes or row.changes.keys().isdisjoint(versions.PARTS):
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


def refuse_unjudged(session: Session, row: RejudgingRow) -> None:
    """Refuse a rejudging without a finished judgement of each of its submissions."""
    newcomers = rejudgings.missing(row).subquery() if grows(row) else None
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
    if grows(row) and (count := len(rejudgings.unjudged(session, row))):
        raise NotJudgedYet(
            N_("%(count)s submissions have not been judged by the problem as it is yet: apply it again"), count=count
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
