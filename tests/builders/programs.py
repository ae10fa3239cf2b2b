"""Checkers that packages bring, one for each protocol, and a real service that judges with them over HTTP."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from app.commands.fresh_service import fresh_service
from tests.builders.packages import zip_package
from tests.conftest import forked

RELATIVE = "scoring: {kind: relative, direction: minimise}\n"
ABSOLUTE = "scoring: {kind: absolute}\n"
VALIDATOR = """\
import sys

given, expected, feedback = open(sys.argv[1]).read(), open(sys.argv[2]).read(), sys.argv[3]
words = sys.stdin.read().split()
if len(words) != 1 or not words[0].isdigit():
    open(feedback + "teammessage.txt", "w").write("line 1: expected a number")
    open(feedback + "judgemessage.txt", "w").write(f"no number beside {expected.strip()}")
    sys.exit(43)
open(feedback + "judgemessage.txt", "w").write(f"the optimum is {expected.strip()}")
open(feedback + "score.txt", "w").write(words[0])
sys.exit(42)
"""
"""Takes any number; the raw score is the number itself."""
TEAM = ("ants", "bees")
PASSWORD = "a good password"
SECONDS = 60.0


def own_checker(files: Mapping[str, str | bytes | None], settings: str = RELATIVE) -> dict[str, str | bytes | None]:
    """Changes of the echo package by which it brings a checker of its own; examples that tried `exact` go."""
    gone = ("data/invalid_output/six.in", "data/invalid_output/six.ans", "data/invalid_output/six.out")
    return {"jurado.yaml": settings, **dict.fromkeys(gone), **files}


@dataclass
class Judge:
    """A service and its admin; `home` is where it keeps everything."""

    url: str
    password: str
    home: Path

    def ask(self, method: str, path: str, user: str = "admin", **more: Any) -> httpx.Response:
        """Send a request to a path below /api, as the admin or a team."""
        login = (user, self.password if user == "admin" else PASSWORD)
        return httpx.request(method, f"{self.url}/api/{path}", auth=login, timeout=SECONDS, **more)

    def bring(self, slug: str, changes: Mapping[str, str | bytes | None]) -> httpx.Response:
        """Upload the echo package with changes, by another name."""
        headers = {"Content-Type": "application/zip"}
        return self.ask("POST", "problems", content=zip_package(changes, f"{slug}/"), headers=headers)

    def contest(self, slug: str, changes: Mapping[str, str | bytes | None]) -> str:
        """Bring a problem, and open a contest of its name with it; returns the name."""
        brought = self.bring(slug, changes)
        assert brought.status_code == 201, brought.text
        start = {"start_time": "2026-01-01T00:00:00Z", "duration": "99999:00:00"}
        body = {"id": slug, "name": slug, **start, "open_to_all": True}
        self.ask("POST", "contests", json=body).raise_for_status()
        self.ask("POST", f"contests/{slug}/problems", json={"id": slug, "label": "A"}).raise_for_status()
        return slug

    def submit(self, slug: str, answers: Mapping[str, str], team: str = "ants") -> Any:
        """Send answers by case as a team, wait for the verdict, and return the report that judges read."""
        files = [("files", (f"{name}.out", data.encode())) for name, data in answers.items()]
        sent = self.ask("POST", f"contests/{slug}/submissions", team, data={"problem_id": slug}, files=files)
        assert sent.status_code == 201, sent.text
        return self.report(slug, sent.json()["id"])

    def report(self, slug: str, submission: str, user: str = "admin") -> Any:
        """The report on a submission once it is judged and on the board, which takes a moment longer."""
        return self.until(f"contests/{slug}/submissions/{submission}/report", _is_whole, user)

    def until(self, path: str, ready: Callable[[Any], bool], user: str = "admin") -> Any:
        """Ask until the answer is as it is waited for."""
        until = time.monotonic() + SECONDS
        while not ready(body := self.ask("GET", path, user).json()):
            assert time.monotonic() < until, body
            time.sleep(0.02)
        return body


def _is_whole(report: Any) -> bool:
    return report["state"] == "done" and (
        report["points"] is not None or report["judgement"]["judgement_type_id"] == "JE"
    )


@contextmanager
def judging_service(home: Path, settings: Mapping[str, str] | None = None) -> Iterator[Judge]:
    """A service of its own process with two teams and without the bundled problems."""
    bundled = home / "bundled"
    bundled.mkdir(parents=True)
    own = {"JURADO_GRADERS": "1", "JURADO_PROBLEMS": str(bundled), **(settings or {})}
    with fresh_service(home, own, forked) as running:
        judge = Judge(running.url, running.password, home / "var")
        for team in TEAM:
            judge.ask("POST", "teams", json=[{"id": team, "name": team, "label": team}]).raise_for_status()
            account = {"id": team, "username": team, "password": PASSWORD, "type": "team", "team_id": team}
            judge.ask("POST", "accounts", json=[account]).raise_for_status()
        yield judge
