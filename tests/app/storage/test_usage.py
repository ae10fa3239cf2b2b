"""Bytes of answers and sources, of one team and of several at once."""

from __future__ import annotations

from pathlib import Path

from app.storage.tables import SubmissionRow
from app.storage.usage import bytes_of_teams, bytes_used
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission
from tests.builders.service import open_service


def test_bytes_of_several_teams_are_those_of_each(database_url: str, tmp_path: Path) -> None:
    with open_service(database_url, tmp_path / "home") as service:
        add_problem(service)
        for contest_id in ("c", "d"):
            add_contest(service, contest_id, started=HOUR)
        add_submission(service, None, files={"02": b"12345", "03": b"123"})
        add_submission(service, None, files={"02": b"1"}, contest_id="d")
        other = add_submission(service, None, team="other", files={"03": b"12"})
        with service.database.write() as session:
            session.get_one(SubmissionRow, other).sources = [{"name": "a.py", "size": 40, "sha256": "0" * 64}]
        places = [("c", "team"), ("c", "other"), ("d", "team"), ("d", "other")]
        with service.database.read() as session:
            used = bytes_of_teams(session, places)
            assert [used[each] for each in places] == [bytes_used(session, *each) for each in places] == [8, 42, 1, 0]
