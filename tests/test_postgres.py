"""The databases of the tests: each test has its own, on a real server."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest
import sqlalchemy
from sqlalchemy import text

from tests import postgres

A_RUN = """
import sys, time
from pathlib import Path
from tests import postgres
held = postgres.hold(Path(sys.argv[1]))
postgres.start(Path(sys.argv[1]))
print("started", flush=True)
time.sleep(600)
"""


def test_a_test_gets_an_empty_migrated_database_on_each_kind(database_url: str) -> None:
    engine = sqlalchemy.create_engine(database_url)
    with engine.begin() as connection:
        tables = sqlalchemy.inspect(connection).get_table_names()
        assert "alembic_version" in tables
        connection.execute(text("CREATE TABLE only_here (id INTEGER)"))
    engine.dispose()


def test_what_one_test_writes_no_other_sees(database_url: str) -> None:
    engine = sqlalchemy.create_engine(database_url)
    assert "only_here" not in sqlalchemy.inspect(engine).get_table_names()
    engine.dispose()


def test_the_server_of_the_tests_writes_each_commit_before_it_acknowledges_it_and_waits_for_no_disk(
    postgresql_url: str,
) -> None:
    engine = sqlalchemy.create_engine(postgresql_url)
    with engine.connect() as connection:
        assert connection.scalar(text("SHOW synchronous_commit")) == "on"
        assert connection.scalar(text("SHOW full_page_writes")) == "on"
        assert connection.scalar(text("SHOW fsync")) == "off"
        assert connection.scalar(text("SHOW listen_addresses")) == ""
    engine.dispose()


def test_the_server_ends_with_its_run_even_when_that_is_killed() -> None:
    folder = Path(tempfile.mkdtemp(prefix="jurado-tests-"))
    with subprocess.Popen([sys.executable, "-c", A_RUN, str(folder)], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "started\n"
        postgres.administer(folder, "SELECT 1")
        run.kill()
    assert postgres.wait_until_gone(folder)
    with pytest.raises(psycopg.OperationalError):
        postgres.administer(folder, "SELECT 1")
