"""A server is killed in the very middle of a big import, among files or among rows: another has all or nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg

from bench.imports import write_package
from ops.chaos.model import scenario
from ops.chaos.on_many_servers import servers_of
from ops.chaos.stage import DATABASE, POSTGRESQL, Server, Stage, wait_until
from tests import postgres

CASES = 3000
LONGEST_IMPORT = 600.0
PROBLEM = "many"
NUMBER = 770077
"""That of the advisory lock at which the insertion of the middle case waits."""
HELD_UP = f"""
CREATE OR REPLACE FUNCTION held_up() RETURNS trigger LANGUAGE plpgsql
AS 'BEGIN PERFORM pg_advisory_xact_lock({NUMBER}); RETURN NEW; END';
CREATE TRIGGER held_up BEFORE INSERT ON test_cases FOR EACH ROW
WHEN (NEW.problem_id = '{PROBLEM}' AND NEW.name = '{CASES // 2:05}') EXECUTE FUNCTION held_up()
"""
WAITING = f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = {NUMBER} AND NOT granted"
ROWS = "SELECT (SELECT count(*) FROM problems WHERE id = %(id)s), count(*) FROM test_cases WHERE problem_id = %(id)s"

OPEN = """
SELECT count(*) FROM pg_locks JOIN pg_class ON pg_class.oid = relation
WHERE relname = 'test_cases' AND mode = 'RowExclusiveLock'
"""
"""Counts the transactions that write test cases."""


@scenario(POSTGRESQL)
def kills_in_the_middle_of_a_big_import(setting: Stage) -> str:
    """kill -9 of a server among the files and among the rows of 3,000 test cases: another one has nothing, then all"""
    _, one, other = servers_of(setting)
    package = setting.folder / "many.zip"
    write_package(package, CASES, 16)
    data, orphans = package.read_bytes(), []

    stored = _count_files(setting)
    _kill_while(setting, one, data, lambda: _count_files(setting) >= stored + CASES // 2)
    orphans.append(_left_nothing(setting, other))
    assert orphans[0] >= CASES // 2, f"{orphans[0]} orphans of {CASES // 2} files that were stored at least"
    _bring_in(setting, other, data)
    one.start()
    one.wait_until_ready()
    assert _count_cases(setting, one) == CASES + 1
    with setting.client(other) as admin:
        admin.delete(f"problems/{PROBLEM}").raise_for_status()

    with _held_up(setting) as is_waiting:
        _kill_while(setting, one, data, is_waiting)
    orphans.append(_left_nothing(setting, other))
    assert orphans[1] >= CASES, f"{orphans[1]} orphans of {CASES} files that were stored"
    _bring_in(setting, other, data)
    one.start()
    one.wait_until_ready()
    assert [_count_cases(setting, each) for each in (one, other)] == 2 * [CASES + 1]
    left = _orphans(setting)
    assert left < CASES // 2, f"{left} files are orphans beside a problem that needs them"
    return f"killed among files and among rows, {orphans} orphans then; brought in by the other, {left} are left"


def _kill_while(setting: Stage, server: Server, package: bytes, is_in_the_middle: Callable[[], bool]) -> None:
    """Send a package to a server, and kill that in the middle."""
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(_send, setting, server, package)
        wait_until(
            lambda: is_in_the_middle() or sending.done(), "the import does not come to its middle", LONGEST_IMPORT
        )
        assert not sending.done(), "the import has ended before its middle"
        server.kill()
        assert isinstance(sending.exception(), httpx.TransportError), "an import of a killed server was acknowledged"


def _send(setting: Stage, server: Server, package: bytes) -> httpx.Response:
    with setting.client(server) as admin:
        zipped = {"Content-Type": "application/zip"}
        return admin.post("problems", content=package, headers=zipped, timeout=LONGEST_IMPORT)


def _bring_in(setting: Stage, server: Server, package: bytes) -> None:
    reply = _send(setting, server, package)
    assert reply.status_code == httpx.codes.CREATED, reply.text[:500]
    assert _count_cases(setting, server) == CASES + 1


def _left_nothing(setting: Stage, other: Server) -> int:
    """Hold it that the other server shows nothing of the problem, and no row of it is stored; returns the orphans."""
    with setting.client(other) as admin:
        assert admin.get(f"problems/{PROBLEM}").status_code == httpx.codes.NOT_FOUND
    with _connected(setting) as connection:
        assert connection.execute(ROWS, {"id": PROBLEM}).fetchone() == (0, 0)
    return _orphans(setting)


def _orphans(setting: Stage) -> int:
    """The files that fsck calls orphans; it fails where one is missing or damaged."""
    checked = json.loads(setting.jurado("fsck", "--json").result())
    assert not checked["faults"]
    return int(checked["orphans"])


def _count_cases(setting: Stage, server: Server) -> int:
    with setting.client(server) as admin:
        return len(admin.get(f"problems/{PROBLEM}").raise_for_status().json()["testcases"])


def _count_files(setting: Stage) -> int:
    return sum(path.is_file() for path in (setting.home / "files").rglob("*"))


@contextmanager
def _held_up(setting: Stage) -> Iterator[Callable[[], bool]]:
    """Hold the insertion of the middle case up; yields what tells whether one waits there, with half of its rows."""
    with _connected(setting) as holding, _connected(setting) as looking:
        holding.execute(HELD_UP)
        holding.execute(f"SELECT pg_advisory_lock({NUMBER})")
        yield lambda: looking.execute(WAITING).fetchone() == (1,)
        holding.execute(f"SELECT pg_advisory_unlock({NUMBER})")
        wait_until(lambda: looking.execute(OPEN).fetchone() == (0,), "the import of a killed server goes on")
        holding.execute("DROP TRIGGER held_up ON test_cases")


def _connected(setting: Stage) -> psycopg.Connection[Any]:
    return psycopg.connect(host=str(setting.cluster), user=postgres.USER, dbname=DATABASE, autocommit=True)
