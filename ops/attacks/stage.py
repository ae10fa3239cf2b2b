"""A real server to attack: a home that is prepared once over HTTP, copied for each attack, and served.

Everything is done through HTTP and the command line, so that the server of another checkout can be attacked as well.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psutil

from app.packages.catalog import bundled
from bench.stage import at_home, free_port, wait_until_up

CONTEST = "attacked"
PASSWORD = "a long enough pass phrase"
TEAMS = 10
SUBMISSIONS = 1_100
ANSWER = b"0\n"
SECONDS_TO_JUDGE = 120
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Stage:
    """A server under attack: its address, its process, its home, and who may ask it."""

    url: str
    process: subprocess.Popen[bytes]
    home: Path
    admin: httpx.Client
    teams: list[tuple[str, str]]

    @property
    def host(self) -> str:
        """The address without its scheme, as in a Host header."""
        return self.url.removeprefix("http://")

    @property
    def port(self) -> int:
        """The port the server listens on."""
        return int(self.url.rpartition(":")[2])

    def tree(self) -> list[psutil.Process]:
        """The server's process and those it has started."""
        server = psutil.Process(self.process.pid)
        return [server, *server.children(recursive=True)]

    def memory(self) -> float:
        """Resident memory of the server's own process in MiB."""
        return float(psutil.Process(self.process.pid).memory_info().rss) / 2**20

    def bytes_kept(self) -> int:
        """Bytes that lie below the server's folder of files."""
        return sum(path.stat().st_size for path in (self.home / "files").rglob("*") if path.is_file())

    def client(self, at: int) -> httpx.Client:
        """A client of team number `at`."""
        return httpx.Client(base_url=f"{self.url}/api", auth=self.teams[at], timeout=60)


class Home:
    """A prepared home of one checkout, and servers on copies of it."""

    def __init__(
        self,
        folder: Path,
        checkout: Path = ROOT,
        submissions: int = SUBMISSIONS,
        popen: Callable[..., Any] = subprocess.Popen,
    ) -> None:
        self.folder = folder
        self._popen = popen
        self.checkout = checkout
        self.password = secrets.token_urlsafe(16)
        problems = folder / "problems"
        problems.mkdir(parents=True)
        (problems / "comesolo").symlink_to(bundled()["comesolo"])
        self.template = folder / "template"
        self.template.mkdir()
        with self._serving(self.template, {}) as stage:
            _prepare(stage, submissions)

    @contextmanager
    def attacked(self, name: str, settings: dict[str, str]) -> Iterator[Stage]:
        """Serve a fresh copy of the home."""
        home = self.folder / name
        shutil.copytree(self.template, home)
        try:
            with self._serving(home, settings) as stage:
                _warm(stage)
                yield stage
        finally:
            shutil.rmtree(home)

    @contextmanager
    def _serving(self, home: Path, settings: dict[str, str]) -> Iterator[Stage]:
        port = free_port()
        settings = dict(settings)
        descriptors = settings.pop("descriptors", None)
        ours = at_home(home, admin_password=self.password, problems=str(self.folder / "problems"), **settings)
        python = self.checkout / ".venv/bin/python" if self.checkout != ROOT else Path(sys.executable)
        command = [str(python), "-m", "app.commands", "serve", "--port", str(port)]
        if descriptors is not None:
            command = ["sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh", *command]
        with (home / "server.log").open("ab") as log:
            process = self._popen(command, cwd=self.checkout, env={**os.environ, **ours}, stdout=log, stderr=log)
        url = f"http://127.0.0.1:{port}"
        try:
            wait_until_up(url, process)
            with httpx.Client(base_url=f"{url}/api", auth=("admin", self.password), timeout=120) as admin:
                teams = [(f"team{at}", PASSWORD) for at in range(TEAMS)]
                yield Stage(url, process, home, admin, teams)
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the server in an orderly way, or after some seconds in the other one."""
    children = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for child in children:
        if child.is_running():
            child.kill()


def _prepare(stage: Stage, submissions: int) -> None:
    """A running contest with ten teams and as many judged submissions as made the lists slow."""
    names = [name for name, _ in stage.teams]
    _ok(stage.admin.post("teams", json=[{"id": name, "name": name} for name in names]))
    accounts = [{"id": name, "username": name, "password": PASSWORD, "type": "team", "team_id": name} for name in names]
    staff = [{"id": kind, "username": kind, "password": PASSWORD, "type": kind} for kind in ("judge", "staff")]
    _ok(stage.admin.post("accounts", json=[*accounts, *staff]))
    start = (datetime.now(UTC) - timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    body: dict[str, Any] = {
        "id": CONTEST,
        "name": "Attacked",
        "start_time": start,
        "duration": "48:00:00",
        "open_to_all": True,
    }
    _ok(stage.admin.post("contests", json=body))
    _ok(stage.admin.post(f"contests/{CONTEST}/problems", json={"id": "comesolo"}))
    for at in range(submissions):
        form = {"problem_id": "comesolo", "team_id": names[at % TEAMS]}
        files = {"files": ("101-n05-p70.out", ANSWER)}
        _ok(stage.admin.post(f"contests/{CONTEST}/submissions", data=form, files=files))
    wait_until_judged(stage)


def _warm(stage: Stage) -> None:
    """Have every team logged in and a submission judged, so that what is measured is not a server's first minute."""
    for at in range(TEAMS):
        with stage.client(at) as team:
            _ok(team.get("account"))
    form = {"data": {"problem_id": "comesolo", "team_id": "team9"}, "files": {"files": ("101-n05-p70.out", ANSWER)}}
    _ok(stage.admin.post(f"contests/{CONTEST}/submissions", **form))
    wait_until_judged(stage)


def wait_until_judged(stage: Stage) -> None:
    """Wait until no submission waits for a verdict."""
    until = time.monotonic() + SECONDS_TO_JUDGE
    while any(each["end_time"] is None for each in _ok(stage.admin.get(f"contests/{CONTEST}/judgements")).json()):
        if time.monotonic() > until:
            raise RuntimeError(f"submissions are not judged after {SECONDS_TO_JUDGE} s")
        time.sleep(0.5)


def _ok(reply: httpx.Response) -> httpx.Response:
    if not reply.is_success:
        raise RuntimeError(f"{reply.request.method} {reply.request.url}: {reply.status_code} {reply.text[:300]}")
    return reply
