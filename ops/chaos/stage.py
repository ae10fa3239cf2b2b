"""What a scenario is played on: a home, a database of its own, tokens, and real servers that can be killed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from app.core.files.open_files import LocalFiles
from app.core.settings import Settings
from app.packages.catalog import bundled
from bench.stage import add_admin, at_home, prepare, wait_until_up
from ops.chaos.audit_result import Audit
from ops.chaos.feed import Follower
from tests import postgres
from tests.rabbitmq import free_port

TEAMS = 10
PROBLEMS = ("comesolo", "rollingballs")
SQLITE, POSTGRESQL = "sqlite", "postgresql"
DATABASE = f"chaos_{os.getpid()}"
"""Its own for each process: the workers of a test run have one server of PostgreSQL."""
TEMPLATE = f"{DATABASE}_template"
SERVER = ("app.commands",)
PATIENCE = 120.0
Log = Callable[[], str]
Popen = Callable[..., Any]
"""Starts a process: subprocess.Popen, or what has its options and gives what has its methods."""


@dataclass(frozen=True)
class Size:
    """How much happens: submissions under load, kills and faults of other kinds, seconds that a stall lasts."""

    submissions: int
    kills: int
    seconds: float = 20.0


class Server:
    """A real server process that can be killed with all its graders, and started again on the same port."""

    def __init__(
        self,
        home: Path,
        port: int = 0,
        module: Sequence[str] = SERVER,
        *,
        popen: Popen = subprocess.Popen,
        **settings: str,
    ) -> None:
        self.home = home
        self._popen = popen
        self.settings = settings
        self.module = module
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The process that was started last."""
        return self._processes[-1]

    def start(self, *options: str) -> None:
        """Start the process and wait until it answers."""
        wait_until_up(self.url, self.launch(*options))

    def launch(self, *options: str) -> subprocess.Popen[bytes]:
        """Start a process, and do not wait for it."""
        command = [sys.executable, "-m", *self.module, *self.words(), *options]
        env = {**os.environ, **at_home(self.home, **self.settings)}
        self.home.mkdir(exist_ok=True)
        with self.log_path.open("ab") as log:
            self._processes.append(self._popen(command, env=env, stdout=log, stderr=log))
        return self.process

    def words(self) -> list[str]:
        """The command and its options."""
        return ["serve", "--port", str(self.port)]

    @property
    def log_path(self) -> Path:
        """Where servers of this port log."""
        return self.home.parent / f"server-{self.port}.log"

    def log(self) -> str:
        """All that servers of this port have logged."""
        return self.log_path.read_text()

    def expect_in_log(self, pattern: str) -> None:
        """Wait until the log has a text like this."""
        wait_until(lambda: re.search(pattern, self.log()) is not None, f"no {pattern!r} in {self.log_path}")

    def refused(self, *options: str) -> str:
        """Start a process that has to end with status 1, and return the last line that it said."""
        before = self.log() if self.log_path.exists() else ""
        self.launch(*options)
        return self.refusal(before)

    def refusal(self, before: str = "") -> str:
        """Wait for the end, with status 1, of the process that was started; return the last line since `before`."""
        status = self.process.wait(PATIENCE)
        lines = self.log().removeprefix(before).strip()
        assert status == 1, f"expected a refusal, found status {status}: {lines[-500:]}"
        return lines.splitlines()[-1]

    def graders(self) -> list[psutil.Process]:
        """The processes it has started."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def kill(self) -> None:
        """kill -9 everything, graders first or last as it happens."""
        victims = [*self.graders(), psutil.Process(self.process.pid)]
        random.shuffle(victims)
        for victim in victims:
            with contextlib.suppress(psutil.NoSuchProcess):
                victim.kill()
        self.process.wait()

    def kill_and_restart(self) -> None:
        """kill -9 everything and start again."""
        self.kill()
        self.start()

    def stop(self) -> None:
        """An orderly end."""
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=60)

    def is_ready(self) -> bool:
        """What /health/ready says."""
        return httpx.get(f"{self.url}/health/ready", timeout=60).status_code == 200

    def wait_until_ready(self) -> None:
        """Wait until it takes and judges submissions."""
        wait_until(self.is_ready, "the server is not ready")


class Worker(Server):
    """A real worker process; it has no address, and its port only names its log."""

    def words(self) -> list[str]:
        """The command and its options."""
        return ["worker"]

    def start(self, *options: str) -> None:
        """Start the process and wait until it judges."""
        before = len(self.log()) if self.log_path.exists() else 0
        self.launch(*options)
        wait_until(lambda: "Jurado judges" in self.log()[before:], f"the worker did not start: {self.log_path}")

    def freeze(self) -> None:
        """Stop it and its graders where they are, as a machine does that swaps or sleeps."""
        for each in [psutil.Process(self.process.pid), *self.graders()]:
            each.suspend()

    def wake(self) -> None:
        """Let them continue."""
        for each in [*self.graders(), psutil.Process(self.process.pid)]:
            each.resume()


@dataclass
class Stage:
    """A prepared home: a running contest, a token for each team and one for the admin; and what has been found.

    `database_url` is empty for SQLite in the home. `cluster` is the folder of PostgreSQL's socket. `recoveries` are
    seconds from the end of a fault to the next submission that was acknowledged, or what a scenario measures instead.
    `broker` gives the address of a RabbitMQ that no one else uses.
    """

    folder: Path
    kind: str
    size: Size
    database_url: str
    cluster: Path | None
    tokens: list[str]
    admin: str
    popen: Popen = subprocess.Popen
    broker: Callable[[], str] = str
    s3_port: Callable[[], int] = int
    servers: list[Server] = field(default_factory=list)
    audits: list[Audit] = field(default_factory=list)
    recoveries: list[float] = field(default_factory=list)
    followers: list[Follower] = field(default_factory=list)

    @property
    def home(self) -> Path:
        """The folder of the service's data."""
        return self.folder / "home"

    @property
    def problems(self) -> Path:
        """The folder of the problems that servers know; the fewer there are, the sooner they start."""
        return self.folder / "problems"

    @property
    def database(self) -> str:
        """The database's URL, in SQLAlchemy's spelling."""
        return Settings(home=self.home, database_url=self.database_url, files_url="").database

    @property
    def files(self) -> LocalFiles:
        """The stored files."""
        return LocalFiles(self.home / "files")

    def server(
        self, *, home: Path | None = None, port: int = 0, module: Sequence[str] = SERVER, **settings: str
    ) -> Server:
        """A server on the home or another one, not started yet; it is stopped at the end of the scenario."""
        ours = {
            "database_url": self.database_url,
            "problems": str(self.problems),
            "most_unjudged": "1000000",
            "feed_keep_alive_seconds": "1",
        }
        server = Server(home or self.home, port, module, popen=self.popen, **{**ours, **settings})
        self.servers.append(server)
        return server

    def worker(self, *, module: Sequence[str] = SERVER, **settings: str) -> Worker:
        """A worker on the home with one grader, not started yet; it is stopped at the end of the scenario."""
        few = {"graders": "1", "problems": str(self.problems)}
        ours = {"database_url": self.database_url, **few}
        worker = Worker(self.home, module=module, popen=self.popen, **{**ours, **settings})
        self.servers.append(worker)
        return worker

    def serve(self, **settings: str) -> Server:
        """Start a server on the home."""
        server = self.server(**settings)
        server.start()
        return server

    def jurado(self, *words: object, home: Path | None = None, database_url: str | None = None) -> Command:
        """Start a command of `jurado` on the home or another one."""
        url = self.database_url if database_url is None else database_url
        env = {**os.environ, **at_home(home or self.home, database_url=url, problems=str(self.problems))}
        return Command([sys.executable, "-m", "app.commands", *map(str, words)], env)

    def client(self, server: Server) -> httpx.Client:
        """A client of the admin."""
        headers = {"Authorization": f"Bearer {self.admin}"}
        return httpx.Client(base_url=f"{server.url}/api/", headers=headers, timeout=60)


class Command:
    """A command that runs; `result` waits for its end."""

    def __init__(self, words: Sequence[str], env: dict[str, str]) -> None:
        self.process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def result(self, status: int = 0) -> str:
        """What it printed, once it has ended with this status."""
        out, error = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == status, f"expected status {status}, found {self.process.returncode}: {error}"
        return out + error


def wait_until(condition: Callable[[], bool], otherwise: str, seconds: float = PATIENCE) -> None:
    """Wait until something holds; raises AssertionError with a sentence if it does not for long."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, otherwise
        time.sleep(0.05)


class Ground:
    """Homes and databases that are prepared once and copied for each scenario; PostgreSQL's server is at `cluster`.

    `popen` starts the servers; `broker` gives the address of a RabbitMQ that no one else uses, `s3_port` the port of an
    S3 server.
    """

    def __init__(
        self,
        folder: Path,
        cluster: Callable[[], Path],
        popen: Popen = subprocess.Popen,
        broker: Callable[[], str] = str,
        s3_port: Callable[[], int] = int,
    ) -> None:
        self.folder = folder
        self._broker = broker
        self._popen = popen
        self._cluster = cluster
        self._s3_port = s3_port

    @contextmanager
    def stage(self, kind: str, size: Size) -> Iterator[Stage]:
        """A copy of what is prepared for a kind of database."""
        cluster = self._cluster() if kind == POSTGRESQL else None
        template = self._prepared(kind, cluster)
        with tempfile.TemporaryDirectory(prefix="jurado-chaos-") as name:
            folder = Path(name)
            shutil.copytree(template, folder, dirs_exist_ok=True, symlinks=True)
            url = ""
            if cluster is not None:
                drop(cluster, DATABASE)
                postgres.administer(cluster, f"CREATE DATABASE {DATABASE} TEMPLATE {TEMPLATE}")
                url = postgres.url(cluster, DATABASE)
            known = json.loads((folder / "tokens.json").read_text())
            tokens, admin = known["teams"], known["admin"]
            setting = Stage(folder, kind, size, url, cluster, tokens, admin, self._popen, self._broker, self._s3_port)
            try:
                yield setting
            finally:
                for follower in setting.followers:
                    follower.stop()
                for server in setting.servers:
                    server.stop()

    def _prepared(self, kind: str, cluster: Path | None) -> Path:
        folder = self.folder / kind
        if folder.exists():
            return folder
        making = self.folder / f"{kind}.making"
        home, problems, url = making / "home", making / "problems", ""
        problems.mkdir(parents=True)
        for name in PROBLEMS:
            (problems / name).symlink_to(bundled()[name])
        if cluster is not None:
            drop(cluster, TEMPLATE)
            postgres.administer(cluster, f"CREATE DATABASE {TEMPLATE}")
            url = postgres.url(cluster, TEMPLATE)
        tokens = {
            "teams": prepare(home, teams=TEAMS, problems=PROBLEMS, database_url=url),
            "admin": add_admin(home, database_url=url),
        }
        (making / "tokens.json").write_text(json.dumps(tokens))
        return making.rename(folder)


def drop(cluster: Path, database: str) -> None:
    """Drop a database of tests, whoever is connected."""
    postgres.administer(cluster, f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")


@contextmanager
def own_cluster() -> Iterator[Callable[[], Path]]:
    """A PostgreSQL server of its own, started when it is first asked for; yields what starts it."""
    folder = Path(tempfile.mkdtemp(prefix="jurado-chaos-pg-"))
    alive = postgres.hold(folder)

    def started() -> Path:
        if not (folder / "ready").exists():
            postgres.start(folder)
        return folder

    try:
        yield started
    finally:
        os.close(alive)
        if not postgres.wait_until_gone(folder):
            shutil.rmtree(folder, ignore_errors=True)
