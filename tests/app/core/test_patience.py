"""PostgreSQL is waited for as long as a purpose allows, by a real server that is held by locks or frozen."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError, OperationalError

from app.core.db import serving
from app.core.db.commits import of_the_database
from app.core.db.database import Database
from app.core.db.migrate import upgrade
from app.core.db.writer import Writer
from app.core.settings import Settings, Timeouts
from tests import postgres

SOON = 0.05
LATER = 0.5
"""Seconds for what is to end in time even on a busy machine, where the same bound has to end something else."""
COUNT = text("SELECT count(*) FROM teams")
INSERT = text("INSERT INTO teams (id, name, label, hidden) VALUES (:id, 'Team', '', false)")


@contextmanager
def locked(url: str) -> Iterator[None]:
    """Hold a lock that no one can even read beside, as an administrator's forgotten transaction does."""
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("LOCK TABLE teams IN ACCESS EXCLUSIVE MODE"))
        yield
    engine.dispose()


@contextmanager
def opened(url: str, timeouts: Timeouts) -> Iterator[Database]:
    with closing(Database(url, timeouts)) as database:
        yield database


@contextmanager
def frozen(connection: Connection) -> Iterator[None]:
    """Stop the server process behind a connection: its system acknowledges what is sent, and it says nothing."""
    process = connection.scalar(text("SELECT pg_backend_pid()"))
    connection.rollback()
    assert process is not None
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def insert(connection: Connection, ids: list[str]) -> list[None]:
    """Keep teams: a handler of the writer."""
    return [connection.execute(INSERT, {"id": id_}).close() for id_ in ids]


@pytest.mark.parametrize("for_request", [True, False], ids=["a request's", "another's"])
def test_a_read_ends_when_its_purpose_allows_no_longer(postgresql_url: str, *, for_request: bool) -> None:
    # Within this what is not locked has to be read, and a busy machine is slow between BEGIN and the query.
    timeouts = Timeouts(read=LATER if for_request else 0, long=0 if for_request else LATER, lock=0)
    with opened(postgresql_url, timeouts) as database, database.read(for_request=for_request) as session:
        with locked(postgresql_url), pytest.raises(OperationalError, match="statement timeout") as raised:
            session.execute(COUNT)
        assert of_the_database(raised.value)
        session.rollback()
        assert session.scalar(COUNT) == 0


@pytest.mark.parametrize(("timeouts", "seconds"), [(Timeouts(write=LATER, lock=0), LATER), (Timeouts(lock=SOON), SOON)])
def test_the_writer_gives_up_what_is_locked_and_keeps_the_next(
    postgresql_url: str, timeouts: Timeouts, seconds: float
) -> None:
    """The last error is that of the short time for which it is tried alone."""
    with opened(postgresql_url, timeouts) as database:
        writer, began = Writer(database), time.monotonic()
        with locked(postgresql_url), pytest.raises(OperationalError, match="lock timeout"):
            writer.submit(insert, "one").result()
        assert time.monotonic() - began >= seconds
        writer.submit(insert, "two").result()
        writer.close()
        with database.read() as session:
            assert session.scalars(text("SELECT id FROM teams")).all() == ["two"]


def test_a_migration_waits_for_no_lock_for_ever(postgresql_url: str) -> None:
    engine = create_engine(postgresql_url)
    with engine.begin() as connection:
        connection.execute(text("LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE"))
        with pytest.raises(OperationalError, match="lock timeout"):
            upgrade(postgresql_url, Timeouts(lock=SOON))
        with pytest.raises(OperationalError, match="statement timeout"):
            upgrade(postgresql_url, Timeouts(lock=0, migration=LATER))
    engine.dispose()


def test_an_idle_transaction_of_the_writer_frees_what_it_locked(postgresql_url: str) -> None:
    with opened(postgresql_url, Timeouts(idle=LATER, lock=0)) as database:
        with database.writers.connect() as connection:
            connection.execute(text("LOCK TABLE teams IN ACCESS EXCLUSIVE MODE"))
            with database.read() as session:  # waits for the lock: its holder does nothing any longer
                assert session.scalar(COUNT) == 0
            with pytest.raises(DBAPIError, match=r"idle-in-transaction timeout|closed the connection"):
                connection.execute(COUNT)
            connection.invalidate()
        with database.writers.connect() as connection:
            assert connection.scalar(COUNT) == 0


def test_a_frozen_connection_is_given_up_and_another_one_is_taken(postgresql_url: str) -> None:
    with opened(postgresql_url, Timeouts(read=LATER, reply=LATER)) as database:
        with database.readers.connect() as connection, frozen(connection):
            with pytest.raises(OperationalError, match="timeout") as raised:
                connection.execute(COUNT)
            assert raised.value.connection_invalidated
        with ExitStack() as stack:
            with database.readers.connect() as connection:
                stack.enter_context(frozen(connection))
            with database.readers.connect() as connection:  # noticed before anyone uses it
                assert connection.scalar(COUNT) == 0


def test_the_settings_say_how_long_a_silent_network_is_waited_for() -> None:
    bounded = serving.network_patience(Settings(database_silent_seconds=12).timeouts.silent)
    assert (bounded["tcp_user_timeout"], bounded["keepalives_idle"], bounded["keepalives_interval"]) == (12_000, 6, 2)
    assert serving.network_patience(0) == {"connect_timeout": serving.CONNECT_SECONDS}


def test_each_timeout_is_a_bound_that_postgresql_has(postgresql_url: str) -> None:
    names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    with opened(postgresql_url, Timeouts(read=1, write=2, long=3, lock=4, idle=5)) as database:
        shown = {}
        for which, engine in (("read", database.readers), ("write", database.writers), ("long", database.engine)):
            with engine.connect() as connection:
                shown[which] = [connection.scalar(text(f"SHOW {name}")) for name in names]
    assert shown == {"read": ["1s", "4s", "5s"], "write": ["2s", "250ms", "5s"], "long": ["3s", "4s", "3s"]}


def test_a_database_that_does_not_hold_utf_8_is_refused_with_what_makes_one_that_does(postgresql_url: str) -> None:
    """Of SQL_ASCII the driver gives bytes for texts, and the first statement ended with a TypeError."""
    folder, name = Path(postgresql_url.partition("host=")[2]), "of_ascii"
    made = f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'"
    postgres.administer(folder, f"DROP DATABASE IF EXISTS {name}", made)
    database = Database(postgres.url(folder, name))
    try:
        with pytest.raises(OperationalError, match="expected the encoding UTF8, found SQL_ASCII: make it anew with"):
            database.engine.connect()
    finally:
        database.close()
        postgres.administer(folder, f"DROP DATABASE {name}")
