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
from tests.conftest import postgresql_databases, run_folder

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


CHANGES = (
    "CREATE TABLE more (id INTEGER)",
    "ALTER TABLE teams ADD COLUMN more INTEGER",
    "ALTER TABLE teams RENAME COLUMN name TO more",
    "ALTER TABLE teams ALTER COLUMN label SET DEFAULT 'x'",
    "DROP TABLE raw_scores",
    "CREATE INDEX more ON teams (name)",
    "CREATE FUNCTION more() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
    "DROP SCHEMA public CASCADE; CREATE SCHEMA public",
    "UPDATE alembic_version SET version_num = 'older'",
    "DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET jit = off', current_database()); END$$",
    "DO $$BEGIN EXECUTE format('ALTER ROLE jurado IN DATABASE %I SET jit = off', current_database()); END$$",
)


def connect(database: postgres.Fresh) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(host=str(run_folder()), user=postgres.USER, dbname=database.name)


def test_a_database_that_is_given_out_again_is_as_new_whoever_has_written_and_is_connected() -> None:
    databases = postgresql_databases()
    used = databases.take()
    next_id = "SELECT nextval('submissions_id_seq')"
    with connect(used) as writer:
        writer.execute("INSERT INTO teams (id, name, label, hidden) VALUES ('a', 'A', 'a', false)")
        assert writer.execute(next_id).fetchone() == (1,)
    left = connect(used)
    left.execute("UPDATE teams SET name = 'B'")  # its lock is held by a transaction that does not end
    databases.give_back(used)
    again = databases.take()
    assert again.name == used.name
    with connect(again) as reader:
        assert reader.execute("SELECT count(*) FROM teams").fetchone() == (0,)
        assert reader.execute(next_id).fetchone() == (1,)
    with pytest.raises(psycopg.OperationalError):
        left.execute("SELECT 1")
    left.close()
    databases.give_back(again)


@pytest.mark.parametrize("change", CHANGES)
def test_a_database_whose_schema_or_settings_were_changed_is_not_given_out_again(change: str) -> None:
    databases = postgresql_databases()
    used = databases.take()
    with connect(used) as connection:
        connection.execute(change)
    databases.give_back(used)
    again = databases.take()
    assert again.name != used.name
    databases.give_back(again)


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
