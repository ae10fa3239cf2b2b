"""The databases of the tests: each test has its own, on a real server."""

from __future__ import annotations

import sqlalchemy
from sqlalchemy import text


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


def test_the_server_of_the_tests_keeps_its_promise_to_the_disk(postgresql_url: str) -> None:
    engine = sqlalchemy.create_engine(postgresql_url)
    with engine.connect() as connection:
        assert connection.scalar(text("SHOW fsync")) == "on"
        assert connection.scalar(text("SHOW listen_addresses")) == ""
    engine.dispose()
