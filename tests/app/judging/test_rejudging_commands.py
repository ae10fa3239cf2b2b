"""`jurado admin rejudge` and what comes after it, against a real service."""

from __future__ import annotations

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

from app.commands.fresh_service import Running
from tests.app.conftest import Jurado
from tests.builders.packages import zip_package
from tests.builders.waiting import until


@pytest.fixture
def contest(service: Running, admin_token: str) -> str:
    """A running contest with a problem of its own and two judged submissions; its id, which is the problem's."""
    name = f"r{uuid.uuid4().hex[:8]}"
    headers = {"Authorization": f"Bearer {admin_token}"}
    with httpx.Client(base_url=f"{service.url}/api/", headers=headers, timeout=100) as http:

        def post(path: str, **more: Any) -> dict[str, Any]:
            made: dict[str, Any] = http.post(path, **more).raise_for_status().json()
            return made

        package = zip_package(top=f"{name}/")
        post("problems", content=package, headers={"Content-Type": "application/zip"})
        start = "2026-01-01T00:00:00Z"
        post("contests", json={"id": name, "name": name, "start_time": start, "duration": "90000:00:00"})
        post(f"contests/{name}/problems", json={"id": name})
        post("teams", json=[{"id": f"{name}{team}", "name": f"Team {team}"} for team in "ab"])
        post(f"contests/{name}/teams", json={"team_ids": [f"{name}a", f"{name}b"]})
        for team, answer in (("a", "2\n"), ("b", "22\n")):
            form = {"problem_id": name, "team_id": f"{name}{team}"}
            made = post(f"contests/{name}/submissions", data=form, files={"files": ("02.out", answer)})
            path = f"contests/{name}/submissions/{made['id']}/report"
            while http.get(path).json()["state"] != "done":
                pass
    return name


def test_a_changed_case_waits_is_looked_at_applied_and_undone(admin: Jurado, contest: str, tmp_path: Path) -> None:
    (tmp_path / "case").write_text("22\n")
    put = admin("admin", "testcase", "put", contest, "secret/02", tmp_path / "case", "--answer", tmp_path / "case")
    assert put.exit_code == 0, put.output
    assert "the change waits as rejudging" in put.stdout
    number = put.stdout.split(" as rejudging ")[1].split()[0]
    watched = admin("admin", "rejudging", "watch", contest, number)
    assert watched.exit_code == 0, watched.output
    assert "test case 02: input, expected answer" in watched.stdout
    assert "PC → WA" in watched.stdout
    assert "WA → PC" in watched.stdout
    assert "▲1" in watched.stdout
    assert "▼1" in watched.stdout
    assert "50.00 → 0.00" in watched.stdout
    for deed, state in (("apply", "applied"), ("undo", "undone")):
        done = admin("admin", "rejudging", deed, contest, number)
        assert (done.exit_code, done.stdout) == (0, f"rejudging {number} is {state}\n")
    refused = admin("admin", "rejudging", "cancel", contest, number)
    assert (refused.exit_code, refused.stderr) == (1, f"jurado: rejudging {number} is undone\n")


def test_submissions_are_judged_again_and_it_is_applied_in_one_go(admin: Jurado, contest: str) -> None:
    done = admin("admin", "rejudge", contest, "--reason", "why not", "--problem", contest, "--apply", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["rejudging"]["state"], found["counts"]["submissions_changed"]) == ("applied", 0)
    listed = admin("admin", "rejudgings", contest)
    assert "why not" in listed.stdout
    assert "2/2" in listed.stdout


def test_a_rejudging_is_applied_while_teams_submit(
    admin: Jurado, contest: str, tmp_path: Path, service: Running, admin_token: str
) -> None:
    (tmp_path / "case").write_text("22\n")
    put = admin("admin", "testcase", "put", contest, "secret/02", tmp_path / "case", "--answer", tmp_path / "case")
    number = put.stdout.split(" as rejudging ")[1].split()[0]
    watched = admin("admin", "rejudging", "watch", contest, number)
    version = watched.stdout.split("version ")[1].split(";")[0]
    stop, submitted = Event(), Event()

    def submit() -> None:
        headers = {"Authorization": f"Bearer {admin_token}"}
        with httpx.Client(base_url=f"{service.url}/api/", headers=headers, timeout=100) as http:
            while not stop.is_set():
                form = {"problem_id": contest, "team_id": f"{contest}b"}
                reply = http.post(f"contests/{contest}/submissions", data=form, files={"files": ("02.out", "22\n")})
                made = reply.raise_for_status().json()["id"]
                while http.get(f"contests/{contest}/submissions/{made}/report").json()["state"] != "done":
                    pass  # the next one comes after this one's verdict: more than can be judged is another story
                submitted.set()

    with ThreadPoolExecutor(1) as threads:
        submitting = threads.submit(submit)
        try:
            assert submitted.wait(60)
            # Its verdict by the new case comes after the one that teams see.
            until(lambda: f"version {version};" not in admin("admin", "rejudging", "watch", contest, number).stdout)
            refused = admin("admin", "rejudging", "apply", contest, number, "--wait", "--version", version)
            assert refused.exit_code == 1
            assert f"the difference is no longer {version}" in refused.stderr
            done = admin("admin", "rejudging", "apply", contest, number, "--wait")
        finally:
            stop.set()
    submitting.result()
    assert (done.exit_code, done.stdout) == (0, f"rejudging {number} is applied\n")
    undone = admin("admin", "rejudging", "undo", contest, number)
    assert (undone.exit_code, undone.stdout) == (0, f"rejudging {number} is undone\n")


def test_a_case_without_an_answer_is_not_applied_and_says_what_is_missing(
    admin: Jurado, contest: str, tmp_path: Path
) -> None:
    (tmp_path / "case").write_text("22\n")
    put = admin("admin", "testcase", "put", contest, "secret/02", tmp_path / "case")
    assert put.exit_code == 0, put.output
    assert "has no expected answer yet" in put.stderr
    assert "the problem names no reference solver: put it again with --answer" in put.stderr
    number = put.stdout.split(" as rejudging ")[1].split()[0]
    refused = admin("admin", "rejudging", "apply", contest, number, "--wait")
    assert refused.exit_code == 1
    assert f"jurado: test case 02 of {contest} has no expected answer yet: wait for" in refused.stderr
    again = ("secret/02", tmp_path / "case", "--answer", tmp_path / "case")
    assert admin("admin", "testcase", "put", contest, *again).exit_code == 0
    assert admin("admin", "rejudging", "apply", contest, number, "--wait").exit_code == 0


def test_a_rejudging_of_nothing_is_refused(admin: Jurado, contest: str) -> None:
    refused = admin("admin", "rejudge", contest, "--reason", "why", "--team", "nobody")
    assert (refused.exit_code, refused.stderr) == (1, "jurado: team: expected a team, found 'nobody'\n")
