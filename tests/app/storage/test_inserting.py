"""Rows of a batch are inserted by few statements, and read back as they were written."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select

from app.storage import submissions
from app.storage.database import Database
from app.storage.inserting import MOST_AT_ONCE
from app.storage.judging_tasks import too_large
from app.storage.local_files import LocalFiles
from app.storage.submissions import Accepted, NewAnswer, NewSubmission
from app.storage.tables import AnswerRow, JudgementRow, SubmissionRow
from tests.builders.grading import NOW, add_rogue_contest


def test_a_batch_larger_than_a_statement_reads_back_as_it_was_written(database_url: str, tmp_path: Path) -> None:
    """Moments, documents, bytes and what is missing come back alike on both databases, each with its own answers."""
    database = Database(database_url)
    add_rogue_contest(database, LocalFiles(tmp_path / "files"))
    answers = [NewAnswer(1, "a'1.out", 3, None, b"\x00\xff'"), NewAnswer(2, "?", 10**6, refused=too_large(9))]
    arriving = [
        NewSubmission(
            "c",
            "rogue",
            "t",
            "a",
            NOW,
            at,
            answers,
            [{"name": "a'1.out", "case": "1", "ignored": None}],
            [{"name": "ñ.py", "size": 1, "sha256": "0" * 64}],
            f"{at} '?; ñ",
        )
        for at in range(2 * MOST_AT_ONCE + 1)
    ]
    with database.transaction() as connection:
        accepted = submissions.accept(connection, arriving)
    with database.read() as session:
        rows = session.scalars(select(SubmissionRow).order_by(SubmissionRow.id)).all()
        stored = session.scalars(select(AnswerRow).order_by(AnswerRow.submission_id, AnswerRow.test_case_id)).all()
        judged = session.scalars(select(JudgementRow).order_by(JudgementRow.id)).all()
    database.close()
    columns = ("problem_id", "team_id", "time", "contest_time_ms", "idempotency_key", "comment", "files", "sources")
    assert [tuple(getattr(row, name) for name in columns) for row in rows] == [
        tuple(getattr(new, name) for name in columns) for new in arriving
    ]
    assert [(row.submission_id, row.file_name, row.size, row.data, row.refused) for row in stored] == [
        (row.id, answer.file_name, answer.size, answer.data, answer.refused) for row in rows for answer in answers
    ]
    assert [Accepted(each.submission_id, each.id) for each in judged] == accepted
    assert {(each.state, each.current, each.start_time, each.lost) for each in judged} == {("queued", True, NOW, 0)}
