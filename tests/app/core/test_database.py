"""A database that is closed leaves nothing open, even what was at work at that moment."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import DBAPIError, OperationalError

from app.core.db.database import REQUESTS_READ, Database


def test_a_connection_that_is_at_work_while_its_database_closes_is_closed_when_it_is_returned(
    database_url: str,
) -> None:
    database = Database(database_url)
    opened, closed = [], []

    def count_opened(connection: Any, _record: object) -> None:
        opened.append(connection)

    def count_closed(connection: Any, _record: object) -> None:
        closed.append(connection)

    event.listen(database.engine, "connect", count_opened)
    event.listen(database.engine, "close", count_closed)
    with database.read() as at_work:
        with database.read() as idle:
            idle.execute(text("SELECT 1"))
            at_work.execute(text("SELECT 1"))
        database.close()
        assert len(closed) == 1, "the idle one"
        at_work.execute(text("SELECT 1"))
    assert len(opened) == 2
    assert {id(each) for each in closed} == {id(each) for each in opened}


def test_readers_that_hold_all_connections_for_requests_keep_nobody_from_writing(database_url: str) -> None:
    database = Database(database_url)
    with ExitStack() as readers:
        for _ in range(REQUESTS_READ):
            readers.enter_context(database.read(for_request=True)).execute(text("SELECT 1"))
        with database.write() as session:
            assert session.scalar(text("SELECT 1")) == 1
        with database.writers.connect() as connection, database.read() as own:
            assert connection.scalar(text("SELECT 1")) == own.scalar(text("SELECT 1")) == 1
    database.close()


def test_errors_of_statements_show_none_of_their_values(database_url: str) -> None:
    """They are logged, and values are answers, hashes of passwords and digests of tokens."""
    database = Database(database_url)
    statement = text("INSERT INTO nowhere (password_hash) VALUES (:value)")
    with pytest.raises(DBAPIError) as caught, database.write() as session:
        session.execute(statement, {"value": "a secret"})
    assert "nowhere" in str(caught.value)
    assert "a secret" not in str(caught.value)
    database.close()


def test_no_connection_makes_an_empty_file_where_the_database_was(sqlite_url: str) -> None:
    """SQLite would delete the log beside it, and what is only there would be lost when the file is put back."""
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    database = Database(sqlite_url)
    with database.read() as session:
        session.execute(text("SELECT 1"))  # its connection stays open, so that the log is not emptied
        with database.write() as writing:
            writing.execute(text("INSERT INTO teams (id, name, label, hidden) VALUES ('t', 'T', '1', false)"))
        aside = path.rename(path.with_name("aside"))
        with database.read() as one, database.read() as other:
            one.execute(text("SELECT 1"))
            with pytest.raises(OperationalError, match="is gone"):
                other.execute(text("SELECT 1"))
        assert not path.exists()
        aside.replace(path)
    with database.read() as session:
        assert session.scalar(text("SELECT count(*) FROM teams")) == 1
    database.close()


def test_sqlite_waits_for_the_disk_at_each_commit_outside_of_tests(tmp_path: Path) -> None:
    program = f"from app.core.db.database import Database; print(Database('sqlite:///{tmp_path / 'a.sqlite'}')"
    program += ".engine.connect().exec_driver_sql('PRAGMA synchronous').scalar())"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "2\n"


DURABILITY = """
import sys
from sqlalchemy import text
from app.core.db.database import Database
database = Database(sys.argv[1])
for durable in (False, True):
    with database.transaction(durable=durable) as connection:
        connection.execute(text("SELECT 1"))
        print(connection.execute(text(sys.argv[2])).scalar())
"""


def test_only_what_is_not_durable_goes_without_the_disk(database_url: str) -> None:
    """One after the other on one connection, in a process that does not spare the disk as tests do."""
    is_sqlite = database_url.startswith("sqlite")
    asked, levels = ("PRAGMA synchronous", "1\n2\n") if is_sqlite else ("SHOW synchronous_commit", "off\non\n")
    command = [sys.executable, "-c", DURABILITY, database_url, asked]
    assert subprocess.check_output(command, text=True) == levels
