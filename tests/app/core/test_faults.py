"""Faults of the machine and of the database: 503 or 507 with Retry-After, never a 500, and gone when they are gone."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError, ProgrammingError

from app.core.http.errors import unavailable
from app.core.settings import Timeouts
from app.core.telemetry import Metrics
from tests.builders.contests import add_contest, add_problem
from tests.builders.proxy import proxied
from tests.builders.service import Api, open_api
from tests.builders.waiting import until


def test_everything_is_a_503_while_postgresql_is_away_and_resumes(postgresql_url: str, tmp_path: Path) -> None:
    folder = Path(postgresql_url.partition("host=")[2])
    with proxied(folder) as proxy:
        url = proxy.url(postgresql_url.partition("@/")[2].partition("?")[0])
        with open_api(url, tmp_path / "home") as api:
            add_problem(api.service)
            add_contest(api.service)
            proxy.away.set()
            proxy.cut_all()
            for path in ("contests/c/scoreboard", "contests/c/scoreboard?cases=true", "contests/c/submissions"):
                reply = api.get(path)
                assert (reply.status_code, reply.json()["code"]) == (503, 503), path
                assert reply.headers["Retry-After"] == "5"
            proxy.away.clear()
            assert api.get("contests/c/scoreboard").status_code == 200


@pytest.mark.parametrize(
    ("number", "status"),
    [(errno.EROFS, 503), (errno.EMFILE, 503), (errno.ENFILE, 503), (errno.EIO, 503), (errno.ENOSPC, 507)],
)
def test_a_fault_of_the_machine_says_that_nothing_was_kept(number: int, status: int) -> None:
    reply = unavailable(OSError(number, os.strerror(number)), "/", Metrics())
    assert reply is not None
    assert (reply.status_code, reply.headers["Retry-After"]) == (status, "5")
    assert b"nothing was kept" in bytes(reply.body)


def test_a_fault_of_the_program_is_none_of_the_machine() -> None:
    assert unavailable(FileNotFoundError(errno.ENOENT, "no such file"), "/", Metrics()) is None
    assert (
        unavailable(
            ProgrammingError("SELECT", {}, sqlite3.ProgrammingError("wrong number of bindings")), "/", Metrics()
        )
        is None
    )


def test_damaged_pages_are_a_503(tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE teams (id INTEGER PRIMARY KEY, name TEXT)"))
        connection.execute(text("INSERT INTO teams SELECT value, hex(zeroblob(900)) FROM json_each('[1,2,3,4,5,6,7]')"))
    engine.dispose()
    damaged = bytearray(path.read_bytes())
    damaged[4096:] = os.urandom(len(damaged) - 4096)
    path.write_bytes(damaged)
    with engine.connect() as connection, pytest.raises(DBAPIError) as raised:
        connection.execute(text("SELECT sum(length(name)) FROM teams"))
    engine.dispose()
    reply = unavailable(raised.value, "/", Metrics())
    assert reply is not None
    assert reply.status_code == 503


def test_a_lost_table_is_a_503(postgresql_url: str) -> None:
    engine = create_engine(postgresql_url)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE raw_scores"))
    with engine.connect() as connection, pytest.raises(DBAPIError) as raised:
        connection.execute(text("SELECT * FROM raw_scores"))
    engine.dispose()
    reply = unavailable(raised.value, "/", Metrics())
    assert reply is not None
    assert reply.status_code == 503


def test_a_deleted_database_takes_nothing_and_is_not_ready_until_it_is_back(sqlite_url: str, tmp_path: Path) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        files = [("files", ("02.out", b"2\n"))]

        def submit() -> int:
            reply = api.post("contests/c/submissions", user="team", data={"problem_id": "echo"}, files=files)
            return reply.status_code

        assert (submit(), api.get("/health/ready").status_code) == (201, 200)
        aside = path.rename(path.with_name("aside"))
        api.service.writer.committed = float("-inf")
        assert (submit(), api.get("/health/ready").status_code) == (503, 503)
        path.write_bytes(aside.read_bytes())
        assert submit() == 503, "another file"
        aside.replace(path)
        assert (submit(), api.get("/health/ready").status_code) == (201, 200)


def test_who_gets_no_answer_from_the_database_is_not_ready_and_says_so(postgresql_url: str, tmp_path: Path) -> None:
    with open_api(postgresql_url, tmp_path / "home", health_seconds=0.1) as api:
        until(lambda: api.get("/health/ready").status_code == 200)
        with api.service.database.readers.connect() as connection:
            process = connection.scalar(text("SELECT pg_backend_pid()"))
        os.kill(process, signal.SIGSTOP)
        try:
            assert [api.get("/health/ready").status_code for _ in range(2)] == [503, 503]
        finally:
            os.kill(process, signal.SIGCONT)
        until(lambda: api.get("/health/ready").status_code == 200)


def test_what_is_locked_for_too_long_is_a_503_and_nothing_is_kept(postgresql_url: str, tmp_path: Path) -> None:
    files = [("files", ("02.out", b"2\n"))]
    with open_api(postgresql_url, tmp_path / "home", timeouts=Timeouts(lock=0.1)) as api:
        add_problem(api.service)
        add_contest(api.service)
        engine = create_engine(postgresql_url)
        with engine.begin() as connection:
            connection.execute(text("LOCK TABLE submissions, raw_scores IN ACCESS EXCLUSIVE MODE"))
            sent = api.post("contests/c/submissions", user="team", data={"problem_id": "echo"}, files=files)
            shown = api.get("contests/c/scoreboard")
        engine.dispose()
        assert [(each.status_code, each.headers["Retry-After"]) for each in (sent, shown)] == [(503, "5"), (503, "5")]
        assert "nothing was kept" in sent.json()["message"]
        assert api.get("contests/c/submissions", user="admin").json() == []
        assert api.get("contests/c/scoreboard").status_code == 200


def test_who_cannot_write_is_not_ready(quick_api: Api) -> None:
    quick_api.service.database.barred = "the disk is gone"
    assert quick_api.get("/health/ready").status_code == 503
    quick_api.service.database.barred = None
    assert quick_api.get("/health/ready").status_code == 200
