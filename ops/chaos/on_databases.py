"""The database is away, another one, locked or crashed while teams submit, and then back."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import psycopg

from ops.chaos.audit import audit
from ops.chaos.load import Load, under_load, wait_for
from ops.chaos.model import POSTGRESQL, SQLITE, scenario
from ops.chaos.stage import DATABASE, Server, Stage, drop, wait_until
from tests import postgres

ASIDE = "chaos_aside"
LONGEST_SILENCE = 5.0


@scenario(SQLITE)
def database_deleted(setting: Stage) -> str:
    """SQLite's file is moved away, then another one is in its place: nothing is acknowledged, and no server starts"""
    server, load = setting.serve(), Load(setting.size.submissions)
    path = setting.home / "jurado.db"
    aside, copy = path.with_name("aside.db"), setting.folder / "copy.db"

    def take_away() -> None:
        wait_for(load, 1 / 3)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        path.rename(aside)
        _expect_nothing_taken(server, load)
        path.write_bytes(copy.read_bytes())
        _expect_nothing_taken(server, load)
        aside.replace(path)
        setting.recoveries.append(load.recovered())
        wait_for(load, 2 / 3)
        server.kill()
        away = [path.rename(setting.folder / path.name) for path in setting.home.glob("jurado.db*")]
        assert "their database is not there" in server.refused()
        for each in away:
            each.rename(setting.home / each.name)
        server.start()
        setting.recoveries.append(load.recovered())

    under_load(load, setting, server.url, take_away)
    audit(setting, server, load)
    return f"{load.refused} refused while the file was away or another one; a start without it was refused"


@scenario(POSTGRESQL)
def database_dropped(setting: Stage) -> str:
    """PostgreSQL's database is renamed, and an empty one made in its place; then it is back under its name"""
    server, load, cluster = setting.serve(), Load(setting.size.submissions), setting.cluster
    assert cluster is not None

    def take_away() -> None:
        drop(cluster, ASIDE)
        for deed in ("gone", "empty"):
            wait_for(load, 1 / 3)
            _rename(cluster, DATABASE, ASIDE)
            if deed == "empty":
                postgres.administer(cluster, f"CREATE DATABASE {DATABASE}")
            _expect_nothing_taken(server, load)
            drop(cluster, DATABASE)
            _rename(cluster, ASIDE, DATABASE)
            setting.recoveries.append(load.recovered())

    under_load(load, setting, server.url, take_away)
    audit(setting, server, load)
    return f"{load.refused} refused and {load.unsure} in doubt while it was away or empty"


@scenario(POSTGRESQL)
def database_crashes(setting: Stage) -> str:
    """kill -9 of a process of PostgreSQL under load, so that all its connections end and it recovers from its log"""
    server, load, cluster = setting.serve(), Load(setting.size.submissions), setting.cluster
    assert cluster is not None

    def crash() -> None:
        for at in range(1, setting.size.kills + 1):
            wait_for(load, at / (setting.size.kills + 1))
            with psycopg.connect(host=str(cluster), user=postgres.USER, dbname=DATABASE) as connection:
                psutil.Process(connection.info.backend_pid).kill()
                with _expected_to_break():
                    connection.execute("SELECT 1")
            setting.recoveries.append(load.recovered())

    under_load(load, setting, server.url, crash)
    audit(setting, server, load)
    return f"{setting.size.kills} crashes, {load.refused} refused, {load.unsure} in doubt"


@scenario()
def database_stall(setting: Stage) -> str:
    """the database is locked for some seconds; soon after it, submissions are taken and the feed tells them"""
    server, load = setting.serve(), Load(setting.size.submissions)
    silences: list[float] = []

    def stall() -> None:
        wait_for(load, 1 / 2)
        with _locked(setting):
            time.sleep(setting.size.seconds)
        ended = time.monotonic()
        setting.recoveries.append(load.recovered())
        assert load.follower is not None
        follower = load.follower
        wait_until(lambda: any(at > ended for at in follower.times), "the feed is silent after the stall")
        silences.append(follower.silence(ended))

    under_load(load, setting, server.url, stall)
    audit(setting, server, load)
    (silence,) = silences
    assert silence < LONGEST_SILENCE, f"the feed was silent for {silence:.1f} s after a stall"
    return (
        f"after a stall of {setting.size.seconds:.0f} s the feed was silent for {silence:.1f} s; {load.refused} refused"
    )


def _expect_nothing_taken(server: Server, load: Load) -> None:
    """From the first refusals on nothing is acknowledged, and the server says that it is not ready."""
    load.expect_refusals()
    taken = load.acknowledged
    assert not server.is_ready(), "it says that it is ready"
    load.expect_refusals()
    assert load.acknowledged == taken, "something was acknowledged without its database"


def _rename(cluster: Path, name: str, to: str) -> None:
    postgres.administer(
        cluster,
        f"ALTER DATABASE {name} ALLOW_CONNECTIONS false",
        f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{name}'",
        f"ALTER DATABASE {name} RENAME TO {to}",
        f"ALTER DATABASE {to} ALLOW_CONNECTIONS true",
    )


@contextmanager
def _expected_to_break() -> Iterator[None]:
    try:
        yield
    except psycopg.OperationalError:
        return
    raise AssertionError("the connection lives")


@contextmanager
def _locked(setting: Stage) -> Iterator[None]:
    """Let no one write (SQLite), or neither read nor write submissions (PostgreSQL)."""
    if setting.cluster is None:
        with closing(sqlite3.connect(setting.home / "jurado.db", timeout=60, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield
        return
    with psycopg.connect(host=str(setting.cluster), user=postgres.USER, dbname=DATABASE) as connection:
        connection.execute("LOCK TABLE submissions IN ACCESS EXCLUSIVE MODE")
        yield
