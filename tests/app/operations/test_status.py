"""The state of an installation and what to do: `GET /api/status`, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.archive.queries import scrub
from app.core.clock import utc_now
from app.core.db.locks import SERVER, WORKER, Sign, Work, write_signs
from app.domain.contests import Clock
from app.domain.counting import JudgementType
from app.operations.service.status import next_event
from app.tables import JudgementRow, LastBackupRow, SubmissionRow
from tests.builders.contests import HOUR, add_contest, add_problem
from tests.builders.judging import judge
from tests.builders.service import Api, open_api
from tests.builders.two import two_apis


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service, started=HOUR)
        yield api


def whole(api: Api) -> dict[str, Any]:
    reply = api.get("status", user="admin")
    assert reply.status_code == 200, reply.text
    document: dict[str, Any] = reply.json()
    return document


def advised(document: dict[str, Any]) -> dict[str, bool]:
    """The parts that something is to be done about, and whether it is urgent."""
    return {each["name"]: each["mark"] == "open" for each in document["parts"] if each["advice"]}


def submit(api: Api) -> None:
    body = {"problem_id": "echo"}
    reply = api.post("contests/c/submissions", user="team", data=body, files={"files": ("02.out", b"2\n")})
    assert reply.status_code == 201, reply.text


def test_a_sound_installation_needs_a_backup_and_nothing_else(api: Api) -> None:
    document = whole(api)
    status = document["status"]
    assert document["ready"]
    assert set(advised(document)) == {"Last backup"}
    assert status["database"]["kind"] in {"SQLite", "PostgreSQL"}
    assert status["database"]["size"] > 10_000
    assert [each["id"] for each in status["contests"]] == ["c"]
    assert status["next_event"]["contest_id"] == "c"
    assert status["files"]["free_bytes"] > 0
    assert status["broker"] is None
    row = LastBackupRow(made=utc_now(), place="/backup", files=3, size=4, faulty=0)
    with api.service.database.write() as session:
        scrub.write(session, row)
    assert advised(whole(api)) == {}
    assert whole(api)["status"]["backup"]["place"] == "/backup"


def test_what_waits_and_what_was_judged_lately_is_counted(api: Api) -> None:
    for _ in range(3):
        submit(api)
    judge(api.service, most=1)
    judging = whole(api)["status"]["judging"]
    assert judging["waiting"] == 2
    assert judging["oldest_seconds"] >= 0
    assert judging["submissions_per_second"] == pytest.approx(3 / 300)
    assert judging["verdict_seconds_95"] >= judging["verdict_seconds_median"] >= 0
    with api.service.database.write() as session:
        row = session.get_one(JudgementRow, 1)
        row.type, row.error = JudgementType.JE.value, "the checker broke\nat line 3"
        session.get_one(SubmissionRow, row.submission_id).external_id = "theirs-7"
    document = whole(api)
    assert document["status"]["judge_errors"] == 1
    (error,) = [each["advice"] for each in document["parts"] if each["name"] == "Judge errors"]
    assert "submission theirs-7 of c (the checker broke)" in error
    assert "rejudge c" in error


def test_a_process_that_is_silent_is_named_and_one_of_another_version_too(api: Api) -> None:
    now = utc_now()
    writer = api.service.writer
    for sign in (
        Sign("one", SERVER, now, now, Work(2)),
        Sign("two", WORKER, now, now - timedelta(minutes=1), Work(4, 1)),
    ):
        writer.submit(write_signs, sign).result()
    document = whole(api)
    assert [(each["kind"], each["alive"]) for each in document["status"]["processes"]] == [
        ("server", True),
        ("worker", False),
    ]
    assert any(what.startswith("worker ") for what in advised(document))
    with api.service.database.write() as session:
        session.connection().exec_driver_sql("UPDATE processes SET version = '0.0.9' WHERE id = 'two'")
    writer.submit(write_signs, Sign("two", WORKER, now, now, Work(4, 1))).result()
    assert {"versions", "Graders that died"} <= set(advised(whole(api)))


def test_a_broker_that_is_away_and_the_lack_of_workers_are_urgent(postgresql_url: str, tmp_path: Path) -> None:
    with two_apis(postgresql_url, tmp_path) as (one, _):
        document = whole(one)
        assert document["status"]["broker"]["error"]
        assert advised(document)["Broker"]
        assert advised(document)["Workers"]


@pytest.mark.machine("broker")
def test_queues_are_shown_as_the_broker_counts_them(postgresql_url: str, broker_url: str, tmp_path: Path) -> None:
    from app.judging.service.broker import new_message, open_broker

    broker = open_broker(broker_url)
    broker.enqueue(new_message())
    with two_apis(postgresql_url, tmp_path, broker_url=broker_url) as (one, _):
        document = whole(one)
        while not document["status"]["broker"]["queues"]:  # on a busy machine it may seem to be away
            document = whole(one)
        queues = {each["name"]: each for each in document["status"]["broker"]["queues"]}
        assert queues["jurado.judgements"] == {"name": "jurado.judgements", "ready": 1, "consumers": 0}
        assert advised(document)["Broker"]
    broker.close()


def test_only_admins_see_it(api: Api) -> None:
    assert [api.get("status", user=user).status_code for user in ("judge", "team", None)] == [403, 403, 401]


def test_the_next_event_is_the_first_moment_to_come_of_any_contest() -> None:
    now = datetime(2026, 11, 23, 12, tzinfo=UTC)
    hour = timedelta(hours=1)
    running = Clock(now - hour, 3 * hour, freeze_before_end=hour, thaw=now + 5 * hour)
    later = Clock(now + 1.5 * hour, hour)
    event = next_event([("later", later), ("running", running)], now)
    assert event is not None
    assert (event.contest_id, event.event, event.seconds) == ("running", "freezes", 3600)
    event = next_event([("later", later)], now)
    assert event is not None
    assert event.event == "starts"
    assert next_event([("over", Clock(now - 2 * hour, hour)), ("unset", Clock(None, hour))], now) is None
