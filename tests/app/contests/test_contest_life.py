"""A contest led from its start to its final board by commands, against a real service."""

from __future__ import annotations

import json
import time
import uuid

import pytest

from app.core.commands.client import Client
from app.packages.catalog import problems_folder
from tests.app.conftest import Jurado, end_soon

ANSWER = problems_folder() / "comesolo/submissions/accepted/reference/101-n05-p70.out"


def said(admin: Jurado, *words: str) -> str:
    done = admin(*words)
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.fixture
def contest(admin: Jurado) -> str:
    """A running contest of two teams."""
    name = f"x{uuid.uuid4().hex[:8]}"
    said(admin, "admin", "contest", "create", name, "Led", "--start", "now")
    said(admin, "admin", "contest", "add-problem", name, "comesolo")
    for team in ("ants", "bees"):
        said(admin, "admin", "team", "add", f"{name}-{team}", f"The {team}", "--contest", name)
    return name


def submit(client: Client, contest: str, team: str) -> None:
    files = [("files", (ANSWER.name, ANSWER.read_bytes()))]
    data = {"problem_id": "comesolo", "team_id": f"{contest}-{team}"}
    made = client.post(f"contests/{contest}/submissions", data=data, files=files)
    while client.get(f"contests/{contest}/submissions/{made['id']}/report")["points"] is None:
        time.sleep(0.1)


def test_a_contest_is_paused_and_goes_on(admin: Jurado, contest: str) -> None:
    said(admin, "admin", "contest", "pause", contest)
    again = admin("admin", "contest", "pause", contest)
    assert (again.exit_code, again.stdout) == (1, "")
    said(admin, "admin", "contest", "resume", contest)
    with Client.open() as client:
        (removed,) = client.get(f"contests/{contest}/state")["removed_intervals"]
    assert removed["end"] is not None


def test_a_quota_is_set_shown_and_taken_away(admin: Jurado, contest: str) -> None:
    limits = {"max_submissions": 3, "interval_seconds": 60, "per_window": {"count": 5, "seconds": 600}}
    said(admin, "api", "PATCH", f"contests/{contest}/problems/comesolo", f"limits={json.dumps(limits)}")
    with Client.open() as client:
        found = client.get(f"contests/{contest}/problems/comesolo/quota", team_id=f"{contest}-ants")
        assert (found["used"], found["left"]) == (0, 3)
        said(admin, "api", "PATCH", f"contests/{contest}/problems/comesolo", "limits={}")
        found = client.get(f"contests/{contest}/problems/comesolo/quota", team_id=f"{contest}-ants")
    assert found["left"] is None


def test_a_frozen_board_is_opened_and_the_results_are_final(admin: Jurado, contest: str) -> None:
    with Client.open() as client:
        client.patch(f"contests/{contest}", {"scoreboard_freeze_duration": "5:00:00"})
        for team in ("ants", "bees"):
            submit(client, contest, team)
        board = client.get(f"contests/{contest}/scoreboard", public="true")
        assert [cell["num_pending"] for row in board["rows"] for cell in row["problems"]] == [1, 1]
        end_soon(client, contest)
        while client.get(f"contests/{contest}/state")["ended"] is None:
            time.sleep(0.2)
    assert json.loads(said(admin, "api", "GET", f"contests/{contest}/reveal"))["left"] == 2
    opened = json.loads(said(admin, "api", "POST", f"contests/{contest}/reveal", "step=row"))
    assert [each["problem_id"] for each in opened["opened"]] == ["comesolo"]
    last = json.loads(said(admin, "api", "POST", f"contests/{contest}/reveal", "step=cell"))
    assert (last["left"], last["thawed"] is None) == (0, False)
    said(admin, "admin", "contest", "disqualify", contest, f"{contest}-bees")
    assert "The bees" not in said(admin, "scoreboard", contest)
    said(admin, "admin", "contest", "disqualify", contest, f"{contest}-bees", "--undo")
    said(admin, "admin", "contest", "finalize", contest)
    awards = json.loads(said(admin, "api", "GET", f"contests/{contest}/awards"))
    assert {award["id"]: award["team_ids"] for award in awards}["winner"] == [f"{contest}-ants"]
    said(admin, "admin", "contest", "finalize", contest, "--undo")
