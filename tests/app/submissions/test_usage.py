"""Bytes of answers and sources: of one team, and of several as they are counted in the rows under their locks."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import delete

from app.core.service import Service
from app.submissions.queries.usage import Allowance, Allowances, bytes_used
from app.tables import SubmissionRow
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission
from tests.builders.service import open_service

PLACES = [("c", "team"), ("c", "other"), ("d", "team"), ("d", "other")]


def counted(service: Service, generation: int) -> list[int | None]:
    """The bytes of each team in each contest, as the writer's connection counts them."""
    wanted = [Allowance(*place, unjudged=None, size=0, generation=generation) for place in PLACES]
    with service.database.transaction(service.database.writers) as connection:
        allowances = Allowances(connection, wanted)
        return [allowances.used_too_much(each, 1) for each in wanted]


def of_each(service: Service) -> list[int]:
    """The same of each by itself."""
    with service.database.read() as session:
        return [bytes_used(session, *place) for place in PLACES]


def test_bytes_of_teams_are_those_of_each_whether_counted_before_or_not(postgresql_url: str, tmp_path: Path) -> None:
    """A connection counts only what has come since, until something else has changed."""
    with open_service(postgresql_url, tmp_path / "home") as service:
        add_problem(service)
        for contest_id in ("c", "d"):
            add_contest(service, contest_id, started=HOUR)
        add_submission(service, None, files={"02": b"12345", "03": b"123"})
        add_submission(service, None, files={"02": b"1"}, contest_id="d")
        other = add_submission(service, None, team="other", files={"03": b"12"})
        with service.database.write() as session:
            session.get_one(SubmissionRow, other).sources = [{"name": "a.py", "size": 40, "sha256": "0" * 64}]
        assert counted(service, 1) == of_each(service) == [8, 42, 1, 0]
        assert counted(service, 1) == [8, 42, 1, 0]
        add_submission(service, None, team="other", files={"02": b"1234"}, contest_id="d")
        add_submission(service, None, files={"02": b"12"})
        assert counted(service, 1) == of_each(service) == [10, 42, 1, 4]
        with service.database.write() as session:
            session.execute(delete(SubmissionRow).where(SubmissionRow.id == other))
        assert counted(service, 2) == of_each(service) == [10, 0, 1, 4]
