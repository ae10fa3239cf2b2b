"""Judgements: the rows are the queue. Claiming fences, recording is done once, a restart puts the rest back.

Guarantee 1: a restart, a crash or a frozen process leaves no judgement that no one works on. Its lost attempts count.
Guarantee 4: teams share grading time. Each row has a `turn` in seconds of grading; the time that a grader has used for
a team is added to the turns of its queued rows. One claim at a time chooses from the rows, also of several processes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple, cast

from sqlalchemy import (
    Connection,
    Integer,
    bindparam,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.orm import Session

from app.core.clock import utc_now
from app.core.db.by_id import outbox_of
from app.core.db.commits import Trace
from app.core.db.locks import SILENT, gone_processes, lock_names
from app.core.db.tables import ProcessRow, insert_rows, update_rows
from app.core.db.writer import TRACES, AnyHandler
from app.domain.counting import pair
from app.domain.documents import FoundScore
from app.submissions.tables import DONE, LIVE, QUEUED, REJUDGED, RUNNING
from app.tables import JudgementRow, RawScoreRow, SubmissionRow

QUEUE = "queue"
# Time of a judgement before its true time is known, and the least that its team is charged with then.
SECONDS_EACH = 0.01
LEAST_CHARGED = 0.1
# Those that are not done. No parameter: a plan for any would not use the index of those that are open.
UNFINISHED = JudgementRow.state != literal_column(f"'{DONE}'")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one attempt at a judgement."""

    judgement_id: int
    attempt: int
    type: str
    scores: Sequence[FoundScore]
    time: datetime
    error: str | None = None
    failures: int = 0


# Who is charged with the grading time of a judgement: the submission's team, or its account if it has none.
PAYER = func.coalesce(
    JudgementRow.team_id,
    literal("account ")
    + select(SubmissionRow.account_id).where(SubmissionRow.id == JudgementRow.submission_id).scalar_subquery(),
)


# Statements of the writer are built once: that takes as long as running them (guarantee 6).
# The judgements of a lane that a process may claim now, in their order.
CLAIMABLE = (
    select(JudgementRow.id, JudgementRow.attempt, JudgementRow.lost, JudgementRow.lane, PAYER.label("payer"))
    .where(
        UNFINISHED,
        JudgementRow.lane == bindparam("lane"),
        JudgementRow.state == QUEUED,
        or_(JudgementRow.not_before.is_(None), JudgementRow.not_before <= bindparam("now")),
        or_(JudgementRow.process_id.is_(None), JudgementRow.process_id == bindparam("process_id")),
    )
    .order_by(JudgementRow.lane, JudgementRow.turn, JudgementRow.id)
    .limit(bindparam("most", type_=Integer))
)
AT_WORK = select(PAYER, JudgementRow.lost, JudgementRow.process_id).where(JudgementRow.state == RUNNING)
WAITED_FOR = (UNFINISHED, JudgementRow.lane == LIVE)
NEW = select(JudgementRow.id, PAYER).where(*WAITED_FOR, JudgementRow.turn.is_(None)).order_by(JudgementRow.id)
TURNS = select(PAYER, func.max(JudgementRow.turn)).where(*WAITED_FOR, JudgementRow.turn.is_not(None)).group_by(PAYER)
SERVED = select(func.min(JudgementRow.turn)).where(*WAITED_FOR, JudgementRow.not_before.is_(None))


def due_lanes(session: Session, process_id: str | None) -> set[bool]:
    """Which queues have a judgement that may be claimed now: that of rejudgings (True), the other one (False)."""
    return {each for each in (False, True) if session.execute(CLAIMABLE, _asked(process_id, 1, rejudging=each)).first()}


@dataclass(frozen=True, slots=True)
class Claim:
    """A grader of a process asks for up to `most` judgements; `rejudging`: of rejudgings.

    It gets its share of those that wait, as one of so many `graders`.
    """

    process_id: str | None
    most: int
    graders: int = 1
    rejudging: bool = False


class Claimed(NamedTuple):
    """The judgements that were begun, with their attempts; `looked_at` are those that the claim chose from."""

    attempts: Mapping[int, int]
    looked_at: int


def claim_many(connection: Connection, claims: Sequence[Claim]) -> list[Claimed]:
    """Begin the next judgements by lane, turn and id.

    Teams of which a judgement is running come after the others: several graders serve several teams. A judgement that
    was lost with its process may have been its neighbour's victim, or the cause: it is begun alone, one at a time.

    Like `return_many` and `record_many` this is a handler of the writer, which calls it for all that wait at once.
    """
    lock_names(connection, [QUEUE])
    return [_claim(connection, claim) for claim in claims]


def _claim(connection: Connection, claim: Claim) -> Claimed:
    if not claim.rejudging:
        _give_turns(connection)
    rows = connection.execute(CLAIMABLE, _asked(claim.process_id, 2 * claim.most, rejudging=claim.rejudging)).all()
    running = connection.execute(AT_WORK).all() if rows else []
    if rows and rows[0].lost and not any(lost and process == claim.process_id for _, lost, process in running):
        # Alone: what else this process judges would be lost with it, and count as lost too.
        chosen = rows[:1]
    else:
        served = {payer for payer, _, _ in running}
        sound = sorted((row for row in rows if not row.lost), key=lambda row: (row.lane, row.payer in served))
        chosen = sound[: max(1, min(claim.most, len(sound) // claim.graders))]
    begun = [
        {"id": row.id, "state": RUNNING, "attempt": row.attempt + 1, "process_id": claim.process_id, "waits_for": None}
        for row in chosen
    ]
    update_rows(connection, JudgementRow, begun)
    return Claimed({row.id: row.attempt + 1 for row in chosen}, len(rows))


def _asked(process_id: str | None, most: int, *, rejudging: bool) -> dict[str, object]:
    return {"lane": REJUDGED if rejudging else LIVE, "now": utc_now(), "process_id": process_id, "most": most}


def _give_turns(connection: Connection) -> None:
    """Put new judgements behind those of their teams; a team without one is level with the team being served."""
    if not (new := connection.execute(NEW).all()):
        return
    last = {payer: turn or 0.0 for payer, turn in connection.execute(TURNS)}
    level = connection.scalar(SERVED) or 0.0
    placed = []
    for id_, payer in new:
        last[payer] = max(last[payer] + SECONDS_EACH, level) if payer in last else level
        placed.append({"id": id_, "turn": last[payer]})
    update_rows(connection, JudgementRow, placed)


@dataclass(frozen=True, slots=True)
class Later:
    """A judgement is claimed again after some seconds: its checker failed (`error`), or its process lacks a file.

    `is_grader_gone`: the grader has to be replaced first.
    """

    seconds: float = 0.0
    waits_for: str | None = None
    error: str | None = None
    is_grader_gone: bool = False


@dataclass(frozen=True, slots=True)
class Returned:
    """A judgement that a grader has worked on for `seconds`, which its team is charged with.

    With `later` it goes back to the queue. One that `stays` is left to the same process, which has the scores of its
    first cases.
    """

    judgement_id: int
    attempt: int
    seconds: float = 0.0
    later: Later | None = None
    stays: bool = False


def return_many(connection: Connection, returned: Sequence[Returned]) -> list[None]:
    """Put judgements back into the queue, and their teams behind those that have used less time."""
    lock_names(connection, [QUEUE])
    _give_turns(connection)  # first: those that came in the meantime are level with what was served then
    for each in returned:
        if (later := each.later) is None:
            continue
        not_before = utc_now() + timedelta(seconds=later.seconds) if later.seconds else None
        values: dict[str, object] = {"state": QUEUED, "not_before": not_before, "waits_for": later.waits_for}
        if not each.stays:
            values["process_id"] = None
        if later.error is not None:
            values |= {"failures": JudgementRow.failures + 1, "error": later.error}
        mine = (JudgementRow.id == each.judgement_id, JudgementRow.attempt == each.attempt)
        connection.execute(update(JudgementRow).where(*mine, JudgementRow.state == RUNNING).values(values))
    for each in returned:  # of those that are queued by now
        if each.seconds >= LEAST_CHARGED:
            payer = connection.scalar(select(PAYER).where(JudgementRow.id == each.judgement_id))
            behind = update(JudgementRow).where(UNFINISHED, JudgementRow.lane == LIVE, JudgementRow.state == QUEUED)
            connection.execute(behind.where(PAYER.in_([payer])).values(turn=JudgementRow.turn + each.seconds))
    return [None] * len(returned)


# Built once (guarantee 6).
BEGUN_ONES = (
    select(
        JudgementRow.id,
        JudgementRow.attempt,
        JudgementRow.submission_id,
        JudgementRow.rejudging_id,
        SubmissionRow.contest_id,
    )
    .join(SubmissionRow, SubmissionRow.id == JudgementRow.submission_id)
    .where(JudgementRow.id.in_(bindparam("ids", expanding=True)), JudgementRow.state == RUNNING)
    .order_by(JudgementRow.id)
    .with_for_update(key_share=True, of=JudgementRow)
)


def record_many(connection: Connection, outcomes: Sequence[Outcome]) -> list[bool]:
    """Write outcomes down, each at most once: False where a later attempt has begun or one is recorded already."""
    ids = list({outcome.judgement_id for outcome in outcomes})
    running = {row.id: row for row in connection.execute(BEGUN_ONES, {"ids": ids})}
    recorded: dict[int, Outcome] = {}
    for outcome in outcomes:
        row = running.get(outcome.judgement_id)
        if row is not None and row.attempt == outcome.attempt:
            recorded.setdefault(row.id, outcome)
    changes = [
        {"id": each.judgement_id, "state": DONE, "end_time": each.time}
        | {name: getattr(each, name) for name in ("type", "error", "failures")}
        for each in recorded.values()
    ]
    update_rows(connection, JudgementRow, changes)
    insert_rows(
        connection, (RawScoreRow, [score_row(each, score) for each in recorded.values() for score in each.scores])
    )
    if (outbox := outbox_of(connection)) is not None:  # other processes, whose places verdicts change
        for id_, row in running.items():
            if id_ in recorded and not row.rejudging_id:
                outbox.add_board(row.contest_id, [row.submission_id])
    return [recorded.get(outcome.judgement_id) is outcome for outcome in outcomes]


def _trace_of_claim(payload: object, result: object) -> Trace | None:
    """What looks for the first attempt that a claim began; None where it began none."""
    if not isinstance(payload, Claim) or not isinstance(result, Claimed) or not result.attempts:
        return None
    return partial(_has_begun, payload.process_id, *next(iter(result.attempts.items())))


def _has_begun(process_id: str | None, judgement_id: int, attempt: int, connection: Connection) -> bool:
    own = (JudgementRow.attempt == attempt) & (JudgementRow.process_id == process_id)
    query = select(exists().where(JudgementRow.id == judgement_id, own | (JudgementRow.attempt > attempt)))
    return bool(connection.scalar(query))


def _trace_of_outcome(payload: object, result: object) -> Trace | None:
    """What looks for an outcome; None where it was not to be stored."""
    return partial(_is_recorded, payload) if isinstance(payload, Outcome) and result else None


def _is_recorded(outcome: Outcome, connection: Connection) -> bool:
    done = (JudgementRow.state == DONE) & (JudgementRow.attempt == outcome.attempt)
    return bool(connection.scalar(select(exists().where(JudgementRow.id == outcome.judgement_id, done))))


TRACES[cast(AnyHandler, claim_many)] = _trace_of_claim
TRACES[cast(AnyHandler, record_many)] = _trace_of_outcome


def score_row(outcome: Outcome, score: FoundScore) -> dict[str, object]:
    """The columns of one answer's raw score."""
    as_found = ("test_case_id", "message", "judge_message", "run_time_ms")
    row: dict[str, object] = {name: getattr(score, name) for name in as_found}
    for name in ("raw", "max_raw", "multiplier"):
        row[f"{name}_num"], row[f"{name}_den"] = pair(getattr(score, name))
    more = {"verdict": score.verdict.value, "images": list(score.images) or None, "time": outcome.time}
    return {**row, **more, "judgement_id": outcome.judgement_id}


LOST = (
    "attempt {}: the {} was killed or lost before it ended. If that happens to this answer alone, judging it may take"
    " more memory than that machine or container has: see its log"
)
# Those that a process judges, or has scores of.
BEGUN = (JudgementRow.state == RUNNING) | JudgementRow.process_id.is_not(None)


def is_begun_elsewhere(session: Session, process_id: str | None) -> bool:
    """Whether another process has begun a judgement that is not done."""
    other = BEGUN & JudgementRow.process_id.is_distinct_from(process_id)
    return bool(session.scalar(select(exists().where(UNFINISHED, other))))


class Freeing(NamedTuple):
    """A process looks for judgements that no one works on; `at_work` are its own, None: it knows of all others."""

    process_id: str | None
    at_work: frozenset[int] | None = None


def free_many(connection: Connection, freeing: Sequence[Freeing]) -> list[int]:
    """Queue judgements again whose processes have ended; returns their number. Lost attempts are counted.

    Those of a process that has long been silent, but may live, are queued too: only one attempt can be recorded. A row
    that another process ends at this moment is locked, and left alone.
    """
    return [_free(connection, each) for each in freeing]


def _free(connection: Connection, freeing: Freeing) -> int:
    columns = (JudgementRow.id, JudgementRow.attempt, JudgementRow.state, JudgementRow.process_id)
    query = select(*columns).where(UNFINISHED, BEGUN).order_by(JudgementRow.id)
    rows = connection.execute(query).all()
    others = {row.process_id for row in rows if row.process_id not in {None, freeing.process_id}}
    gone = gone_processes(connection, others)
    recent = select(ProcessRow.id).where(ProcessRow.id.in_(others), ProcessRow.seen >= utc_now() - SILENT)
    # A frozen process holds its lock, but gives no heartbeat; one that ended in order has no row.
    alive = {*connection.scalars(recent)} - gone.keys()
    left = [
        (row.id, row.attempt)
        for row in rows
        if row.process_id not in alive
        and (row.process_id != freeing.process_id or (freeing.at_work is not None and row.id not in freeing.at_work))
    ]
    if not left:
        return 0
    these = query.where(tuple_(JudgementRow.id, JudgementRow.attempt).in_(left)).with_for_update(skip_locked=True)
    freed = connection.execute(these).all()
    for row in freed:
        values: dict[str, object] = {"state": QUEUED, "process_id": None}
        if row.process_id in gone and row.state == RUNNING:
            error = LOST.format(row.attempt, gone[row.process_id])
            values |= {"lost": JudgementRow.lost + 1, "error": error}
        connection.execute(update(JudgementRow).where(JudgementRow.id == row.id).values(values))
    return len(freed)
