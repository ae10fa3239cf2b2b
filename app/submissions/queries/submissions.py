"""Submissions and their answers: accepting many in one commit, and reading the answers back."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import cast

from sqlalchemy import ColumnElement, Connection, exists, select, text, tuple_
from sqlalchemy.orm import Session

from app.contests.schemas import NO_LIMITS, Limits
from app.core import telemetry
from app.core.db.by_id import outbox_of
from app.core.db.commits import Trace
from app.core.db.locks import lock_names
from app.core.db.tables import Values, insert_rows
from app.core.db.writer import TRACES, AnyHandler
from app.core.files.files import FileStore
from app.core.json_documents import FileNoteDocument, SourceDocument
from app.domain.documents import MessageDocument
from app.submissions.queries.submission_queries import cases_of, is_of
from app.submissions.queries.usage import Allowance, Claim, LimitReached, Usage
from app.tables import AnswerRow, JudgementRow, SubmissionRow, TestCaseRow

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
    trace: str = field(default_factory=telemetry.carried)

    @property
    def size(self) -> int:
        """The bytes of answers and sources."""
        return sum(answer.size for answer in self.answers if answer.refused is None) + sum(
            int(source["size"]) for source in self.sources
        )

    @property
    def claim(self) -> Claim:
        """The submission as limits see it."""
        place = (self.contest_id, self.team_id or "", self.problem_id)
        return Claim(*place, self.time, self.size, self.limits, self.allowance)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A submission that is stored: its id, its judgement's, and whether it was before (same Idempotency-Key)."""

    submission_id: int
    judgement_id: int | None
    repeated: bool = False


LAST_IDS = "SELECT name, seq FROM sqlite_sequence WHERE name IN ('submissions', 'judgements')"
# The sequences are looked up once, and not for each row (OFFSET 0).
NEXT_IDS = text(
    "SELECT nextval(submissions), nextval(judgements)"
    " FROM (SELECT CAST(pg_get_serial_sequence('submissions', 'id') AS regclass) AS submissions,"
    " CAST(pg_get_serial_sequence('judgements', 'id') AS regclass) AS judgements OFFSET 0) AS sequences,"
    " generate_series(1, :count)"
)
Key = tuple[str, str, str]
# The columns of rows that have the values of NewSubmission and NewAnswer.
COLUMNS = (
    *("contest_id", "problem_id", "team_id", "account_id", "time", "contest_time_ms"),
    *("idempotency_key", "external_id", "comment", "size", "files", "sources"),
)
ANSWER_COLUMNS = ("test_case_id", "file_name", "size", "data", "refused")


def accept(connection: Connection, arriving: Sequence[NewSubmission]) -> list[Accepted | LimitReached]:
    """Insert submissions, their answers and a queued judgement each, in one go; a handler of the writer.

    Limits hold here, where one comes after the other, so that of two at once only one is the last that was left.
    """
    claims = [new.claim for new in arriving]
    lock_names(connection, [name for claim in claims for name in claim.locks])
    known = _known_keys(connection, arriving)
    usage = Usage(connection, claims)
    ids, judgement_ids = _reserve(connection, len(arriving))
    submissions: list[Values] = []
    answers: list[Values] = []
    judgements: list[Values] = []
    results: list[Accepted | LimitReached] = []
    for new, claim in zip(arriving, claims, strict=True):
        key = _key(new)
        if key is not None and key in known:
            results.append(Accepted(known[key], None, repeated=True))
            continue
        if (refused := usage.refusal(claim)) is not None:
            results.append(refused)
            continue
        id_, judgement_id = next(ids), next(judgement_ids)
        results.append(Accepted(id_, judgement_id))
        submissions.append({name: getattr(new, name) for name in COLUMNS} | {"id": id_})
        for each in new.answers:
            values = {name: getattr(each, name) for name in ANSWER_COLUMNS}
            answers.append(values | {"submission_id": id_, "sha256": _sha256(each)})
        judgement = {"id": judgement_id, "submission_id": id_, "team_id": new.team_id, "start_time": new.time}
        judgements.append(judgement | {"trace": new.trace or None})
        usage.add(claim)
        if key is not None:
            known[key] = id_
    insert_rows(connection, (SubmissionRow, submissions), (AnswerRow, answers), (JudgementRow, judgements))
    if (outbox := outbox_of(connection)) is not None:
        for new, result in zip(arriving, results, strict=True):
            if isinstance(result, Accepted) and not result.repeated:
                # One that another system took changes more than its own place.
                outbox.add_board(new.contest_id, [result.submission_id] if new.external_id is None else None)
    return results


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


def _sha256(answer: NewAnswer) -> str | None:
    # Hashed here, in the writer's thread, because hashing lets go of the interpreter's lock, and a request that does
    # so waits for it behind all the others.
    return answer.sha256 if answer.data is None else hashlib.sha256(answer.data).hexdigest()


def same_answers(session: Session, row: SubmissionRow, answers: Sequence[NewAnswer]) -> bool:
    """Whether a submission holds just these answers."""
    query = select(AnswerRow.test_case_id, AnswerRow.sha256).where(AnswerRow.submission_id == row.id)
    stored = {case: sha256 for case, sha256 in session.execute(query)}  # noqa: C416 - a Row is no pair
    return stored == {answer.test_case_id: _sha256(answer) for answer in answers}


@dataclass(frozen=True, slots=True)
class SentAnswer:
    """A submission's answer for a case, without its bytes."""

    case_name: str
    file_name: str
    size: int
    sha256: str | None
    refused: MessageDocument | None


def sent_answers(session: Session, submission: SubmissionRow) -> list[SentAnswer]:
    """The answers a submission brought, in order of the cases; none of cases that its contest does not have."""
    cases = cases_of(session, submission.contest_id)
    query = (
        select(
            TestCaseRow.id,
            TestCaseRow.ordinal,
            TestCaseRow.name,
            AnswerRow.file_name,
            AnswerRow.size,
            AnswerRow.sha256,
            AnswerRow.refused,
        )
        .join(TestCaseRow, TestCaseRow.id == AnswerRow.test_case_id)
        .where(AnswerRow.submission_id == submission.id, cases.condition)
        .order_by(TestCaseRow.ordinal)
    )
    rows = sorted(session.execute(query), key=lambda row: cases.ordinals.get(row[0], row[1]))
    return [SentAnswer(*row[2:]) for row in rows]


def refused_answers(session: Session, contest_id: str) -> list[tuple[int, str]]:
    """The answers of a contest that were refused: the submission and the case's name."""
    query = (
        select(AnswerRow.submission_id, TestCaseRow.name)
        .join(TestCaseRow, TestCaseRow.id == AnswerRow.test_case_id)
        .join(SubmissionRow, SubmissionRow.id == AnswerRow.submission_id)
        .where(is_of(contest_id), AnswerRow.sha256.is_(None), cases_of(session, contest_id).condition)
        .order_by(AnswerRow.submission_id, TestCaseRow.ordinal)
    )
    return [(submission_id, name) for submission_id, name in session.execute(query)]


def answers_by_case(
    session: Session, files: FileStore, submission_id: int, cases: ColumnElement[bool]
) -> dict[str, bytes]:
    """The answer files of a submission to some `cases`, by their names; refused ones were not kept."""
    query = (
        select(TestCaseRow.name, AnswerRow.data, AnswerRow.sha256)
        .join(TestCaseRow, TestCaseRow.id == AnswerRow.test_case_id)
        .where(AnswerRow.submission_id == submission_id, cases)
    )
    answers = {name: _bytes(files, data, sha256) for name, data, sha256 in session.execute(query)}
    return {name: data for name, data in answers.items() if data is not None}


def answer_bytes(session: Session, files: FileStore, submission_id: int, case_name: str) -> bytes | None:
    """The file a submission brought for a case; None if it brought none, or one that was refused."""
    query = (
        select(AnswerRow.data, AnswerRow.sha256)
        .join(TestCaseRow, TestCaseRow.id == AnswerRow.test_case_id)
        .where(AnswerRow.submission_id == submission_id, TestCaseRow.name == case_name)
    )
    row = session.execute(query).one_or_none()
    return None if row is None else _bytes(files, row[0], row[1])


def answer_files(session: Session, files: FileStore, submission_id: int) -> dict[str, bytes]:
    """The answer files a submission brought, by file name as sent; refused ones were not kept."""
    query = select(AnswerRow.file_name, AnswerRow.data, AnswerRow.sha256).where(
        AnswerRow.submission_id == submission_id
    )
    answers = {name: _bytes(files, data, sha256) for name, data, sha256 in session.execute(query)}
    return {name: data for name, data in answers.items() if data is not None}


def _bytes(files: FileStore, data: bytes | None, sha256: str | None) -> bytes | None:
    if data is not None or sha256 is None:
        return data
    return files.load(sha256)
