"""Reading the answers of submissions back, with and without their bytes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.files.files import FileStore
from app.domain.documents import MessageDocument
from app.submissions.queries.submission_queries import cases_of, few, is_of
from app.tables import AnswerRow, SubmissionRow, TestCaseRow


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


class SentFile(NamedTuple):
    """A file of a submission: its case, and whether it was refused."""

    submission_id: int
    problem_id: str
    case_name: str
    file_name: str
    refused: bool


def sent_files(session: Session, contest_id: str, among: Collection[int]) -> Iterator[SentFile]:
    """The answers of some submissions in their order, without their bytes; none of cases that the contest lacks."""
    query = (
        select(
            AnswerRow.submission_id,
            SubmissionRow.problem_id,
            TestCaseRow.name,
            AnswerRow.file_name,
            AnswerRow.data.is_(None) & AnswerRow.sha256.is_(None),
        )
        .join(TestCaseRow, TestCaseRow.id == AnswerRow.test_case_id)
        .join(SubmissionRow, SubmissionRow.id == AnswerRow.submission_id)
        .where(is_of(contest_id), cases_of(session, contest_id).condition)
        .order_by(AnswerRow.submission_id, TestCaseRow.ordinal)
    )
    for some in few(AnswerRow.submission_id, among):
        for row in session.execute(query.where(some)):
            yield SentFile(*row)


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
