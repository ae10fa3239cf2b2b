"""Whole contests on pages: a description, limits a day, a copy, an import of what was exported, and a deletion."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest

from app.tables import ContestTeamRow, GroupRow
from tests.app.contests.test_contest_pages import text_of
from tests.builders.contests import add_contest, add_problem, add_submission, change_contest
from tests.builders.examples import sqlite_first
from tests.builders.scoring import share
from tests.builders.service import Api, open_api

pytestmark = sqlite_first

ORIGIN = {"Origin": "http://jurado.test"}


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """A contest `c` with a problem and the team `team`."""
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service, settings={"choose": True, "final_minutes": 5})
        change_contest(api.service, open_to_all=False)
        with api.service.database.write() as session:
            session.add(ContestTeamRow(contest_id="c", team_id="team"))
        yield api


def send(api: Api, path: str, user: str = "admin", **fields: str) -> httpx.Response:
    return api.post(path, user=user, data=fields, headers=ORIGIN)


def test_a_description_in_markdown_is_shown_on_the_page_of_the_contest(api: Api) -> None:
    text = "Bring **one** laptop.\n\n<script>alert(1)</script> $x^2$"
    assert send(api, "/admin/contests/c/times", description=text, visibility="private").status_code == 303
    page = api.get("/c/c", user="team").text
    assert "Bring <strong>one</strong> laptop." in page
    assert "<script>alert" not in page
    assert "<math" in page
    assert text in httpx.Response(200, text=api.get("contests/c", user="admin").json()["settings"]["description"]).text
    assert "Bring **one** laptop." in api.get("/admin/contests/c/times", user="admin").text


def test_submissions_a_day_are_limited_on_the_page_of_rules(api: Api) -> None:
    rules = {"rejections": "full", "partly_correct_as": "PC"}
    assert send(api, "/admin/contests/c/rules", **rules, per_window="3").status_code == 303
    limits = api.get("contests/c").json()["settings"]["limits"]
    assert limits["per_window"] == {"count": 3, "seconds": 86_400}
    api.patch("contests/c", user="admin", json={"settings": {"limits": {"per_window": {"count": 2, "seconds": 600}}}})
    assert "in 10 minutes" in text_of(api.get("/admin/contests/c/rules", user="admin").text)
    send(api, "/admin/contests/c/rules", **rules, per_window="4")
    assert api.get("contests/c").json()["settings"]["limits"]["per_window"] == {"count": 4, "seconds": 600}
    send(api, "/admin/contests/c/rules", **rules, per_window="")
    assert api.get("contests/c").json()["settings"]["limits"]["per_window"] is None


def test_a_copy_is_a_draft_with_the_problems_and_if_asked_the_teams(api: Api) -> None:
    api.patch("contests/c/problems/echo", user="admin", json={"label": "X", "rgb": "#123456"})
    with api.service.database.write() as session:
        session.add(GroupRow(id="g", name="Group"))
    place = {"location": {"latitude": 48.1, "longitude": 17.1}, "main_scoreboard_group_id": "g"}
    changed = api.patch("contests/c", user="admin", json=place)
    assert changed.status_code == 200, changed.text
    made = send(api, "/admin/contests/c/copy", name="Again", start="2031-05-04T09:00", time_zone="", teams="yes")
    assert made.headers.get("Location") == "/admin/contests/again?done=added", text_of(made.text)
    copy, first = (api.get(f"contests/{each}", user="admin").json() for each in ("again", "c"))
    assert copy["start_time"] == "2031-05-04T09:00:00.000Z"
    assert copy["duration"] == first["duration"]
    assert copy["settings"] == {**first["settings"], "visibility": "draft"}
    assert (copy["main_scoreboard_group_id"], copy["location"]) == ("g", first["location"])
    assert api.get("contests/again").status_code == 404
    (problem,) = api.get("contests/again/problems", user="admin").json()
    assert (problem["id"], problem["label"], problem["rgb"]) == ("echo", "X", "#123456")
    assert [team["id"] for team in api.get("contests/again/teams", user="admin").json()] == ["team"]
    empty = api.post("contests/c/copy", user="admin", json={"name": "Empty", "id": "empty"})
    assert (empty.status_code, empty.json()["id"], empty.json()["start_time"]) == (201, "empty", None)
    assert api.get("contests/empty/teams", user="admin").json() == []
    assert send(api, "/admin/contests/c/copy", name="Again", id="again").status_code == 409


def test_the_release_of_the_final_inputs_moves_with_the_start_of_a_copy(api: Api) -> None:
    start = api.get("contests/c", user="admin").json()["start_time"]
    release = (datetime.fromisoformat(start) + timedelta(hours=2)).isoformat()
    changed = api.patch(
        "contests/c", user="admin", json={"settings": {"final_minutes": None, "final_release": release}}
    )
    assert changed.status_code == 200, changed.text
    body = {"name": "Later", "start_time": "2031-05-04T09:00:00Z"}
    copy = api.post("contests/c/copy", user="admin", json=body).json()
    assert copy["settings"]["final_release"] == "2031-05-04T11:00:00.000Z"


def test_an_owner_copies_a_contest_only_with_the_right_to_create_contests(api: Api) -> None:
    api.put("contests/c/roles/staff", user="admin", json={"role": "owner"})
    assert api.post("contests/c/copy", user="staff", json={"name": "Mine"}).status_code == 403
    assert api.put("organisers/staff", user="admin").status_code < 300
    refused = api.post("contests/c/copy", user="staff", json={"name": "Mine"})
    assert (refused.status_code, "a problem at which you have a role" in refused.text) == (400, True)
    api.put("problems/echo/roles/staff", user="admin", json={"role": "judge"})
    assert api.post("contests/c/copy", user="staff", json={"name": "Mine"}).status_code == 201
    assert api.get("contests/mine/roles", user="staff").json()[0]["role"] == "owner"
    assert api.post("contests/c/copy", user="judge", json={"name": "Mine"}).status_code == 403


def test_a_contest_is_deleted_once_the_loss_is_confirmed_and_never_with_submissions(api: Api) -> None:
    question = send(api, "/admin/contests/c/delete")
    assert question.status_code == 200
    assert "are lost" in text_of(question.text)
    add_submission(api.service, {"02": share(1)})
    assert "cannot be deleted" in text_of(api.get("/admin/contests/c", user="admin").text)
    assert send(api, "/admin/contests/c/delete", sure="yes").status_code == 409
    api.post("contests/c/copy", user="admin", json={"name": "Copy"})
    deleted = send(api, "/admin/contests/copy/delete", sure="yes")
    assert deleted.headers.get("Location") == "/admin?done=deleted", text_of(deleted.text)
    assert api.get("contests/copy", user="admin").status_code == 404


def test_an_exported_contest_is_imported_on_the_page(api: Api) -> None:
    package = api.get("contests/c/package.zip", user="admin").content
    files = {"package": ("c.zip", package, "application/zip")}
    taken = api.post("/admin/import", user="admin", files=files, headers=ORIGIN)
    assert taken.status_code >= 400
    made = api.post("/admin/import", user="admin", files=files, data={"id": "d", "replace": "yes"}, headers=ORIGIN)
    assert made.headers.get("Location") == "/admin/contests/d?done=added", text_of(made.text)
    assert api.get("contests/d").json()["settings"]["choose"] is True
    assert api.post("/admin/import", user="staff", files=files, headers=ORIGIN).status_code == 403
    assert api.post("/admin/import", user="admin", data={"id": "e"}, headers=ORIGIN).status_code == 400
