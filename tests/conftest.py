"""What every test may ask for: a fresh database, migrated by the real migrations, on SQLite and on PostgreSQL."""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import psutil
import pytest
import structlog

from app.core import telemetry
from app.core.effort import EFFORT
from app.sandbox.model import ALLOWED, AS_ROOT
from tests import forks, postgres, rabbitmq, s3
from tests.builders.dialects import share_statements

HELD = pytest.StashKey[int]()
RUN_FOLDER = "JURADO_TEST_RUN_FOLDER"
WORKERS = "PYTEST_XDIST_AUTO_NUM_WORKERS"
MEMORY_OF_A_WORKER = 2 * 2**30
"""With what it starts: graders, servers, a browser."""

os.environ[AS_ROOT] = ALLOWED  # for the servers of tests: containers and machines of a CI often have root alone
EFFORT.waits_for_disk, EFFORT.seconds_to_hear = False, 0.02
EFFORT.hash_passes, EFFORT.hash_kib = 1, 8
share_statements()
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], telemetry.ON_A_TERMINAL])
hypothesis.settings.register_profile(  # a busy machine is no failure, and what chance finds is no change's fault
    "jurado", deadline=None, derandomize=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.register_profile(
    "long",
    hypothesis.settings.get_profile("jurado"),
    derandomize=False,
    max_examples=10 * hypothesis.settings.default.max_examples,
)
hypothesis.settings.load_profile("jurado")


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder this run shares between its processes, and hold the lock that says that the run is alive."""
    if hasattr(config, "workerinput"):
        return
    folder = Path(tempfile.mkdtemp(prefix="jurado-tests-"))
    os.environ[RUN_FOLDER] = str(folder)
    config.stash[HELD] = postgres.hold(folder)


def pytest_xdist_auto_num_workers() -> int | None:
    """Three workers for two cores: while a test waits for servers, a broker or a browser, another one has its core."""
    if os.environ.get(WORKERS):
        return None  # xdist reads it
    cores = min(psutil.cpu_count(logical=False) or 1, len(os.sched_getaffinity(0)))
    return max(1, min(cores * 3 // 2, psutil.virtual_memory().total // MEMORY_OF_A_WORKER))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Let go of the run: the publisher of PostgreSQL, where there is one, stops it and takes the folder away."""
    if hasattr(config, "workerinput"):
        return
    folder = run_folder()
    os.close(config.stash[HELD])
    if not (folder / "data").exists():
        shutil.rmtree(folder, ignore_errors=True)
    postgres.wait_until_gone(folder)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the tests of the whole, the longest: as the last one, such a test would keep one worker busy alone.

    Leave out tests that need what this machine lacks.
    """
    items.sort(key=lambda item: item.path.parent != Path(__file__).parent)
    lacking = [item for item in items if any(LACKS[need]() for need in needs(item))]
    if lacking:
        config.hook.pytest_deselected(items=lacking)
        items[:] = [item for item in items if item not in set(lacking)]


def needs(item: pytest.Item) -> Iterator[str]:
    """What a test needs that a machine may lack: arguments of its marker `machine`, and `browser`."""
    for marker in item.iter_markers("machine"):
        yield from marker.args
    if item.get_closest_marker("browser"):
        yield "browser"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what is missing here, as the tests that need it were left out then."""
    for need, lack in LACKS.items():
        if missing := lack():
            terminalreporter.write_line(f"no test of the {need} ran: {missing}")


@cache
def missing_protections() -> str:
    """The protections of the sandbox that this machine does not give; empty where there are all."""
    from app.sandbox.sandbox import protections

    return "; ".join(f"{name}: {lack}" for name, lack in protections(as_root=True).items() if lack)


def missing_browser() -> str:
    """Say that there is no Chromium; empty where there is one."""
    from tests.builders.browsers import chromium

    return "" if chromium() else "there is no chromium (Debian: apt-get install chromium)"


def missing_broker() -> str:
    """Say that there is no RabbitMQ; empty where there is one."""
    try:
        rabbitmq.program()
    except FileNotFoundError as error:
        return str(error)
    return ""


LACKS = {"sandbox": missing_protections, "browser": missing_browser, "broker": missing_broker}
"""What tests may need and a machine may lack, with a function that says what is missing."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Have the garbage collector look at no time through modules and tests, which live as long as the process."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def run_folder() -> Path:
    """The folder that all processes of this test run share."""
    return Path(os.environ[RUN_FOLDER])


def once(name: str, make: Callable[[Path], None]) -> Path:
    """Do something once for the whole run, whichever process comes first; return the shared folder."""
    folder = run_folder()
    done = folder / f"{name}.done"
    with postgres.locked(folder / f"{name}.lock"):
        if not done.exists():
            make(folder)
            done.touch()
    return folder


def forked(command: Sequence[str], **options: Any) -> forks.Forked:
    """Start a real process as subprocess.Popen does, but with the imports of one that divides itself."""
    return forks.Forked(once("forks", forks.start), command, **options)


def _make_sqlite_template(folder: Path) -> None:
    from app.core.db.migrate import upgrade

    template = folder / "template.sqlite"
    template.unlink(missing_ok=True)
    upgrade(f"sqlite:///{template}")
    with closing(sqlite3.connect(template)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # all of it in the one file that is copied


def _make_postgresql_template(folder: Path) -> None:
    from app.core.db.migrate import upgrade

    postgres.administer(
        folder,
        f"DROP DATABASE IF EXISTS {postgres.TEMPLATE} WITH (FORCE)",
        f"CREATE DATABASE {postgres.TEMPLATE}",
    )
    upgrade(postgres.url(folder, postgres.TEMPLATE))
    postgres.administer(folder, f"ALTER DATABASE {postgres.TEMPLATE} WITH ALLOW_CONNECTIONS false")


def migrated_sqlite(place: Path) -> str:
    """Make a fresh, migrated SQLite database at a place; returns its URL."""
    shutil.copy(once("sqlite", _make_sqlite_template) / "template.sqlite", place)
    return f"sqlite:///{place}"


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """A fresh, migrated SQLite database of this test's own."""
    return migrated_sqlite(tmp_path / "jurado.sqlite")


@cache
def postgresql_databases() -> postgres.Databases:
    """The databases of this process, on the run's own server."""
    once("postgresql-server", postgres.start)
    return postgres.Databases(once("postgresql-template", _make_postgresql_template))


@contextmanager
def migrated_postgresql() -> Iterator[str]:
    """Lend a fresh, migrated PostgreSQL database on the run's own server; yields its URL."""
    database = postgresql_databases().take()
    try:
        yield postgres.url(run_folder(), database.name)
    finally:
        postgresql_databases().give_back(database)


@pytest.fixture
def postgresql_url() -> Iterator[str]:
    """A fresh, migrated PostgreSQL database of this test's own, on the run's own server."""
    with migrated_postgresql() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A fresh, migrated database of this test's own: the test runs once on each kind."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
def s3_port() -> int:
    """The port of the run's S3 server, started when it is first asked for."""
    return s3.port(once("s3-server", s3.start))


@pytest.fixture
def s3_url(s3_port: int) -> str:
    """The address of an empty file store on S3."""
    return s3.address(s3_port, s3.new_bucket(s3_port))


@pytest.fixture
def broker_url() -> str:
    """A virtual host of the run's RabbitMQ, which starts with the first test that asks for one."""
    return rabbitmq.address(once("rabbitmq", rabbitmq.start))
