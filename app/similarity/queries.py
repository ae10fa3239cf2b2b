"""Queries of similarity: who sent which answer and which sources, and their bytes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from app.core.files.files import FileStore
from app.domain.similarity import Sent
from app.problems.queries import pins
from app.tables import AnswerRow, SubmissionRow, TestCaseRow

ROWS_AT_ONCE = 10_000
ANSWERS_AT_ONCE = 200


# A case's id, name and expected answer, and an answer's submission, team, contest time (ms), sha256 and size.
AnswerOfCase = Row[int, str, str | None, int, str | None, int, str | None, int]


@dataclass(frozen=True, slots=True)
class StoredCase:
    """A test case and the answers all teams ever sent for it, in order."""

    id: int
    name: str
    expected: str | None
    answers: Sequence[Sent]


def cases(session: Session, contest_id: str, problem_id: str) -> Iterator[StoredCase]:
    """A problem's cases, one at a time so that no more than one case's answers are in memory."""
    query = (
        select(
            TestCaseRow.id,
            TestCaseRow.name,
            TestCaseRow.answer_sha256,
            AnswerRow.submission_id,
            SubmissionRow.team_id,
            SubmissionRow.contest_time_ms,
            AnswerRow.sha256,
            AnswerRow.size,
        )
        .join(AnswerRow, AnswerRow.test_case_id == TestCaseRow.id)
        .join(SubmissionRow, SubmissionRow.id == AnswerRow.submission_id)
        .where(SubmissionRow.contest_id == contest_id, SubmissionRow.problem_id == problem_id)
        # Empty answers are all alike.
        .where(SubmissionRow.team_id.is_not(None), AnswerRow.sha256.is_not(None), AnswerRow.size > 0)
        .order_by(TestCaseRow.ordinal, TestCaseRow.id, AnswerRow.submission_id)
        .execution_options(yield_per=ROWS_AT_ONCE)
    )
    pinned = {case.id: case.answer_sha256 for case in _pinned(session, contest_id, problem_id)}
    for (id_, name, current), rows in groupby(session.execute(query), lambda row: (row[0], row[1], row[2])):
        yield StoredCase(id_, name, pinned.get(id_, current), [_answer(row) for row in rows])


def _pinned(session: Session, contest_id: str, problem_id: str) -> Sequence[TestCaseRow]:
    """The cases of the earlier version that a contest is pinned to; none where it has the newest."""
    is_pinned = pins.number(session, contest_id, problem_id) is not None
    return pins.cases(session, contest_id, problem_id) if is_pinned else []


def _answer(row: AnswerOfCase) -> Sent:
    _, _, _, submission_id, team_id, time_ms, sha256, size = row
    assert team_id is not None, "the query asks for those of teams"
    assert sha256 is not None, "the query asks for those that are stored"
    return Sent(team_id, submission_id, time_ms, sha256, size)


def contents(
    session: Session, files: FileStore, case_id: int, submission_ids: Sequence[int]
) -> Iterator[tuple[str, bytes]]:
    """The bytes of some submissions' answers to a case, each with its sha256."""
    for start in range(0, len(submission_ids), ANSWERS_AT_ONCE):
        query = select(AnswerRow.sha256, AnswerRow.data).where(
            AnswerRow.test_case_id == case_id,
            AnswerRow.submission_id.in_(submission_ids[start : start + ANSWERS_AT_ONCE]),
        )
        for sha256, data in session.execute(query):
            if sha256 is not None:  # a refused answer has none
                yield sha256, data if data is not None else files.load(sha256)


def sources(session: Session, contest_id: str, problem_id: str) -> list[Sent]:
    """The sources that came with submissions to a problem, in order."""
    query = (
        select(SubmissionRow.id, SubmissionRow.team_id, SubmissionRow.contest_time_ms, SubmissionRow.sources)
        .where(SubmissionRow.contest_id == contest_id, SubmissionRow.problem_id == problem_id)
        .where(SubmissionRow.team_id.is_not(None))
        .order_by(SubmissionRow.id)
    )
    return [
        Sent(team, id_, time, source["sha256"], source["size"])
        for id_, team, time, sources in session.execute(query)
        for source in sources or ()
        if source["size"] > 0 and team is not None
    ]
