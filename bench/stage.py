"""The stage of measurements of the service: a fresh home with a contest, its teams and their tokens; real servers."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.accounts.service.viewer import digest
from app.core.db.database import Database
from app.core.db.migrate import upgrade
from app.core.files.open_files import open_files
from app.core.settings import Settings
from app.packages import catalog
from app.packages.read import read_package
from app.problems.queries.problems import import_package
from app.problems.queries.testcases import without_score
from app.tables import AccountRow, ContestProblemRow, ContestRow, TeamRow, TokenRow

CONTEST = "bench"
STARTING_SECONDS = 60
SCORING_SECONDS = 900


def prepare(
    home: Path, *, teams: int = 1, problems: Sequence[str] = ("comesolo",), database_url: str = ""
) -> list[str]:
    """Make a database with a running contest (default: SQLite at home); returns a token for each team."""
    settings = Settings(home=home, database_url=database_url, files_url="")  # not those of the person who measures
    home.mkdir(parents=True, exist_ok=True)
    upgrade(settings.database)
    database, files = Database(settings.database), open_files(settings)
    folders = catalog.bundled()
    now = datetime.now(UTC)
    tokens = [secrets.token_urlsafe(24) for _ in range(teams)]
    with database.write() as session:
        for slug in problems:
            import_package(session, files, read_package(folders[slug]))
        start = now - timedelta(hours=1)
        session.add(ContestRow(id=CONTEST, name="Bench", start_time=start, duration_ms=10**9, open_to_all=True))
        session.flush()
        for at, slug in enumerate(problems, start=1):
            session.add(ContestProblemRow(contest_id=CONTEST, problem_id=slug, label=str(at), ordinal=at, rule={}))
        for at, token in enumerate(tokens, start=1):
            session.add(TeamRow(id=f"team{at}", name=f"Team {at}", label=str(at), hidden=False))
            session.flush()
            account = AccountRow(id=f"team{at}", username=f"team{at}", type="team", team_id=f"team{at}", created=now)
            session.add(account)
            session.flush()
            session.add(TokenRow(digest=digest(token), account_id=account.id, created=now, expires=None))
    database.close()
    return tokens


def add_admin(home: Path, database_url: str = "") -> str:
    """Make an admin's account in a home that is prepared; returns a token for it."""
    settings, token = Settings(home=home, database_url=database_url, files_url=""), secrets.token_urlsafe(24)
    database, now = Database(settings.database), datetime.now(UTC)
    with database.write() as session:
        session.add(AccountRow(id="chief", username="chief", type="admin", created=now))
        session.flush()
        session.add(TokenRow(digest=digest(token), account_id="chief", created=now, expires=None))
    database.close()
    return token


def free_port() -> int:
    """Find a port no one listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving_bare(database: Path | str) -> Iterator[str]:
    """Run the yardstick of `bench.bare` in a server process of its own, on a file or PostgreSQL; yields its address."""
    command = ["uvicorn", "--factory", "bench.bare:create_app", "--log-level", "error", "--no-access-log"]
    with _running(command, {"BARE_DATABASE": str(database)}) as url:
        yield url


@contextmanager
def serving_page(page: Path) -> Iterator[str]:
    """Run the yardstick of `bench.bare_page` in a server process of its own; yields its address."""
    command = ["uvicorn", "--factory", "bench.bare_page:create_app", "--log-level", "error", "--no-access-log"]
    with _running(command, {"BARE_PAGE": str(page)}) as url:
        yield url


@contextmanager
def serving(home: Path, **settings: str) -> Iterator[str]:
    """Run `jurado serve` on a home; yields its address. `settings` are JURADO_... variables in lower case."""
    whole_load = {"most_unjudged": "1000000"}  # one team's load stands for that of many
    variables = at_home(home, **{**whole_load, **settings})
    with _running(["app.commands", "serve"], {APPLICATION: "servers", **variables}) as url:
        yield url


def wait_until_scored(home: Path, database_url: str = "") -> None:
    """Wait until a server has scored the expected answers of a fresh home, which it does beside its other work."""
    database = Database(Settings(home=home, database_url=database_url, files_url="").database)
    until = time.monotonic() + SCORING_SECONDS
    while True:
        with database.read() as session:
            left = len(without_score(session))
        if not left:
            return database.close()
        if time.monotonic() > until:
            raise RuntimeError(f"{left} expected answers without a score after {SCORING_SECONDS} s")
        time.sleep(0.1)


def at_home(home: Path, **settings: str) -> dict[str, str]:
    """Give the variables of a service on a home, without the database that the person who measures has set."""
    ours = {"home": str(home), "database_url": "", "files_url": "", **settings}
    return {f"JURADO_{name.upper()}": value for name, value in ours.items()}


APPLICATION = "PGAPPNAME"
"""The variable by which PostgreSQL tells whom its processes work for."""


@contextmanager
def working(home: Path, **settings: str) -> Iterator[None]:
    """Run `jurado worker` on a home, from when its graders judge; `settings` as for `serving`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        command = [sys.executable, "-m", "app.commands", "worker"]
        with path.open("wb") as log:
            variables = {**os.environ, APPLICATION: "workers", **at_home(home, **settings)}
            process = subprocess.Popen(command, env=variables, stdout=log, stderr=log)
        try:
            until = time.monotonic() + STARTING_SECONDS
            while b"Jurado judges" not in path.read_bytes():
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"the worker does not judge: {path.read_text(errors='replace')[-2000:]}")
                time.sleep(0.05)
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)


@contextmanager
def _running(module: Sequence[str], variables: dict[str, str]) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", *module, "--port", str(port)]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, env={**os.environ, **variables}, stdout=log, stderr=log)
        url = f"http://127.0.0.1:{port}"
        try:
            wait_until_up(url, process)
            yield url
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)


def wait_until_up(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait for any reply of a service."""
    wait_for_reply(f"{url}/health/live", process)


def wait_for_reply(address: str, process: subprocess.Popen[bytes]) -> None:
    """Wait for any reply of a server that has just been started."""
    for _ in range(STARTING_SECONDS * 20):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with status {process.returncode}")
        try:
            urllib.request.urlopen(address, timeout=5)
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"no reply from {address} within {STARTING_SECONDS} s")
