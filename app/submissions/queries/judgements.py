"""Judgements: the rows are the queue. Claiming fences, recording is done once, a restart puts the rest back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from typing import NamedTuple, cast

from sqlalchemy import Connection, Select, exists, func, literal, literal_column, select, update
from sqlalchemy.orm import Session

from app.contests.schemas import Rule
from app.core.db.base import among, given, insert_rows, is_postgresql, update_rows
from app.core.db.by_id import outbox_of
from app.core.db.commits import Trace
from app.core.db.locks import gone_processes
from app.core.db.writer import TRACES, AnyHandler
from app.domain.documents import CaseAnswer, FoundScore, ProblemSettingsDocument
from app.domain.scoring import pair
from app.submissions.tables import DONE, RUNNING
from app.tables import JudgementRow, ProblemRow, RawScoreRow, SubmissionRow, TestCaseRow

# Those that are not done. No parameter: a plan for any would not use the index of those that are open.
OPEN = JudgementRow.state != literal_column(f"'{DONE}'")


@dataclass(frozen=True, slots=True)
class Task:
    """A judgement to be made: what to check, with which settings, and how it will be summed up.

    `counted_cases` has a negative number for each case that is not there yet, but will be when a rejudging is applied.
    `lost` counts the attempts whose process was gone before they ended, and `error` says what was noted of the last.
    """

    judgement_id: int
    submission_id: int
    attempt: int
    contest_id: str
    problem_id: str
    settings: ProblemSettingsDocument
    rule: Rule
    counted_cases: frozenset[int]
    answers: Sequence[CaseAnswer]
    rejudging_id: int | None = None
    submitted: datetime | None = None
    lost: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one attempt at a judgement."""

    judgement_id: int
    attempt: int
    type: str
    scores: Sequence[FoundScore]
    time: datetime
    error: str | None = None


# Who is charged with the grading time of a judgement: see `payer`.
PAYER = func.coalesce(
    JudgementRow.team_id,
    literal("account ")
    + select(SubmissionRow.account_id).where(SubmissionRow.id == JudgementRow.submission_id).scalar_subquery(),
)


def payer(team_id: str | None, account_id: str) -> str:
    """Return who is charged with the grading time of a submission: the team, or the account if there is none."""
    return team_id or f"account {account_id}"


def waiting(session: Session, *, rejudging: bool = False) -> list[int]:
    """Ids of every judgement somebody waits for that is not done, oldest first; or of those that rejudgings have."""
    lane = JudgementRow.rejudging_id.is_not(None) if rejudging else JudgementRow.rejudging_id.is_(None)
    query = select(JudgementRow.id).where(OPEN, lane)
    return list(session.scalars(query.order_by(JudgementRow.id)))


def waiting_by_team(session: Session) -> list[tuple[int, str]]:
    """Every judgement somebody waits for that is not done, oldest first, with who is charged for it."""
    query = select(JudgementRow.id, PAYER).where(OPEN, JudgementRow.rejudging_id.is_(None))
    return [(id_, key) for id_, key in session.execute(query.order_by(JudgementRow.id))]


def count_waiting(session: Session) -> int:
    """The number of judgements somebody waits for that are not done."""
    query = select(func.count()).where(OPEN, JudgementRow.rejudging_id.is_(None))
    return session.scalar(query) or 0


def unjudged(session: Session, judgement_ids: Sequence[int]) -> int:
    """The number of these that are not done yet."""
    query = select(func.count()).where(JudgementRow.id.in_(judgement_ids), JudgementRow.state != DONE)
    return session.scalar(query) or 0


class Claim(NamedTuple):
    """A judgement that a process wants to begin; `process_id` None: of one that gives no signs of life.

    `alone`: it judges nothing else meanwhile of which an attempt was lost with its process.
    """

    judgement_id: int
    process_id: str | None
    alone: bool = True


def begin_many(connection: Connection, claims: Sequence[Claim]) -> list[int | None]:
    """Begin an attempt at each judgement; returns its attempt number, or None where it is done already.

    An attempt whose process is gone is counted as lost. Such a judgement may have been its neighbour's victim: it is
    begun only `alone`, and 0 is returned otherwise.

    The rows are locked from the look on, here and in `record_many`: a judgement that another worker ends in between
    would be opened again for good, as no outcome can be recorded beside the scores that it has.

    Like `fail_many` and `record_many` this is a handler of the writer, which calls it for all that wait at once.
    """
    wanted = {claim.judgement_id: claim for claim in claims}
    postgresql = is_postgresql(connection)
    open_ones = connection.execute(_open_ones(postgresql=postgresql), given(wanted, postgresql=postgresql))
    rows = open_ones.all()
    others = {row.process_id for row in rows if row.state == RUNNING and row.process_id != wanted[row.id].process_id}
    gone = gone_processes(connection, {id_ for id_ in others if id_ is not None})
    attempts: dict[int, int] = {}
    for row in rows:
        lost_now = row.state == RUNNING and row.process_id in gone
        if (row.lost or lost_now) and not wanted[row.id].alone:
            attempts[row.id] = 0
            continue
        attempts[row.id] = row.attempt + 1
        if lost_now:
            _count_lost(connection, row.id, row.attempt, gone[row.process_id])
    begun = [
        {"id": id_, "state": RUNNING, "attempt": attempt, "process_id": wanted[id_].process_id}
        for id_, attempt in attempts.items()
        if attempt
    ]
    update_rows(connection, JudgementRow, begun)
    return [attempts.get(claim.judgement_id) for claim in claims]


@cache
def _open_ones(*, postgresql: bool) -> Select[int, int, str, str | None, int]:
    """A statement is made once: making it takes as long as running it."""
    columns = (JudgementRow.id, JudgementRow.attempt, JudgementRow.state, JudgementRow.process_id, JudgementRow.lost)
    open_ones = select(*columns).where(among(JudgementRow.id, postgresql=postgresql), JudgementRow.state != DONE)
    return open_ones.order_by(JudgementRow.id).with_for_update(key_share=True)


def _count_lost(connection: Connection, id_: int, attempt: int, process: str) -> None:
    error = (
        f"attempt {attempt}: the {process} was killed or lost before it ended. If that happens to this answer alone,"
        " judging it may take more memory than that machine or container has: see its log"
    )
    connection.execute(
        update(JudgementRow).where(JudgementRow.id == id_).values(lost=JudgementRow.lost + 1, error=error)
    )


@dataclass(frozen=True, slots=True)
class Failure:
    """An attempt that failed by the judge's own fault."""

    judgement_id: int
    attempt: int
    error: str


def fail_many(connection: Connection, failures: Sequence[Failure]) -> list[int]:
    """Count failed attempts; returns how often each judgement has failed by now."""
    counts = []
    for failure in failures:
        count = connection.execute(
            select(JudgementRow.failures).where(
                JudgementRow.id == failure.judgement_id, JudgementRow.attempt == failure.attempt
            )
        ).scalar()
        counts.append((count or 0) + 1)
        connection.execute(
            update(JudgementRow)
            .where(JudgementRow.id == failure.judgement_id, JudgementRow.attempt == failure.attempt)
            .values(failures=counts[-1], error=failure.error)
        )
    return counts


def record_many(connection: Connection, outcomes: Sequence[Outcome]) -> list[bool]:
    """Write outcomes down, each at most once: False where a later attempt has begun or one is recorded already."""
    postgresql = is_postgresql(connection)
    named = given({outcome.judgement_id for outcome in outcomes}, postgresql=postgresql)
    open_ones = {row.id: row for row in connection.execute(_begun(postgresql=postgresql), named)}
    recorded: dict[int, Outcome] = {}
    for outcome in outcomes:
        row = open_ones.get(outcome.judgement_id)
        if row is not None and row.attempt == outcome.attempt:
            recorded.setdefault(row.id, outcome)
    _write(connection, recorded.values())
    if (outbox := outbox_of(connection)) is not None:  # other processes, whose places verdicts change
        for id_, row in open_ones.items():
            if id_ in recorded and not row.rejudging_id:
                outbox.add_board(row.contest_id, [row.submission_id])
    return [recorded.get(outcome.judgement_id) is outcome for outcome in outcomes]


@cache
def _begun(*, postgresql: bool) -> Select[int, int, int, int | None, str]:
    columns = (JudgementRow.id, JudgementRow.attempt, JudgementRow.submission_id, JudgementRow.rejudging_id)
    begun = (
        select(*columns, SubmissionRow.contest_id)
        .join(SubmissionRow, SubmissionRow.id == JudgementRow.submission_id)
        .where(among(JudgementRow.id, postgresql=postgresql), JudgementRow.state == RUNNING)
    )
    return begun.order_by(JudgementRow.id).with_for_update(key_share=True, of=JudgementRow)


def _trace_of_claim(payload: object, result: object) -> Trace | None:
    """What looks for the attempt that a claim began; None where it began none."""
    if not isinstance(payload, Claim) or not isinstance(result, int) or not result:
        return None
    return partial(_has_begun, payload, result)


def _has_begun(claim: Claim, attempt: int, connection: Connection) -> bool:
    own = (JudgementRow.attempt == attempt) & (JudgementRow.process_id == claim.process_id)
    query = select(exists().where(JudgementRow.id == claim.judgement_id, own | (JudgementRow.attempt > attempt)))
    return bool(connection.scalar(query))


def _trace_of_outcome(payload: object, result: object) -> Trace | None:
    """What looks for an outcome; None where it was not to be stored."""
    return partial(_is_recorded, payload) if isinstance(payload, Outcome) and result else None


def _is_recorded(outcome: Outcome, connection: Connection) -> bool:
    done = (JudgementRow.state == DONE) & (JudgementRow.attempt == outcome.attempt)
    return bool(connection.scalar(select(exists().where(JudgementRow.id == outcome.judgement_id, done))))


TRACES[cast(AnyHandler, begin_many)] = _trace_of_claim
TRACES[cast(AnyHandler, record_many)] = _trace_of_outcome


def _write(connection: Connection, outcomes: Collection[Outcome]) -> None:
    changes = [
        {"id": each.judgement_id, "state": DONE, "type": each.type, "end_time": each.time, "error": each.error}
        for each in outcomes
    ]
    scores = [score_row(each, score) for each in outcomes for score in each.scores]
    update_rows(connection, JudgementRow, changes)
    insert_rows(connection, (RawScoreRow, scores))


def score_row(outcome: Outcome, score: FoundScore) -> dict[str, object]:
    """The columns of one answer's raw score."""
    raw_num, raw_den = pair(score.raw)
    max_num, max_den = pair(score.max_raw)
    multiplier_num, multiplier_den = pair(score.multiplier)
    return {
        "judgement_id": outcome.judgement_id,
        "test_case_id": score.test_case_id,
        "verdict": score.verdict.value,
        "raw_num": raw_num,
        "raw_den": raw_den,
        "max_raw_num": max_num,
        "max_raw_den": max_den,
        "multiplier_num": multiplier_num,
        "multiplier_den": multiplier_den,
        "message": score.message,
        "judge_message": score.judge_message,
        "images": list(score.images) or None,
        "run_time_ms": score.run_time_ms,
        "time": outcome.time,
    }


def one_case_each(session: Session) -> list[tuple[str, str, str]]:
    """For every problem with a bundled checker its name, and the sha256 of one case's input and expected answer."""
    first = (
        select(func.min(TestCaseRow.id))
        .where(TestCaseRow.answer_sha256.is_not(None), TestCaseRow.removed.is_(False))
        .group_by(TestCaseRow.problem_id)
    )
    query = (
        select(ProblemRow.settings, TestCaseRow.input_sha256, TestCaseRow.answer_sha256)
        .join(TestCaseRow, TestCaseRow.problem_id == ProblemRow.id)
        .where(TestCaseRow.id.in_(first))
    )
    rows = session.execute(query)
    return [(row[0]["checker"], row[1], str(row[2])) for row in rows if row[0].get("program") is None]
