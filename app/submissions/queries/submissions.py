"""Submissions and their answers: accepting many in one commit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from math import ceil
from typing import cast

from sqlalchemy import Connection, exists, select, text, tuple_
from sqlalchemy.orm import Session

from app.contests.schemas.settings import NO_LIMITS, Limits
from app.core.db.base import insert_rows
from app.core.db.by_id import outbox_of
from app.core.db.commits import Trace
from app.core.db.locks import lock_names
from app.core.db.writer import TRACES, AnyHandler
from app.core.json_documents import FileNoteDocument, SourceDocument
from app.core.messages import N_, Message
from app.domain.documents import MessageDocument
from app.domain.participation import Quota, SubmissionLimits, limited, quota, times_needed
from app.domain.verdicts import JudgementType
from app.submissions.queries import attempts
from app.submissions.queries.attempts import Newcomer
from app.submissions.queries.usage import Allowance, Allowances
from app.submissions.tables import DONE, QUEUED
from app.tables import AccountRow, AnswerRow, JudgementRow, SubmissionRow

# Answers up to this many bytes lie in their row, so that one commit makes them durable.
INLINE_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class NewAnswer:
    """One case's answer: `data` if it lies in the row, else the `sha256` of its file in the store; or `refused`."""

    test_case_id: int
    file_name: str
    size: int
    sha256: str | None = None
    data: bytes | None = None
    refused: MessageDocument | None = None


@dataclass(frozen=True, slots=True)
class NewSubmission:
    """A submission that has passed every check and is to be made durable."""

    contest_id: str
    problem_id: str
    team_id: str | None
    account_id: str
    time: datetime
    contest_time_ms: int
    answers: Sequence[NewAnswer]
    files: Sequence[FileNoteDocument] = ()
    sources: Sequence[SourceDocument] = ()
    comment: str | None = None
    idempotency_key: str | None = None
    external_id: str | None = None
    limits: Limits = NO_LIMITS
    allowance: Allowance | None = None

    @property
    def size(self) -> int:
        """The bytes of answers and sources."""
        return sum(answer.size for answer in self.answers if answer.refused is None) + sum(
            int(source["size"]) for source in self.sources
        )


@dataclass(frozen=True, slots=True)
class Accepted:
    """A submission that is stored: its id, its judgement's, and whether it was before (same Idempotency-Key).

    `again` are the judgements that open rejudgings make of it.
    """

    submission_id: int
    judgement_id: int | None
    repeated: bool = False
    again: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class LimitReached:
    """A submission that was not taken: why, and when the team may submit again, if it ever may.

    `too_large`: for its bytes, so that a smaller one would be taken.
    """

    message: Message
    again: datetime | None
    too_large: bool = False


LAST_IDS = "SELECT name, seq FROM sqlite_sequence WHERE name IN ('submissions', 'judgements')"
# The sequences are looked up once, and not for each row (OFFSET 0).
NEXT_IDS = text(
    "SELECT nextval(submissions), nextval(judgements)"
    " FROM (SELECT CAST(pg_get_serial_sequence('submissions', 'id') AS regclass) AS submissions,"
    " CAST(pg_get_serial_sequence('judgements', 'id') AS regclass) AS judgements OFFSET 0) AS sequences,"
    " generate_series(1, :count)"
)
Key = tuple[str, str, str]
# A contest, a team and a problem.
Place = tuple[str, str, str]


@dataclass
class _Batch:
    submissions: list[dict[str, object]] = field(default_factory=list)
    answers: list[dict[str, object]] = field(default_factory=list)
    judgements: list[dict[str, object]] = field(default_factory=list)
    newcomers: list[Newcomer] = field(default_factory=list)
    taken: list[NewSubmission] = field(default_factory=list)


def accept(connection: Connection, arriving: Sequence[NewSubmission]) -> list[Accepted | LimitReached]:
    """Insert submissions, their answers and a queued judgement each, in one go; a handler of the writer.

    Limits hold here, where one comes after the other, so that of two at once only one is the last that was left.
    """
    lock_names(connection, [name for new in arriving for name in _locks(new)])
    known = _known_keys(connection, arriving)
    counted = _counted(connection, arriving)
    allowances = Allowances(connection, [new.allowance for new in arriving if new.allowance is not None])
    ids, judgement_ids = _reserve(connection, len(arriving))
    batch = _Batch()
    results: list[Accepted | LimitReached] = []
    for new in arriving:
        key = _key(new)
        if key is not None and key in known:
            results.append(Accepted(known[key], None, repeated=True))
            continue
        if (refused := _beyond_allowance(new, allowances) or _over_the_limit(new, counted)) is not None:
            results.append(refused)
            continue
        accepted = Accepted(next(ids), next(judgement_ids))
        _add(batch, new, accepted)
        if new.allowance is not None:
            allowances.add(new.allowance, new.size)
        if key is not None:
            known[key] = accepted.submission_id
        results.append(accepted)
    insert_rows(
        connection, (SubmissionRow, batch.submissions), (AnswerRow, batch.answers), (JudgementRow, batch.judgements)
    )
    _tell(connection, batch)
    again = attempts.judged_again(connection, batch.newcomers)
    return [_with_news(result, again) for result in results] if again else results


def _trace(payload: object, result: object) -> Trace | None:
    """What looks for a submission, if one was taken."""
    if not (isinstance(payload, NewSubmission) and isinstance(result, Accepted)) or result.repeated:
        return None
    return partial(_is_there, payload, result.submission_id)


def _is_there(new: NewSubmission, submission_id: int, connection: Connection) -> bool:
    """Whether a submission is stored: its id may be another one's by now, but not with its sender and microsecond."""
    row = (SubmissionRow.id, SubmissionRow.account_id, SubmissionRow.time)
    return bool(connection.scalar(select(exists().where(tuple_(*row) == (submission_id, new.account_id, new.time)))))


TRACES[cast(AnyHandler, accept)] = _trace


def _tell(connection: Connection, batch: _Batch) -> None:
    """Tell other processes of the submissions; one that another system took changes more than its own place."""
    outbox = outbox_of(connection)
    if outbox is None:
        return
    for new in batch.taken:
        outbox.add_bytes(new.contest_id, new.team_id or "", new.size)
    for row in batch.submissions:
        own = [cast(int, row["id"])] if row["external_id"] is None else None
        outbox.add_board(str(row["contest_id"]), own)


def _with_news(result: Accepted | LimitReached, again: Mapping[int, Sequence[int]]) -> Accepted | LimitReached:
    if isinstance(result, Accepted) and not result.repeated:
        return replace(result, again=again.get(result.submission_id, ()))
    return result


def _place(new: NewSubmission) -> Place:
    return (new.contest_id, new.team_id or "", new.problem_id)


def _counted(connection: Connection, arriving: Sequence[NewSubmission]) -> dict[Place, list[datetime]]:
    """For what arrives under limits, the times of the earlier submissions that count against these."""
    needed: dict[Place, int | None] = {}
    for new in arriving:
        if limited(new.limits):
            one, other = times_needed(new.limits), needed.get(_place(new), 1)
            needed[_place(new)] = None if one is None or other is None else max(one, other)
    return {place: counted_times(connection, *place, needed[place]) for place in sorted(needed)}


def _locks(new: NewSubmission) -> list[str]:
    """The names of the locks under which what counts against a submission is counted."""
    names = ["/".join(_place(new))] if limited(new.limits) else []
    return names if new.allowance is None else [*names, new.allowance.lock]


def counted_times(
    connection: Connection | Session, contest_id: str, team_id: str, problem_id: str, latest: int | None = None
) -> list[datetime]:
    """Times of a team's own submissions to a problem, in order; those the judge failed on count against nobody.

    `latest`: only so many, the latest ones, found by their ids, so that a team with many costs no more than others.
    """
    failed = exists().where(
        JudgementRow.submission_id == SubmissionRow.id,
        JudgementRow.current.is_(True),
        JudgementRow.state == DONE,
        JudgementRow.type == JudgementType.JE.value,
    )
    query = (
        select(SubmissionRow.time)
        .join(AccountRow, (AccountRow.id == SubmissionRow.account_id) & (AccountRow.team_id == SubmissionRow.team_id))
        .where(
            SubmissionRow.contest_id == contest_id,
            SubmissionRow.team_id == team_id,
            SubmissionRow.problem_id == problem_id,
            ~failed,
        )
        .order_by(SubmissionRow.id.desc())
        .limit(latest)
    )
    return sorted(connection.execute(query).scalars())


def _beyond_allowance(new: NewSubmission, allowances: Allowances) -> LimitReached | None:
    """Say why a team may have no more."""
    allowance = new.allowance
    if allowance is None:
        return None
    if (most := allowances.unjudged_too_many(allowance)) is not None:
        return LimitReached(too_many_unjudged(most), new.time + timedelta(seconds=1))
    used = allowances.used_too_much(allowance, new.size)
    if used is None:
        return None
    return LimitReached(too_many_bytes(new.contest_id, cast(int, allowance.size), used, new.size), None, too_large=True)


def too_many_unjudged(most: int) -> Message:
    """Why a team has to wait until more of its submissions are judged."""
    return Message(
        N_("your team has %(most)s submissions that are not judged yet: send the next ones later"), most=most
    )


def too_many_bytes(contest_id: str, most: int, used: int, size: int) -> Message:
    """Why a team may send no submission of this size to a contest any more."""
    return Message(
        N_(
            "expected at most %(most)s bytes of a team in contest %(contest)s, found %(used)s already and %(size)s in "
            "this submission"
        ),
        most=most,
        contest=contest_id,
        used=used,
        size=size,
    )


def why_not(limits: SubmissionLimits, used: Quota, now: datetime) -> Message:
    """Say which limit refuses another submission."""
    if used.exhausted:
        exhausted = N_("expected at most %(most)s submissions to this problem, found %(used)s already")
        return Message(exhausted, most=limits.max_submissions, used=used.used)
    assert used.next is not None, "else it would have been allowed"
    intervals = N_("expected at least %(interval)s s between two submissions to this problem")
    rates = N_("expected at most %(count)s submissions in any %(window)s s to this problem")
    both = N_(
        "expected at least %(interval)s s between two submissions and at most %(count)s submissions in any "
        "%(window)s s to this problem"
    )
    window = limits.per_window
    limit = Message(
        rates if limits.interval_seconds is None else intervals if window is None else both,
        interval=limits.interval_seconds,
        count=None if window is None else window.count,
        window=None if window is None else window.seconds,
    )
    left = max(1, ceil((used.next - now).total_seconds()))
    return Message(N_("%(limit)s: your team may submit again in %(seconds)s s"), limit=limit, seconds=left)


def _over_the_limit(new: NewSubmission, counted: dict[Place, list[datetime]]) -> LimitReached | None:
    """Say why a submission may not be taken, or count it."""
    if not limited(new.limits):
        return None
    times = counted[_place(new)]
    used = quota(new.limits, times, new.time)
    if not used.allows(new.time):
        return LimitReached(why_not(new.limits, used, new.time), None if used.exhausted else used.next)
    times.append(new.time)
    return None


def _key(new: NewSubmission) -> Key | None:
    return None if new.idempotency_key is None else (new.account_id, new.contest_id, new.idempotency_key)


def _known_keys(connection: Connection, arriving: Sequence[NewSubmission]) -> dict[Key, int]:
    keys = [key for new in arriving if (key := _key(new)) is not None]
    if not keys:
        return {}
    columns = (SubmissionRow.account_id, SubmissionRow.contest_id, SubmissionRow.idempotency_key)
    rows = connection.execute(select(SubmissionRow.id, *columns).where(tuple_(*columns).in_(keys)))
    return {(row[1], row[2], str(row[3])): row[0] for row in rows}


def _reserve(connection: Connection, count: int) -> tuple[Iterator[int], Iterator[int]]:
    """Take `count` new ids of submissions, and as many of judgements.

    SQLite's writing transactions exclude each other, so the last ids given tell the next; PostgreSQL has sequences.
    """
    if connection.dialect.name == "sqlite":
        last = {name: seq for name, seq in connection.exec_driver_sql(LAST_IDS)}  # noqa: C416 - a Row is no pair
        first, first_judgement = (last.get(table.__tablename__, 0) + 1 for table in (SubmissionRow, JudgementRow))
        return iter(range(first, first + count)), iter(range(first_judgement, first_judgement + count))
    rows = connection.execute(NEXT_IDS, {"count": count}).all()
    return iter([row[0] for row in rows]), iter([row[1] for row in rows])


def _add(batch: _Batch, new: NewSubmission, accepted: Accepted) -> None:
    batch.taken.append(new)
    batch.submissions.append(_submission_values(new, accepted.submission_id))
    batch.answers += [_answer_values(answer, accepted.submission_id) for answer in new.answers]
    batch.judgements.append(_judgement_values(new, accepted))
    assert accepted.judgement_id is not None  # one has been reserved for it
    batch.newcomers.append(Newcomer(accepted.submission_id, accepted.judgement_id, new.contest_id, new.problem_id))


def _submission_values(new: NewSubmission, submission_id: int) -> dict[str, object]:
    return {
        "id": submission_id,
        "contest_id": new.contest_id,
        "problem_id": new.problem_id,
        "team_id": new.team_id,
        "account_id": new.account_id,
        "time": new.time,
        "contest_time_ms": new.contest_time_ms,
        "idempotency_key": new.idempotency_key,
        "external_id": new.external_id,
        "comment": new.comment,
        "files": list(new.files),
        "sources": list(new.sources),
    }


def _answer_values(answer: NewAnswer, submission_id: int) -> dict[str, object]:
    return {
        "submission_id": submission_id,
        "test_case_id": answer.test_case_id,
        "file_name": answer.file_name,
        "size": answer.size,
        "sha256": _sha256(answer),
        "data": answer.data,
        "refused": answer.refused,
    }


def _judgement_values(new: NewSubmission, accepted: Accepted) -> dict[str, object]:
    return {
        "id": accepted.judgement_id,
        "submission_id": accepted.submission_id,
        "team_id": new.team_id,
        "state": QUEUED,
        "attempt": 0,
        "failures": 0,
        "current": True,
        "start_time": new.time,
    }


def _sha256(answer: NewAnswer) -> str | None:
    # Hashed here, in the writer's thread, because hashing lets go of the interpreter's lock, and a request that does
    # so waits for it behind all the others.
    return answer.sha256 if answer.data is None else hashlib.sha256(answer.data).hexdigest()


def same_answers(session: Session, row: SubmissionRow, answers: Sequence[NewAnswer]) -> bool:
    """Whether a submission holds just these answers."""
    query = select(AnswerRow.test_case_id, AnswerRow.sha256).where(AnswerRow.submission_id == row.id)
    stored = {case: sha256 for case, sha256 in session.execute(query)}  # noqa: C416 - a Row is no pair
    return stored == {answer.test_case_id: _sha256(answer) for answer in answers}
