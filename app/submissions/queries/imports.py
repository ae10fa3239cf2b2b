"""Submissions that come with a contest package: under the ids they had, judged already."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import insert, text
from sqlalchemy.orm import Session

from app.core.files.files import FileStore
from app.domain.case_scores import FoundScore
from app.submissions.queries.judgements import DONE, Outcome, score_row
from app.submissions.queries.submissions import INLINE_LIMIT
from app.tables import AnswerRow, JudgementRow, RawScoreRow, SubmissionRow

MOST_DIGITS = 15
"""Of a number that comes as an id: rows count on from it, and their own numbers are to stay within 18 digits."""
JUMP = 1000


@dataclass(frozen=True, slots=True)
class Answer:
    """One case's answer; without data it was too large to be kept."""

    test_case_id: int
    file_name: str
    size: int
    data: bytes | None


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement from elsewhere: its time, its type, the scores of its answers, and the fault of a checker."""

    type: str
    time: datetime
    scores: Sequence[FoundScore]
    error: str | None = None


def add_submission(
    session: Session,
    files: FileStore,
    row: SubmissionRow,
    answers: Sequence[Answer],
    judged: Judged,
) -> int:
    """Keep a submission with its answers and their scores; returns the number of its row."""
    session.add(row)
    session.flush()
    for answer in answers:
        stored = AnswerRow(submission_id=row.id, test_case_id=answer.test_case_id, file_name=answer.file_name)
        stored.size = answer.size
        if answer.data is None:
            stored.refused = {"key": "too-large", "text": "larger than it may be", "args": {}}
        elif answer.size > INLINE_LIMIT:
            stored.sha256 = files.keep(answer.data)
        else:
            stored.data, stored.sha256 = answer.data, hashlib.sha256(answer.data).hexdigest()
        session.add(stored)
    judgement = JudgementRow(submission_id=row.id, state=DONE, attempt=1, type=judged.type, current=True)
    judgement.start_time, judgement.end_time, judgement.error = row.time, judged.time, judged.error
    session.add(judgement)
    session.flush()
    if judged.scores:
        outcome = Outcome(judgement.id, 1, judged.type, judged.scores, judged.time)
        session.execute(insert(RawScoreRow), [score_row(outcome, score) for score in judged.scores])
    return row.id


def count_past(session: Session, last: int) -> None:
    """Let rows to come have numbers beyond `last`, which a contest shows as the id of a submission brought in."""
    if session.get_bind().dialect.name == "sqlite":
        session.execute(
            text("UPDATE sqlite_sequence SET seq = max(seq, :last) WHERE name = 'submissions'"), {"last": last}
        )
        return
    # Others draw numbers meanwhile: the jump is beyond whatever they have drawn by the time it is made.
    query = "SELECT setval('submissions_id_seq', :beyond) FROM submissions_id_seq WHERE last_value <= :last"
    session.execute(text(query), {"last": last, "beyond": last + JUMP})
