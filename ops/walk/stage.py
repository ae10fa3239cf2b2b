"""The server a walk is taken on: another checkout's or this one's, with contests in every state of their lives."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from bench.stage import at_home, free_port, wait_until_up
from tests.builders import lively
from tests.builders.daily import put_days
from tests.builders.packages import write_package

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "a long enough pass phrase"
ROLES = (None, "red", "blue", "voice", "helper", "jury", "admin")
CONTESTS = (lively.CONTEST, "soon", "over")
SECONDS = 60
DAY = datetime.now(UTC).date() - timedelta(days=1)
"""A day whose puzzles are there from the beginning, and so are those of the next."""


@dataclass
class Stage:
    """A filled server, and who may ask it."""

    client: httpx.Client
    password: str

    def ask(self, method: str, path: str, *, user: str | None = None, **options: Any) -> httpx.Response:
        """Send a request as one of ROLES."""
        password = self.password if user == "admin" else PASSWORD
        auth = None if user is None else httpx.BasicAuth(user, password)
        return self.client.request(method, path, auth=auth, **options)

    def below_api(self, method: str, path: str, *, user: str | None = None, json: Any = None) -> httpx.Response:
        """Send a request for a path below /api/."""
        return self.ask(method, f"/api/{path}", user=user, json=json)

    def knows(self, name: str) -> bool:
        """Return whether the server's OpenAPI document names a property, which an older checkout may not."""
        return f'"{name}"' in self.ask("GET", "/openapi.json").text


@contextmanager
def served(checkout: Path, home: Path) -> Iterator[Stage]:
    """Serve an empty home with the code of a checkout, filled."""
    problems = home / "problems"
    write_package(problems)
    put_days(home, DAY, DAY + timedelta(days=1))
    port, password = free_port(), secrets.token_urlsafe(16)
    variables = at_home(home, admin_password=password, problems=str(problems))
    environment = checkout / ".venv/bin" if checkout != ROOT else Path(sys.executable).parent
    command = [str(environment / "jurado"), "serve", "--port", str(port)]
    with (home / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=checkout, env={**os.environ, **variables}, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until_up(url, process)
        with httpx.Client(base_url=url, timeout=SECONDS) as client:
            stage = Stage(client, password)
            _fill(stage)
            yield stage
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=SECONDS)


def _fill(stage: Stage) -> None:
    """A frozen contest with one of everything, one that has not begun, and a finished game and final."""
    ask = stage.below_api
    start = lively.begin(ask, password=PASSWORD, scoreboard_freeze_duration="2:00:00")
    lively.submit(ask, start)
    lively.talk(ask, submission="s-0")
    now = datetime.now(UTC)
    for name, begins in (("soon", now + timedelta(hours=3)), ("over", now - timedelta(hours=9))):
        body: dict[str, Any] = {
            "id": name,
            "name": name,
            "start_time": begins.isoformat(timespec="milliseconds"),
            "duration": "2:00:00",
        }
        if name == "over" and stage.knows("already_over"):
            body["already_over"] = True
        lively.do(ask, "POST", "contests", body)
        lively.do(ask, "POST", f"contests/{name}/problems", {"id": "echo", "label": "A"})
        lively.do(ask, "POST", f"contests/{name}/teams", {"team_ids": ["red", "blue"]}, code=200)
    time = (now - timedelta(hours=8)).isoformat(timespec="milliseconds")
    late = {"id": "o-0", "language_id": "answers", "problem_id": "echo", "team_id": "red", "time": time}
    files = lively.answers({"02.out": b"2\n"})
    lively.do(ask, "PUT", "contests/over/submissions/o-0", late | {"files": files})
    _wait_until_judged(stage)
    lively.do(ask, "PATCH", "contests/over", {"id": "over", "finalized": True}, code=200)


def _wait_until_judged(stage: Stage) -> None:
    """A submission waits for its verdict at `?wait=`; which contests hold unjudged ones is read from the judgements."""
    for contest in ("over", lively.CONTEST):
        for _ in range(SECONDS * 10):
            rows = stage.below_api("GET", f"contests/{contest}/judgements", user="admin").json()
            if rows and all(row["judgement_type_id"] for row in rows):
                break
            stage.below_api("GET", f"contests/{contest}/scoreboard", user="admin")
        else:
            raise RuntimeError(f"the submissions of {contest} are not judged")
