"""Submissions that come with a contest package: under the numbers they had, judged already."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

from sqlalchemy import func, insert, select, text
from sqlalchemy.orm import Session

from app.storage.files import FileStore
from app.storage.judgements import DONE, FoundScore, Outcome, score_row
from app.storage.submissions import INLINE_LIMIT
from app.storage.tables import AnswerRow, JudgementRow, RawScoreRow, SubmissionRow


@dataclass(frozen=True, slots=True)
class Answer:
    """One case's answer; without data it was too large to be kept."""

    test_case_id: int
    file_name: str
    size: int
    data: bytes | None


@dataclass(frozen=True, slots=True)
class Judged:
    """How a submission was judged, and when: its type, the scores of its answers, and the fault of a checker."""

    type: str
    time: datetime
    scores: Sequence[FoundScore]
    error: str | None = None


def is_taken(session: Session, number: int) -> bool:
    """Is there a submission of this number, in whatever contest?"""
    return session.get(SubmissionRow, number) is not None


def free_numbers(session: Session, wanted: Collection[int]) -> Iterator[int]:
    """Numbers for submissions that have another id: of no submission, and none that is `wanted` for one to come."""
    sqlite = session.get_bind().dialect.name == "sqlite"
    last = session.scalar(text("SELECT seq FROM sqlite_sequence WHERE name = 'submissions'")) if sqlite else None
    counted = count((last or 0) + 1)  # SQLite has never had these, and nobody else writes; a sequence is everybody's
    while True:
        number = next(counted) if sqlite else session.scalar(text("SELECT nextval('submissions_id_seq')"))
        if number not in wanted and (sqlite or not is_taken(session, number)):
            yield number


def add_submission(
    session: Session,
    files: FileStore,
    facts: Mapping[str, Any],
    answers: Sequence[Answer],
    judged: Judged,
) -> int:
    """Keep a submission with its answers and their scores; returns the number of its row."""
    row = SubmissionRow(**facts)
    session.add(row)
    session.flush()
    for answer in answers:
        kept = AnswerRow(submission_id=row.id, test_case_id=answer.test_case_id, file_name=answer.file_name)
        kept.size = answer.size
        if answer.data is None:
            kept.refused = {"key": "too-large", "text": "larger than it may be", "args": {}}
        elif answer.size > INLINE_LIMIT:
            kept.sha256 = files.keep(answer.data)
        else:
            kept.data, kept.sha256 = answer.data, hashlib.sha256(answer.data).hexdigest()
        session.add(kept)
    judgement = JudgementRow(submission_id=row.id, state=DONE, attempt=1, type=judged.type, current=True)
    judgement.start_time, judgement.end_time, judgement.error = row.time, judged.time, judged.error
    session.add(judgement)
    session.flush()
    if judged.scores:
        outcome = Outcome(judgement.id, 1, judged.type, judged.scores, judged.time)
        session.execute(insert(RawScoreRow), [score_row(outcome, score) for score in judged.scores])
    return row.id


def count_on(session: Session) -> None:
    """Let PostgreSQL count on from the highest number there is; SQLite does so by itself."""
    if session.get_bind().dialect.name == "sqlite":
        return
    last = session.scalar(select(func.max(SubmissionRow.id))) or 1
    session.execute(
        text("SELECT setval(pg_get_serial_sequence('submissions', 'id'), greatest(:last, nextval(:name)))"),
        {"last": last, "name": "submissions_id_seq"},
    )
