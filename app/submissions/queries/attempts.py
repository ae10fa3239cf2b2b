"""The attempts of a contest with their raw scores, which boards are computed from, read quickly and only once.

Raw scores of a finished judgement never change, so they are kept between readings by the judgement's id; a reading
fetches one short row a submission, of all or only of those that are said to have changed, and raw scores only of
judgements not seen before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol, TypeVarTuple

from sqlalchemy import ColumnElement, Row, Select, case, select, true
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.core.db.by_id import portions
from app.domain.counting import Attempt, CaseVerdict, RawScore, exact
from app.submissions.tables import DONE
from app.tables import JudgementRow, RawScoreRow, SubmissionRow, TestCaseRow

Ts = TypeVarTuple("Ts")
Scores = Mapping[str, RawScore]
# Raw scores by judgement, as read before, of one contest.
KnownScores = dict[int, Scores]
# Of a submission: its id, team, account, problem, contest time (ms), last change, and current finished judgement.
SubmittedRow = Row[int, str | None, str, str, int, datetime, int | None]
# The columns of a raw score, as in COLUMNS.
ScoreRow = Row[int, int, str, int | None, int | None, int | None, int | None]
MILLISECOND = timedelta(milliseconds=1)


def attempts(session: Session, contest_id: str, known: KnownScores | None = None) -> list[Attempt]:
    """Every attempt, in order of submission, judged as by the current finished judgement."""
    known = known if known is not None else {}
    rows = _submissions(session, contest_id)
    judged = {row[-1] for row in rows if row[-1] is not None}
    for gone in known.keys() - judged:
        del known[gone]
    known.update(scores_of(session, judged - known.keys()) if known else _all_scores(session, contest_id))
    return [_read(row, known) for row in rows]


def some_attempts(session: Session, contest_id: str, ids: Collection[int], known: KnownScores) -> list[Attempt]:
    """As `attempts`, but only those of these submissions that there are."""
    rows = [row for some in few(SubmissionRow.id, ids) for row in _submissions(session, contest_id, some)]
    known.update(scores_of(session, {row[-1] for row in rows if row[-1] is not None} - known.keys()))
    return [_read(row, known) for row in rows]


def _read(row: SubmittedRow, known: KnownScores) -> Attempt:
    id_, team_id, account_id, problem_id, contest_time_ms, latest, judgement_id = row
    scores = None if judgement_id is None else known.setdefault(judgement_id, {})
    return Attempt(id_, _team(team_id, account_id), problem_id, contest_time_ms * MILLISECOND, scores, latest)


class Sender(Protocol):
    """A submission, as far as it says who sent it: a team, and an account."""

    @property
    def team_id(self) -> str | None: ...  # noqa: D102
    @property
    def account_id(self) -> str: ...  # noqa: D102


def attempt_team(row: Sender) -> str:
    """The team that a submission's row counts for; for an account without one (on no board) the account."""
    return _team(row.team_id, row.account_id)


def _team(team_id: str | None, account_id: str) -> str:
    return team_id if team_id is not None else f"~{account_id}"


def _submissions(session: Session, contest_id: str, some: ColumnElement[bool] | None = None) -> Sequence[SubmittedRow]:
    current = (
        (JudgementRow.submission_id == SubmissionRow.id)
        & (JudgementRow.current.is_(True))
        & (JudgementRow.state == DONE)
    )
    query = (
        select(
            SubmissionRow.id,
            SubmissionRow.team_id,
            SubmissionRow.account_id,
            SubmissionRow.problem_id,
            SubmissionRow.contest_time_ms,
            case((JudgementRow.end_time > SubmissionRow.time, JudgementRow.end_time), else_=SubmissionRow.time),
            JudgementRow.id.label("judgement_id"),
        )
        .outerjoin(JudgementRow, current)
        .where(SubmissionRow.contest_id == contest_id)
        .order_by(SubmissionRow.id)
    )
    return _rows(session, query if some is None else query.where(some))


def few(
    column: ColumnElement[int] | InstrumentedAttribute[int], among: Collection[int] | None
) -> Iterator[ColumnElement[bool]]:
    """Conditions that hold a column among ids, so many at a time as any database takes; one that holds always."""
    if among is None:
        return iter([true()])
    return (column.in_(some) for some in portions(among))


def _rows(session: Session, query: Select[*Ts]) -> Sequence[Row[*Ts]]:
    """Rows as the connection gives them: the session's own way through the mapped classes costs twice as much."""
    session.flush()  # as the session's own queries do
    return session.connection().execute(query).all()


COLUMNS = (
    RawScoreRow.judgement_id,
    RawScoreRow.test_case_id,
    RawScoreRow.verdict,
    RawScoreRow.raw_num,
    RawScoreRow.raw_den,
    RawScoreRow.multiplier_num,
    RawScoreRow.multiplier_den,
)


def _all_scores(session: Session, contest_id: str) -> dict[int, Scores]:
    query = (
        select(*COLUMNS)
        .join(JudgementRow, JudgementRow.id == RawScoreRow.judgement_id)
        .join(SubmissionRow, SubmissionRow.id == JudgementRow.submission_id)
        .where(SubmissionRow.contest_id == contest_id, JudgementRow.current.is_(True), JudgementRow.state == DONE)
    )
    return _collect(session, _rows(session, query))


def scores_of(session: Session, judgements: Collection[int]) -> dict[int, Scores]:
    """The raw scores of these judgements, by judgement and case."""
    scores: dict[int, Scores] = {}
    for some in few(RawScoreRow.judgement_id, judgements):
        scores.update(_collect(session, _rows(session, select(*COLUMNS).where(some))))
    return scores


VERDICTS = {verdict.value: verdict for verdict in CaseVerdict}


def _collect(session: Session, rows: Collection[ScoreRow]) -> dict[int, Scores]:
    """The raw scores by judgement and case: hundreds of thousands at a cold start, so each line here is a second."""
    names = _case_names(session, {row[1] for row in rows})
    scores: defaultdict[int, dict[str, RawScore]] = defaultdict(dict)
    for judgement_id, case_id, verdict, raw, raw_den, share, share_den in rows:
        raw_score = raw if raw_den == 1 else exact(raw, raw_den)
        scores[judgement_id][names[case_id]] = RawScore(VERDICTS[verdict], raw_score, exact(share, share_den))
    return dict(scores)


def _case_names(session: Session, ids: Collection[int]) -> dict[int, str]:
    """The names of test cases, each read once, however many raw scores it has."""
    names: dict[int, str] = {}
    for some in few(TestCaseRow.id, ids):
        names.update((id_, name) for id_, name in _rows(session, select(TestCaseRow.id, TestCaseRow.name).where(some)))
    return names
