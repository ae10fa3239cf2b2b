"""A PostgreSQL server of the test run's own: a fresh cluster in a temporary folder, reached by a socket in that folder.

`python tests/postgres.py FOLDER` is its keeper: it makes the cluster, runs the server and stops it as soon as the lock
on FOLDER/alive is free. The test run holds that lock, and the kernel frees it however the run ends, kill -9 included.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

USER = "jurado"
TEMPLATE = "jurado_template"
SECONDS_TO_START = 60
UNPRIVILEGED = ("postgres", "nobody")
NO_DISK = {"fsync": "off", "wal_init_zero": "off"}
"""Nothing waits for the disk: a cluster that is thrown away outlives kills of its processes, which tests try, as each
commit is still written before it is acknowledged; only a loss of power would damage it."""
DURABLE = "--durable"
COPIED = "STRATEGY FILE_COPY"
"""How a database is made of its template: file by file, half the work of block by block through the log."""
MOST_USES = 100
"""A database is given out so often: rows that were deleted take room in it until PostgreSQL tidies up."""
MADE_BY_USERS = 16384
"""The first object id that PostgreSQL gives to what a user makes."""
OWN_ID = "(SELECT oid FROM pg_database WHERE datname = current_database())"
CATALOGS = ("namespace", "class", "attrdef", "constraint", "proc", "trigger", "type")
SCHEMA = " UNION ALL ".join(
    [
        *(
            f"SELECT count(*), sum(xmin::text::bigint) FROM pg_{catalog} WHERE {column} >= {MADE_BY_USERS}"
            for catalog, column in [*((each, "oid") for each in CATALOGS), ("attribute", "attrelid")]
        ),
        "SELECT count(*), sum(hashtext(version_num)) FROM alembic_version",
        f"SELECT count(*), sum(hashtext(setconfig::text)) FROM pg_db_role_setting WHERE setdatabase = {OWN_ID}",
    ]
)
"""Counts what users have made, and sums the transactions that wrote it: any change of the schema changes a number,
and so does a setting of the database, which its connections would begin with."""
EMPTYING = """
SELECT format('DELETE FROM %I', tablename) FROM pg_tables WHERE schemaname = 'public' AND tablename != 'alembic_version'
UNION ALL
SELECT format('SELECT setval(%L, %s, false)', format('%I.%I', schemaname, sequencename), start_value) FROM pg_sequences
"""
OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid != %s"


def url(folder: Path, database: str) -> str:
    """Name a database of the server whose socket is in `folder`, as SQLAlchemy wants it."""
    return f"postgresql+psycopg://{USER}@/{database}?host={folder}"


def administer(folder: Path, *statements: str) -> None:
    """Run statements one by one as the server's superuser, outside of any transaction."""
    with psycopg.connect(host=str(folder), user=USER, dbname="postgres", autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


@dataclass
class Fresh:
    """A database as the template: what its schema consists of, the statements that empty it, how often it was used."""

    name: str
    schema: list[Any]
    emptying: str
    uses: int = 0


class Databases:
    """The databases of one process: emptied between tests, as emptying takes a hundredth of the work of a copy.

    One whose schema a test has changed is dropped, and the next test gets a new copy of the template.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._free: list[Fresh] = []

    def take(self) -> Fresh:
        """A database with the schema and nothing else, of which no one else knows."""
        return self._free.pop() if self._free else self._copy()

    def give_back(self, used: Fresh) -> None:
        """Make it as it was, whoever is still connected; or drop it."""
        used.uses += 1
        if used.uses < MOST_USES and self._emptied(used):
            self._free.append(used)
        else:
            with suppress(psycopg.errors.ObjectInUse):  # who is connected takes long to end: it goes with the cluster
                administer(self._folder, f"DROP DATABASE {used.name} WITH (FORCE)")

    def _copy(self) -> Fresh:
        name = f"test_{uuid.uuid4().hex}"
        administer(self._folder, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} {COPIED}")
        with self._connect(name) as connection:
            emptying = ";".join(row[0] for row in connection.execute(EMPTYING))
            return Fresh(name, connection.execute(SCHEMA).fetchall(), emptying)

    def _emptied(self, used: Fresh) -> bool:
        try:
            with self._connect(used.name) as connection:
                connection.execute(OTHERS, [connection.info.backend_pid])
                if connection.execute(SCHEMA).fetchall() != used.schema:
                    return False
                connection.execute("SET LOCAL session_replication_role = replica")  # foreign keys wait for no order
                connection.execute(used.emptying)
                return True
        except psycopg.Error:  # renamed, closed to connections, locked for long: not what the next test should get
            return False

    def _connect(self, name: str) -> psycopg.Connection[tuple[Any, ...]]:
        patience = "-c lock_timeout=10s -c client_min_messages=error"
        return psycopg.connect(host=str(self._folder), user=USER, dbname=name, options=patience)


def programs() -> Path:
    """Find the folder of initdb and postgres: the newest version Debian has, otherwise the one on the PATH."""
    for folder in [*_debian_versions(), *_on_the_path()]:
        if all(os.access(folder / name, os.X_OK) for name in ("initdb", "postgres")):
            return folder
    raise FileNotFoundError("PostgreSQL's server programs (initdb, postgres) are missing: sh scripts/test_needs.sh")


def _debian_versions() -> list[Path]:
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    return sorted(folders, key=lambda folder: float(folder.parent.name), reverse=True)


def _on_the_path() -> Iterator[Path]:
    if (initdb := shutil.which("initdb")) is not None:
        yield Path(initdb).resolve().parent
    if (pg_config := shutil.which("pg_config")) is not None:
        yield Path(subprocess.check_output([pg_config, "--bindir"], text=True).strip())


def hold(folder: Path) -> int:
    """Say that the run is alive until the file returned is closed, or this process ends in whatever way."""
    held = os.open(folder / "alive", os.O_CREAT | os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    return held


def wait_until_gone(folder: Path, seconds: float = 10) -> bool:
    """Wait until the keeper has stopped its server and taken the folder away; False if it has not in time."""
    deadline = time.monotonic() + seconds
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not folder.exists()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file that is made where it is missing."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def start(folder: Path, *, durable: bool = False) -> None:
    """Start the keeper in the background and wait until its server answers; only one caller may do it.

    A `durable` server waits for the disk at each commit, as one does that people use.
    """
    log = folder / "keeper.log"
    with log.open("w") as output:
        publisher = subprocess.Popen(
            [sys.executable, __file__, str(folder), *([DURABLE] if durable else [])],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for the tests: the keeper ends after them
        )
    threading.Thread(target=publisher.wait, daemon=True).start()
    deadline = time.monotonic() + SECONDS_TO_START
    while not (folder / "ready").exists():
        if publisher.returncode is not None or time.monotonic() > deadline:
            raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text()}")
        time.sleep(0.05)


def keep(folder: Path, *, durable: bool = False) -> None:
    """Run a server in `folder` until the test run is over, then take the folder away."""
    owner = server_user()
    if owner:
        shutil.chown(folder, owner["user"], owner["group"])
    data = folder / "data"
    try:
        _make_cluster(data, owner)
        server = subprocess.Popen(
            [programs() / "postgres", *options(folder, data, durable=durable)], cwd=folder, **owner
        )
        try:
            _wait_until_it_answers(folder, server)
            (folder / "ready").touch()
            with locked(folder / "alive"):
                pass
        finally:
            server.send_signal(signal.SIGQUIT)  # the cluster is thrown away: nothing to save
            server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def server_user() -> dict[str, Any]:
    """Give subprocess the user to run the server as: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = next(known[name] for name in UNPRIVILEGED if name in known)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _make_cluster(data: Path, owner: dict[str, Any]) -> None:
    command = [programs() / "initdb", "--no-sync", "--pgdata", data, "--username", USER, "--auth", "trust"]
    subprocess.run([*command, "--encoding", "UTF8", "--locale", "C"], cwd=data.parent, check=True, **owner)


def options(folder: Path, data: Path, *, durable: bool = False) -> list[str]:
    settings = {
        "listen_addresses": "",  # no port at all: only the socket
        "unix_socket_directories": str(folder),
        "unix_socket_permissions": "0700",
        "max_connections": "300",
        "shared_buffers": "64MB",
        "log_min_messages": "fatal",
        **({} if durable else NO_DISK),
    }
    return ["-D", str(data), *(f"--{name}={value}" for name, value in settings.items())]


def _wait_until_it_answers(folder: Path, server: subprocess.Popen[bytes]) -> None:
    while True:
        try:
            return administer(folder)
        except psycopg.OperationalError:
            if server.poll() is not None:
                raise
            time.sleep(0.05)


if __name__ == "__main__":
    keep(Path(sys.argv[1]), durable=DURABLE in sys.argv[2:])
