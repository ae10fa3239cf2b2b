"""Judges one submission that waits, as a grader does it, in a service without graders."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import select

from app.core.service import Service
from app.domain.counting import RawScore
from app.domain.documents import FoundScore
from app.submissions.queries import judgements
from app.submissions.queries.judgements import Outcome
from app.tables import JudgementRow, TestCaseRow
from tests.builders.judging import begin

ACCEPTED = {"key": "accepted", "text": "", "args": {}}
"""What a checker says of an answer it accepts."""


def judge(service: Service, submission_id: int, scores: dict[str, RawScore], contest_id: str = "c") -> None:
    """Let a submission that waits be judged, and say of it alone that it has changed."""
    with service.database.read() as session:
        cases = {row.name: row.id for row in session.scalars(select(TestCaseRow))}
        (waiting,) = session.scalars(select(JudgementRow.id).where(JudgementRow.submission_id == submission_id))
    scores = [
        FoundScore(cases[case], score.verdict, score.raw, None, score.multiplier, ACCEPTED, 1)
        for case, score in scores.items()
    ]
    writer = service.writer
    attempt = begin(writer, waiting)
    assert attempt is not None
    assert writer.submit(judgements.record_many, Outcome(waiting, attempt, "PC", scores, datetime.now(UTC))).result()
    service.boards.changed(contest_id, submission_id)
