"""The state of an installation and what to do: `GET /api/status`, on both databases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from app.core.clics import parse_time
from app.core.clock import utc_now
from app.core.db.locks import SERVER, WORKER, Work, write_signs
from app.domain.counting import JudgementType
from app.operations.queries import recent
from app.tables import JudgementRow, LastBackupRow, SubmissionRow
from tests.builders.contests import HOUR, add_contest, add_problem
from tests.builders.judging import judge
from tests.builders.processes import sign
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


def figures(document: dict[str, Any]) -> dict[str, str]:
    """What each part is now."""
    return {each["name"]: each["figure"] for each in document["parts"]}


def submit(api: Api) -> None:
    body = {"problem_id": "echo"}
    reply = api.post("contests/c/submissions", user="team", data=body, files={"files": ("02.out", b"2\n")})
    assert reply.status_code == 201, reply.text


def test_a_sound_installation_needs_a_backup_and_nothing_else(api: Api) -> None:
    document = whole(api)
    figure = figures(document)
    assert document["ready"]
    assert parse_time(document["time"]) <= utc_now()
    assert set(advised(document)) == {"Last backup"}
    assert re.fullmatch(r"(SQLite|PostgreSQL) [0-9.]+.*, [1-9][0-9.]* [KMG]B", figure["Database in use"])
    assert figure["Running contests"] == "c"
    assert " free" in figure["Storage location"]
    assert "Broker" not in figure
    row = LastBackupRow(id=1, made=utc_now(), place="/backup", files=3, size=4, faulty=0)
    with api.service.database.write() as session:
        session.merge(row)
    assert advised(whole(api)) == {}
    assert figures(whole(api))["Last backup"].endswith(" UTC, in /backup")


def test_what_waits_and_what_was_judged_lately_is_counted(api: Api) -> None:
    for _ in range(3):
        submit(api)
    judge(api.service, most=1)
    figure = figures(whole(api))
    assert figure["Waiting to be judged"].startswith("2, the oldest for ")
    assert figure["Last 5 minutes"].startswith("0.01 submissions a second; verdict after ")
    with api.service.database.read() as session:
        last = recent(session, utc_now())
    assert last.rate == pytest.approx(3 / 300)
    assert last.median is not None
    assert last.most is not None
    assert last.most >= last.median >= 0
    with api.service.database.write() as session:
        row = session.get_one(JudgementRow, 1)
        row.type, row.error = JudgementType.JE.value, "the checker broke\nat line 3"
        session.get_one(SubmissionRow, row.submission_id).external_id = "theirs-7"
    document = whole(api)
    assert figures(document)["Judge errors"] == "1"
    (error,) = [each["advice"] for each in document["parts"] if each["name"] == "Judge errors"]
    assert "submission theirs-7 of c (the checker broke)" in error
    assert "rejudge c" in error


def test_a_process_that_is_silent_is_named_and_one_of_another_version_too(api: Api) -> None:
    now = utc_now()
    writer = api.service.writer
    for row in (
        sign("one", SERVER, now, now, Work(2)),
        sign("two", WORKER, now, now - timedelta(minutes=1), Work(4, 1)),
    ):
        writer.submit(write_signs, row).result()
    document = whole(api)
    assert figures(document)["Servers"].startswith("1 running, their graders: 2; ")
    assert any(what.startswith("worker ") for what in advised(document))
    with api.service.database.write() as session:
        session.connection().exec_driver_sql("UPDATE processes SET version = '0.0.9' WHERE id = 'two'")
    writer.submit(write_signs, sign("two", WORKER, now, now, Work(4, 1))).result()
    assert {"versions", "Graders that died"} <= set(advised(whole(api)))


def test_a_broker_that_is_away_and_the_lack_of_workers_are_urgent(postgresql_url: str, tmp_path: Path) -> None:
    with two_apis(postgresql_url, tmp_path) as (one, _):
        document = whole(one)
        assert figures(document)["Broker"] == "does not answer"
        assert advised(document)["Broker"]
        assert advised(document)["Workers"]


@pytest.mark.machine("broker")
def test_queues_are_shown_as_the_broker_counts_them(postgresql_url: str, broker_url: str, tmp_path: Path) -> None:
    from app.judging.service.broker import Sender

    sender = Sender(broker_url)
    sender.call()
    sender.close()
    with two_apis(postgresql_url, tmp_path, broker_url=broker_url) as (one, _):
        document = whole(one)
        while figures(document)["Broker"] == "does not answer":  # on a busy machine it may seem to be away
            document = whole(one)
        assert figures(document)["Broker"] == "queued messages: judgements 1; at workers: 0"
        assert advised(document)["Broker"]


def test_only_admins_see_it(api: Api) -> None:
    assert [api.get("status", user=user).status_code for user in ("judge", "team", None)] == [403, 403, 401]
