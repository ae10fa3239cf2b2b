"""Reading submissions, judgements and runs back, for those who may see them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from app.contests.tables import APPLIED
from app.core.db.by_id import as_id
from app.domain.documents import MessageDocument
from app.problems.queries import pins
from app.submissions.queries.attempts import few
from app.submissions.tables import DONE
from app.tables import JudgementRow, RawScoreRow, RejudgingRow, SubmissionRow, TestCaseRow


class RunScore(NamedTuple):
    """The columns of a raw score that a run shows: there are hundreds of thousands, too many for mapped objects."""

    judgement_id: int
    test_case_id: int
    verdict: str
    raw_num: int | None
    raw_den: int | None
    message: MessageDocument
    run_time_ms: int
    time: datetime


class ScoredCase(NamedTuple):
    """One case of one judgement: its raw score, the case, and the number of the submission it is of."""

    score: RunScore
    case_name: str
    ordinal: int
    submission_id: int


RUN_COLUMNS = tuple(getattr(RawScoreRow, name) for name in RunScore._fields)


def submissions(session: Session, contest_id: str, among: Collection[int] | None = None) -> Sequence[SubmissionRow]:
    """All submissions of a contest, or those among the ids given, in order."""
    own = SubmissionRow.contest_id == contest_id if among is None else is_of(contest_id)
    query = select(SubmissionRow).where(own).order_by(SubmissionRow.id)
    return [row for some in few(SubmissionRow.id, among) for row in session.scalars(query.where(some))]


# Ids of teams; None: of all, and of those who have none.
Teams = Collection[str] | None


def next_ids(
    session: Session, contest_id: str, after: int, most: int, *, teams: Teams = None, problem_id: str | None = None
) -> list[int]:
    """The ids of at most so many submissions after one of them, in order."""
    query = select(SubmissionRow.id).where(SubmissionRow.contest_id == contest_id, SubmissionRow.id > after)
    if teams is not None:
        query = query.where(SubmissionRow.team_id.in_(sorted(teams)))
    if problem_id is not None:
        query = query.where(SubmissionRow.problem_id == problem_id)
    return list(session.scalars(query.order_by(SubmissionRow.id).limit(most)))


def is_of(contest_id: str) -> ColumnElement[bool]:
    """The submissions of a contest, where rows are looked up by other ids: a condition that no index serves.

    Without statistics SQLite expects ten submissions a contest, and would go through all there are for 85 ids or more.
    """
    return SubmissionRow.contest_id.concat("") == contest_id


def submission(session: Session, contest_id: str, submission_id: str) -> SubmissionRow | None:
    """One submission by the id it is shown under, or None."""
    number = as_id(submission_id)
    row = None if number is None else session.get(SubmissionRow, number)
    if row is not None and row.contest_id == contest_id and row.external_id is None:
        return row
    return by_external_id(session, contest_id, submission_id)


def shown_ids(session: Session, submission_ids: Iterable[int]) -> dict[int, str]:
    """The ids that submissions are shown under, by the numbers of their rows."""
    query = select(SubmissionRow.id, SubmissionRow.external_id)
    rows = (row for some in few(SubmissionRow.id, set(submission_ids)) for row in session.execute(query.where(some)))
    return {number: external or str(number) for number, external in rows}


def all_shown_ids(session: Session, contest_id: str) -> set[str | None]:
    """The ids that all submissions of a contest are shown under."""
    query = select(SubmissionRow.id, SubmissionRow.external_id).where(SubmissionRow.contest_id == contest_id)
    return {external or str(number) for number, external in session.execute(query)}


def visible_judgements(session: Session, contest_id: str) -> list[int]:
    """The ids of all judgements of a contest but for those of rejudgings that are not applied, in order."""
    query = (
        select(JudgementRow.id)
        .join(SubmissionRow, SubmissionRow.id == JudgementRow.submission_id)
        .where(SubmissionRow.contest_id == contest_id, is_visible())
        .order_by(JudgementRow.id)
    )
    return list(session.scalars(query))


def judgements_of(session: Session, rows: Collection[SubmissionRow]) -> list[tuple[JudgementRow, SubmissionRow]]:
    """The judgements of submissions that have been read, each with its submission, in order."""
    owners = {row.id: row for row in rows}
    query = select(JudgementRow).where(is_visible()).order_by(JudgementRow.id)
    some = few(JudgementRow.submission_id, owners)
    return [(row, owners[row.submission_id]) for few in some for row in session.scalars(query.where(few))]


def judgement(session: Session, contest_id: str, number: int | None) -> tuple[JudgementRow, SubmissionRow] | None:
    """The judgement of this number with its submission, or None."""
    query = (
        select(JudgementRow, SubmissionRow)
        .join(SubmissionRow, SubmissionRow.id == JudgementRow.submission_id)
        .where(JudgementRow.id == (number or 0), SubmissionRow.contest_id == contest_id, is_visible())
    )
    row = session.execute(query).one_or_none()
    return None if row is None else (row[0], row[1])


def current_judgement(session: Session, submission_id: int) -> JudgementRow:
    """The judgement that stands for a submission now, finished or not."""
    query = select(JudgementRow).where(JudgementRow.submission_id == submission_id, JudgementRow.current.is_(True))
    return session.scalars(query.order_by(JudgementRow.id.desc()).limit(1)).one()


def longest_runs(session: Session, contest_id: str, among: Collection[int] | None) -> dict[int, int]:
    """The longest run time, in milliseconds, of each finished judgement of these submissions; None: of all."""
    query = (
        select(RawScoreRow.judgement_id, func.max(RawScoreRow.run_time_ms))
        .join(JudgementRow, JudgementRow.id == RawScoreRow.judgement_id)
        .join(SubmissionRow, SubmissionRow.id == JudgementRow.submission_id)
        .where(SubmissionRow.contest_id == contest_id)
        .group_by(RawScoreRow.judgement_id)
    )
    rows = (row for some in few(SubmissionRow.id, among) for row in session.execute(query.where(some)))
    return {judgement_id: longest for judgement_id, longest in rows}  # noqa: C416 - a Row is no pair


@dataclass(frozen=True, slots=True)
class _Cases:
    """The cases that a contest has: a condition of queries, and the ordinals, by id, that differ from the rows'."""

    condition: ColumnElement[bool]
    ordinals: Mapping[int, int]


def cases_of(session: Session, contest_id: str) -> _Cases:
    """The problem's cases as they are, and for earlier versions those of the version."""
    pinned = pins.ordinals(session, contest_id)
    current = TestCaseRow.removed.is_(False)
    if not pinned:
        return _Cases(current, {})
    ordinals = {id_: ordinal for by_id in pinned.values() for id_, ordinal in by_id.items()}
    others = current & TestCaseRow.problem_id.not_in(list(pinned))
    return _Cases(others | TestCaseRow.id.in_(list(ordinals)), ordinals)


def runs(
    session: Session,
    contest_id: str,
    *,
    among: Collection[int] | None = None,
    judgements: Collection[int] | None = None,
) -> list[tuple[ScoredCase, SubmissionRow]]:
    """The finished runs of a contest, or of some submissions or judgements, each with its submission."""
    cases = scored_cases(session, contest_id, among=among, judgements=judgements)
    owners = {row.id: row for row in submissions(session, contest_id, {each.submission_id for each in cases})}
    return [(each, owners[each.submission_id]) for each in cases]


def scored_cases(
    session: Session,
    contest_id: str,
    *,
    among: Collection[int] | None = None,
    judgements: Collection[int] | None = None,
) -> list[ScoredCase]:
    """The finished runs of a contest, as `runs`, without the rows of their submissions."""
    cases = cases_of(session, contest_id)
    query = (
        select(*RUN_COLUMNS, TestCaseRow.name, TestCaseRow.ordinal, SubmissionRow.id)
        .join(TestCaseRow, TestCaseRow.id == RawScoreRow.test_case_id)
        .join(JudgementRow, JudgementRow.id == RawScoreRow.judgement_id)
        .join(SubmissionRow, SubmissionRow.id == JudgementRow.submission_id)
        .where(SubmissionRow.contest_id == contest_id if judgements is None else is_of(contest_id))
        .where(is_visible(), cases.condition)
        .order_by(RawScoreRow.judgement_id, TestCaseRow.ordinal)
    )
    chosen = few(JudgementRow.id, judgements) if judgements is not None else few(SubmissionRow.id, among)
    rows = (row for some in chosen for row in session.execute(query.where(some)))
    made = [ScoredCase(RunScore(*row[:-3]), *row[-3:]) for row in rows]
    if not cases.ordinals:
        return made
    shown = [each._replace(ordinal=cases.ordinals.get(each.score.test_case_id, each.ordinal)) for each in made]
    return sorted(shown, key=lambda run: (run.score.judgement_id, run.ordinal))


def current_scores(session: Session, submission_ids: Iterable[int]) -> dict[tuple[int, str], RawScoreRow]:
    """Scores of the current finished judgements of some submissions, by submission and case name."""
    query = (
        select(JudgementRow.submission_id, TestCaseRow.name, RawScoreRow)
        .join(RawScoreRow, RawScoreRow.judgement_id == JudgementRow.id)
        .join(TestCaseRow, TestCaseRow.id == RawScoreRow.test_case_id)
        .where(JudgementRow.submission_id.in_(sorted(submission_ids)))
        .where(JudgementRow.current.is_(True), JudgementRow.state == DONE)
    )
    return {(submission_id, name): row for submission_id, name, row in session.execute(query)}


def of_team(
    session: Session,
    contest_id: str,
    team_id: str,
    most: int,
    problem_id: str | None = None,
    before: int | None = None,
) -> Sequence[SubmissionRow]:
    """Return a team's last submissions in a contest, or to one of its problems, before a row; newest first."""
    query = select(SubmissionRow).where(SubmissionRow.contest_id == contest_id, SubmissionRow.team_id == team_id)
    if problem_id is not None:
        query = query.where(SubmissionRow.problem_id == problem_id)
    if before is not None:
        query = query.where(SubmissionRow.id < before)
    return session.scalars(query.order_by(SubmissionRow.id.desc()).limit(most)).all()


def by_external_id(session: Session, contest_id: str, external_id: str) -> SubmissionRow | None:
    """The submission another system gave this id."""
    query = select(SubmissionRow).where(
        SubmissionRow.contest_id == contest_id, SubmissionRow.external_id == external_id
    )
    return session.scalars(query).one_or_none()


def find_repeated(session: Session, account_id: str, contest_id: str, key: str) -> SubmissionRow | None:
    """The submission an Idempotency-Key was first used for."""
    return session.scalars(
        select(SubmissionRow).where(
            SubmissionRow.account_id == account_id,
            SubmissionRow.contest_id == contest_id,
            SubmissionRow.idempotency_key == key,
        )
    ).one_or_none()


def is_visible() -> ColumnElement[bool]:
    """Of judgements: those that came with their submission, and those of rejudgings that have been applied.

    A condition that no index serves, as of `is_of`: SQLite would go through all judgements there are.
    """
    applied, rejudging_id = select(RejudgingRow.id).where(RejudgingRow.state == APPLIED), JudgementRow.rejudging_id + 0
    return rejudging_id.is_(None) | rejudging_id.in_(applied)
