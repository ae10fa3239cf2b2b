"""Bytes of answers and sources: of one team and of all, as they are counted in rows."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import delete

from app.core.clock import utc_now
from app.core.service import Service
from app.submissions.queries.usage import Allowance, Claim, Usage, bytes_used
from app.tables import SubmissionRow
from tests.builders.contests import HOUR, PROBLEM, add_contest, add_problem, add_submission
from tests.builders.service import open_service

PLACES = [("c", "team"), ("c", "other"), ("d", "team"), ("d", "other")]
FITS = [[False, False], [False, True], [False, True], [True, True]]


def refusals(service: Service, allowance: Allowance) -> list[int | None]:
    """The bytes used that refuse a byte of each team in each contest, as the writer's connection counts them."""
    claims = [Claim(*place, PROBLEM, utc_now(), 1, allowance=allowance) for place in PLACES]
    with service.database.transaction(service.database.writers) as connection:
        usage = Usage(connection, claims)
        refused = [usage.refusal(each) for each in claims]
    return [None if each is None else each.message.values.get("used") for each in refused]


def fit(service: Service, most: int, generation: int = 1) -> list[bool]:
    """Whether a byte more fits into each contest of at most so many."""
    claims = [
        Claim(place[0], place[1], PROBLEM, utc_now(), 1, allowance=Allowance(contest_bytes=most, generation=generation))
        for place in PLACES[::2]
    ]
    with service.database.transaction(service.database.writers) as connection:
        usage = Usage(connection, claims)
        return [usage.refusal(each) is None for each in claims]


def of_each(service: Service) -> list[int]:
    """The bytes of each team in each contest."""
    with service.database.read() as session:
        return [bytes_used(session, *place) for place in PLACES]


def test_bytes_of_teams_and_contests_are_those_of_their_rows(database_url: str, tmp_path: Path) -> None:
    """A connection counts for a contest only what has come since, until something else has changed."""
    with open_service(database_url, tmp_path / "home") as service:
        add_problem(service)
        for contest_id in ("c", "d"):
            add_contest(service, contest_id, started=HOUR)
        add_submission(service, None, files={"02": b"12345", "03": b"123"})
        add_submission(service, None, files={"02": b"1"}, contest_id="d")
        other = add_submission(service, None, team="other", files={"03": b"12"})
        assert refusals(service, Allowance(team_bytes=0)) == of_each(service) == [8, 2, 1, 0]
        assert [fit(service, most) for most in (1, 2, 10, 11)] == [
            [False, False],
            [False, True],
            [False, True],
            [True, True],
        ]
        add_submission(service, None, team="other", files={"02": b"1234"}, contest_id="d")
        add_submission(service, None, files={"02": b"12"})
        assert refusals(service, Allowance(team_bytes=0)) == of_each(service) == [10, 2, 1, 4]
        assert [fit(service, most) for most in (5, 6, 12, 13)] == [
            [False, False],
            [False, True],
            [False, True],
            [True, True],
        ]
        with service.database.write() as session:
            session.execute(delete(SubmissionRow).where(SubmissionRow.id == other))
        assert refusals(service, Allowance(team_bytes=0)) == of_each(service) == [10, 0, 1, 4]
        assert [fit(service, most, 2) for most in (10, 11)] == [[False, True], [True, True]]
