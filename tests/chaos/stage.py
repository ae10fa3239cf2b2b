"""What a scenario is played on: a home, a database of its own, tokens, and real servers that can be killed."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from app.settings import Settings
from bench.stage import add_admin, at_home, free_port, prepare, wait_until_up
from tests import postgres

TEAMS = 10
PROBLEMS = ("comesolo", "rollingballs")
DATABASE = "chaos"


@dataclass(frozen=True)
class Size:
    """How much happens under load."""

    submissions: int
    kills: int


class Server:
    """A real server process that can be killed with all its graders, and started again on the same port."""

    def __init__(self, home: Path, **settings: str) -> None:
        self.home = home
        self.settings = settings
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process and wait until it answers."""
        process = self.process = self.launch()
        wait_until_up(self.url, process)
        return process

    def launch(self, *options: str) -> subprocess.Popen[bytes]:
        """Start a process, and do not wait for it."""
        command = [sys.executable, "-m", "app.cli", "serve", "--port", str(self.port), *options]
        env = {**os.environ, **at_home(self.home, **self.settings)}
        with (self.home / "server.log").open("ab") as log:
            return subprocess.Popen(command, env=env, stdout=log, stderr=log)

    def log(self) -> str:
        """All that servers on this home have logged."""
        return (self.home / "server.log").read_text()

    def kill(self) -> None:
        """kill -9 everything, graders first or last as it happens."""
        victims = [*psutil.Process(self.process.pid).children(recursive=True), psutil.Process(self.process.pid)]
        random.shuffle(victims)
        for victim in victims:
            with contextlib.suppress(psutil.NoSuchProcess):
                victim.kill()
        self.process.wait()

    def kill_and_restart(self) -> None:
        """kill -9 everything and start anew."""
        self.kill()
        self.start()

    def stop(self) -> None:
        """An orderly end."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=60)


@dataclass
class Stage:
    """A prepared home: a running contest, a token for each team and one for the admin.

    `database_url` is empty for SQLite in the home. `cluster` is the folder of PostgreSQL's socket.
    """

    home: Path
    size: Size
    database_url: str
    cluster: Path | None
    tokens: list[str]
    admin: str
    servers: list[Server] = field(default_factory=list)

    @property
    def database(self) -> str:
        """The database's URL, in SQLAlchemy's spelling."""
        return Settings(home=self.home, database_url=self.database_url, files_url="").database

    def serve(self, **settings: str) -> Server:
        """Start a server on the home; it is stopped at the end of the scenario."""
        server = Server(self.home, **{"database_url": self.database_url, **settings})
        self.servers.append(server)
        return server


@contextmanager
def stage(kind: str, size: Size, *, cluster: Path | None = None, problems: Sequence[str] = PROBLEMS) -> Iterator[Stage]:
    """Make a home and a database of a kind; on PostgreSQL a server of its own, or in the one at `cluster`."""
    with tempfile.TemporaryDirectory(prefix="jurado-chaos-") as folder:
        home = Path(folder)
        with _database(kind, cluster) as (url, socket_folder):
            tokens = prepare(home, teams=TEAMS, problems=problems, database_url=url)
            setting = Stage(home, size, url, socket_folder, tokens, add_admin(home, database_url=url))
            try:
                yield setting
            finally:
                for server in setting.servers:
                    server.stop()


@contextmanager
def _database(kind: str, cluster: Path | None) -> Iterator[tuple[str, Path | None]]:
    if kind == "sqlite":
        yield "", None
        return
    if cluster is not None:
        postgres.administer(cluster, f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)", f"CREATE DATABASE {DATABASE}")
        yield postgres.url(cluster, DATABASE), cluster
        return
    folder = Path(tempfile.mkdtemp(prefix="jurado-chaos-pg-"))
    alive = postgres.hold(folder)
    try:
        postgres.start(folder)
        postgres.administer(folder, f"CREATE DATABASE {DATABASE}")
        yield postgres.url(folder, DATABASE), folder
    finally:
        os.close(alive)
        if not postgres.wait_until_gone(folder):
            shutil.rmtree(folder, ignore_errors=True)
