"""Rows in bulk: the same rows on both databases, whatever is in them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, Row, select
from sqlalchemy.exc import StatementError
from sqlalchemy.orm import Session

from app.core.db.database import Database
from app.core.db.tables import (
    Base,
    Values,
    insert_rows,
    update_rows,
)
from app.core.files.open_files import LocalFiles
from app.judging.queries.judging_tasks import too_large
from app.submissions.queries import submissions
from app.submissions.queries.submissions import Accepted, NewAnswer, NewSubmission
from app.tables import AnswerRow, JudgementRow, RawScoreRow, SubmissionRow
from tests.builders.grading import NOW, add_rogue_contest

HOSTILE = ("quotes \" and ' and \\", "\\x41 \\u0041 {1,2} %s %(rows0)s", "tab\tline\n", "NULL", "", "\U0001f9ee \u202e")


@pytest.fixture
def connection(database_url: str, tmp_path: Path) -> Iterator[Connection]:
    """A transaction on a database with a contest in it."""
    database = Database(database_url)
    add_rogue_contest(database, LocalFiles(tmp_path))
    with database.transaction() as connection:
        yield connection
    database.close()


def submission(id_: int, comment: str | None = None, time: datetime = NOW) -> Values:
    """A row of `submissions`."""
    place = {"contest_id": "c", "problem_id": "rogue", "account_id": "a", "contest_time_ms": 2**40, "time": time}
    return {"id": id_, **place, "comment": comment, "size": 0, "files": [{"name": comment}], "sources": []}


def answer(submission_id: int, data: bytes | None) -> Values:
    """A row of `answers`, for the first case."""
    row = {"submission_id": submission_id, "test_case_id": 1, "file_name": "1.out", "size": 0, "sha256": None}
    return {**row, "data": data, "refused": None if data is not None else {"key": "too-large", "text": "x", "args": {}}}


def judgement(id_: int) -> Values:
    """A row of `judgements`, with the number of its submission."""
    row = {"id": id_, "submission_id": id_, "state": "queued", "attempt": 0, "failures": 0, "current": True}
    return {**row, "start_time": NOW}


def score(judgement_id: int, text: str, raw: int = 0) -> Values:
    """A row of `raw_scores`, for the first case."""
    row = {"judgement_id": judgement_id, "test_case_id": 1, "verdict": "accepted", "raw_num": raw, "raw_den": 1}
    return {**row, "message": {"key": "k", "text": text, "args": {"at": raw}}, "run_time_ms": 1, "time": NOW}


def stored(connection: Connection, of: type[Base], rows: list[Values]) -> list[Values]:
    """What there is of a table, in the columns of these rows."""
    columns = [getattr(of, name) for name in rows[0]]
    found: list[Row[tuple[object, ...]]] = list(connection.execute(select(*columns).order_by(columns[0])))
    return [dict(zip(rows[0], row, strict=True)) for row in found]


def test_rows_of_several_tables_are_stored_as_they_are(connection: Connection) -> None:
    """Texts, bytes, moments, big numbers, documents and nothing; rows refer to those that come with them."""
    submissions = [submission(at, text) for at, text in enumerate((*HOSTILE, None), start=1)]
    answers = [answer(1, bytes(range(256))), answer(2, b""), answer(3, None)]
    judgements = [judgement(at) for at in (1, 2)]
    scores = [score(1, HOSTILE[0], 2**63 - 1), score(2, HOSTILE[-1], -(2**63))]
    groups = [(SubmissionRow, submissions), (AnswerRow, answers), (JudgementRow, judgements), (RawScoreRow, scores)]
    insert_rows(connection, *groups)
    for of, rows in groups:
        assert stored(connection, of, rows) == rows


def test_a_batch_with_a_character_that_no_text_of_postgresql_holds_is_stored(connection: Connection) -> None:
    """A checker's message is a document, and may have a NUL."""
    rows = [score(1, "a\x00b"), score(2, "plain")]
    insert_rows(
        connection, (SubmissionRow, [submission(1), submission(2)]), (JudgementRow, [judgement(1), judgement(2)])
    )
    insert_rows(connection, (RawScoreRow, rows))
    assert stored(connection, RawScoreRow, rows) == rows


def test_nothing_is_inserted_and_changed_of_no_rows(connection: Connection) -> None:
    """A batch may have no scores at all."""
    insert_rows(connection, (SubmissionRow, []), (AnswerRow, []))
    update_rows(connection, SubmissionRow, [])
    assert connection.execute(select(SubmissionRow.id)).all() == []


def test_a_moment_without_a_zone_is_refused(connection: Connection) -> None:
    """Each server of PostgreSQL would read it in a zone of its own."""
    with pytest.raises((ValueError, StatementError), match="time zone"):
        insert_rows(connection, (SubmissionRow, [submission(1, time=NOW.replace(tzinfo=None))]))


def test_only_rows_that_are_named_are_changed(connection: Connection) -> None:
    """Each as its own values say, and no other column."""
    insert_rows(connection, (SubmissionRow, [submission(at, "old") for at in (1, 2, 3)]))
    update_rows(
        connection, SubmissionRow, [{"id": 3, "comment": None, "time": NOW}, {"id": 1, "comment": "new", "time": NOW}]
    )
    rows = connection.execute(select(SubmissionRow.id, SubmissionRow.comment).order_by(SubmissionRow.id)).all()
    assert [tuple(row) for row in rows] == [(1, "new"), (2, "old"), (3, None)]


@pytest.mark.parametrize("text", [*HOSTILE, "a\x00b"])
def test_rows_are_changed_and_those_that_refer_to_them_inserted(connection: Connection, text: str) -> None:
    insert_rows(connection, (SubmissionRow, [submission(1), submission(2)]))
    insert_rows(connection, (JudgementRow, [judgement(1), judgement(2)]))
    changes = [{"id": at, "state": "done", "end_time": NOW} for at in (1, 2)]
    update_rows(connection, JudgementRow, changes)
    insert_rows(connection, (RawScoreRow, [score(1, text), score(2, "")]))
    assert stored(connection, JudgementRow, changes) == changes
    assert stored(connection, RawScoreRow, [score(1, text)]) == [score(1, text), score(2, "")]
    update_rows(connection, JudgementRow, [{"id": 1, "state": "queued"}])
    assert stored(connection, JudgementRow, [{"id": 1, "state": ""}])[0]["state"] == "queued"


def test_a_batch_larger_than_a_statement_reads_back_as_it_was_written(connection: Connection) -> None:
    """Moments, documents, bytes and what is missing come back alike on both databases, each with its own answers."""
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
        for at in range(129)
    ]
    accepted = submissions.accept(connection, arriving)
    session = Session(connection)
    rows = session.scalars(select(SubmissionRow).order_by(SubmissionRow.id)).all()
    answered = session.scalars(select(AnswerRow).order_by(AnswerRow.submission_id, AnswerRow.test_case_id)).all()
    judged = session.scalars(select(JudgementRow).order_by(JudgementRow.id)).all()
    columns = ("problem_id", "team_id", "time", "contest_time_ms", "idempotency_key", "comment", "files", "sources")
    assert [tuple(getattr(row, name) for name in columns) for row in rows] == [
        tuple(getattr(new, name) for name in columns) for new in arriving
    ]
    assert [(row.submission_id, row.file_name, row.size, row.data, row.refused) for row in answered] == [
        (row.id, answer.file_name, answer.size, answer.data, answer.refused) for row in rows for answer in answers
    ]
    assert [Accepted(each.submission_id, each.id) for each in judged] == accepted
    assert {(each.state, each.current, each.start_time, each.lost) for each in judged} == {("queued", True, NOW, 0)}
