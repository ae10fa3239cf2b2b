"""One process at a time has a home and a database; the next is told who has them, and takes over when that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event

import psycopg
import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import Pool

from app.core.db.database import Database
from app.core.db.serving import KEY, InUse, hold, hold_when_free

HOLDING = """
import sys, time
from pathlib import Path
from app.core.db.serving import hold
held = hold("jurado serve", Path(sys.argv[1]), sys.argv[2])
print("held", flush=True)
time.sleep(600)
"""


def test_the_second_is_told_who_holds_it_and_a_kill_frees_it(database_url: str, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    command = [sys.executable, "-c", HOLDING, str(one), database_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        with pytest.raises(InUse, match=rf"{one} is in use by jurado serve on .*, process {first.pid}, since 20"):
            hold("jurado init", one, database_url)
        with pytest.raises(InUse, match=f"in use by jurado serve .*process {first.pid}"):
            hold("jurado serve", other, database_url)
        hold("jurado serve", other).release()  # what was taken before the refusal is free again
        told: list[str] = []

        def kill(why: str) -> None:
            told.append(why)
            os.kill(first.pid, signal.SIGKILL)

        hold_when_free("jurado serve", other, database_url, kill).release()
        assert len(told) == 1


def test_a_lock_that_was_given_back_is_free_before_the_database_notices(postgresql_url: str, tmp_path: Path) -> None:
    """As for the next command of a script, such as init after restore."""
    stopped: list[int] = []

    def stop(connection: psycopg.Connection, _record: object) -> None:
        """Stop the database's process of a connection, so that it does not see the connection close."""
        stopped.append(connection.info.backend_pid)
        os.kill(stopped[-1], signal.SIGSTOP)

    held = hold("jurado restore", tmp_path, postgresql_url)
    event.listen(Pool, "close", stop)
    try:
        held.release()
        event.remove(Pool, "close", stop)
        hold("jurado init", tmp_path, postgresql_url).release()
    finally:
        for process in stopped:
            os.kill(process, signal.SIGCONT)
    assert len(stopped) == 1


def test_who_shares_a_database_shares_it_with_others_that_do_and_with_nobody_else(
    postgresql_url: str, tmp_path: Path
) -> None:
    first = hold("jurado serve", tmp_path, postgresql_url, shared=True)
    second = hold("jurado worker", tmp_path, postgresql_url, shared=True)
    with pytest.raises(InUse, match="in use by jurado worker"):
        hold("jurado restore", tmp_path, postgresql_url)
    first.release()
    with pytest.raises(InUse, match="in use by jurado worker"):
        hold("jurado restore", tmp_path / "other", postgresql_url)
    second.release()
    alone = hold("jurado restore", tmp_path, postgresql_url)
    with pytest.raises(InUse, match="in use by jurado restore"):
        hold("jurado serve", tmp_path / "other", postgresql_url, shared=True)
    alone.release()


def test_who_loses_the_lock_writes_nothing_until_it_is_taken_again(postgresql_url: str, tmp_path: Path) -> None:
    held = hold("jurado serve", tmp_path, postgresql_url)
    lost, again, taken = Event(), Event(), Event()
    held.watch(lambda _why: lost.set(), again.set, lambda _why: taken.set())
    database = Database(postgresql_url)
    _end_holder(database)
    assert lost.wait(30)
    assert again.wait(30)
    assert not taken.is_set()
    with pytest.raises(InUse):
        hold("jurado serve", tmp_path / "other", postgresql_url)
    database.close()
    held.release()


def test_a_barred_database_takes_no_write(database_url: str) -> None:
    database = Database(database_url)
    database.barred = "this server has lost its lock"
    with pytest.raises(OperationalError, match="lost its lock"), database.write() as session:
        session.execute(text("DELETE FROM teams"))
    database.close()


def _end_holder(database: Database) -> None:
    """Cut the connection that holds the lock, as a failing network or an administrator does."""
    with database.write(quiet=True) as session:
        session.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database ="
                " (SELECT oid FROM pg_database WHERE datname = current_database())"
                " AND (CAST(classid AS bigint) << 32) | CAST(objid AS bigint) = :key"
            ),
            {"key": KEY},
        )
