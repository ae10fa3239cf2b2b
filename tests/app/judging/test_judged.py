"""A few judgements of a large contest are read without going through the rest of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from app.core.service import Service
from app.feed import queries as feed_queries
from app.submissions.queries import submission_queries
from app.tables import JudgementRow, RawScoreRow, SubmissionRow, TestCaseRow
from tests.builders.contests import add_contest, add_problem
from tests.builders.service import open_service
from tests.conftest import migrated_sqlite

SMALL, LARGE, SOME = 300, 3000, 100
STEPS_AT_ONCE = 100


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """SQLite, which plans by itself: it has no statistics, unlike PostgreSQL after a minute."""
    url = migrated_sqlite(tmp_path / "jurado.db")
    with open_service(url, tmp_path / "home") as service:
        add_problem(service)
        add_contest(service)
        fill(service, 1, SMALL)
        yield service


def fill(service: Service, first: int, last: int) -> None:
    """Write judged submissions with one run each straight into the rows."""
    now = datetime.now(UTC)
    numbers = range(first, last + 1)
    with service.database.write() as session:
        case = session.scalars(select(TestCaseRow.id)).first()
        one = {"contest_id": "c", "problem_id": "echo", "team_id": "team", "account_id": "team", "time": now}
        submissions = [{**one, "id": at, "contest_time_ms": at, "files": [], "sources": []} for at in numbers]
        done = {"state": "done", "type": "AC", "current": True, "start_time": now, "end_time": now}
        score = {
            "test_case_id": case,
            "verdict": "accepted",
            "message": {"key": "k", "text": "t", "args": {}},
            "run_time_ms": 1,
            "time": now,
        }
        session.execute(insert(SubmissionRow), submissions)
        session.execute(insert(JudgementRow), [{**done, "id": at, "submission_id": at} for at in numbers])
        session.execute(insert(RawScoreRow), [{**score, "judgement_id": at} for at in numbers])


def steps(service: Service, read: Callable[[Session], object]) -> int:
    """How many steps SQLite's machine takes for a reading."""
    taken = [0]

    def count() -> int:
        taken[0] += STEPS_AT_ONCE
        return 0

    with service.database.read() as session:
        driver = session.connection().connection.driver_connection
        driver.set_progress_handler(count, STEPS_AT_ONCE)
        try:
            read(session)
        finally:
            driver.set_progress_handler(None, 0)
    return taken[0]


SOME_IDS = range(SMALL - SOME, SMALL)
READINGS: dict[str, Callable[[Session], object]] = {
    "runs of some judgements": lambda session: submission_queries.runs(session, "c", judgements=SOME_IDS),
    "runs of some submissions": lambda session: submission_queries.runs(session, "c", among=SOME_IDS),
    "judgements of some submissions": lambda session: submission_queries.judgements_of(
        session, submission_queries.submissions(session, "c", SOME_IDS)
    ),
    "what has moved of some judgements": lambda session: feed_queries.new_since(
        session, "c", feed_queries.Mark(LARGE, LARGE, frozenset(SOME_IDS))
    ),
}


def test_reading_some_of_a_contest_takes_no_more_where_it_has_ten_times_as_many(service: Service) -> None:
    before = {name: steps(service, read) for name, read in READINGS.items()}
    fill(service, SMALL + 1, LARGE)
    after = {name: steps(service, read) for name, read in READINGS.items()}
    assert all(before.values())
    assert {name for name, count in after.items() if count > 1.5 * before[name]} == set()


def test_judgements_of_another_contest_are_not_found_by_their_ids(service: Service) -> None:
    with service.database.read() as session:
        assert submission_queries.runs(session, "d", judgements=SOME_IDS) == []
        assert len(submission_queries.runs(session, "c", judgements=SOME_IDS)) == SOME
        marked = feed_queries.Mark(LARGE, LARGE, frozenset(SOME_IDS))
        assert feed_queries.new_since(session, "d", marked).submissions == frozenset()
        assert feed_queries.new_since(session, "c", marked).submissions == frozenset(SOME_IDS)
