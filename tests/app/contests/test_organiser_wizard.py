"""The organiser's way from nothing to a running contest, over the forms of its pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select

from app.tables import AccountRow, AuditRow, ContestProblemRow, ContestRow, OrganiserRow, TeamRow
from tests.app.contests.test_contest_pages import text_of
from tests.builders.clocks import wall_clock
from tests.builders.contests import add_contest, add_problem
from tests.builders.examples import sqlite_first
from tests.builders.service import Api, open_api

pytestmark = sqlite_first

ORIGIN = {"Origin": "http://jurado.test"}
CLASS_LIST = "name,team,group\nAna Pérez,The Ants,juniors\nBen <b>Novák</b>,The Ants,juniors\n"


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """A server with a problem and without any contest."""
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service)
        yield api


def send(api: Api, path: str, user: str = "admin", **fields: str) -> httpx.Response:
    return api.post(path, user=user, data=fields, headers=ORIGIN)


def test_an_admin_walks_from_nothing_to_a_running_contest(api: Api) -> None:
    with wall_clock() as wall:
        made = send(api, "/admin/new", name="Spring", kind="together", duration="5:00", freeze="1:00")
        assert (made.status_code, made.headers["Location"]) == (303, "/admin/contests/spring/problems?done=made")
        home = text_of(api.get("/admin/contests/spring", user="admin").text)
        assert all(
            words in home
            for words in ("No start time", "Finish the setup", "No problem is in the contest.", "No team takes part")
        )

        added = send(api, "/admin/contests/spring/problems", **{"p.echo": "on"})
        assert added.headers["Location"] == "/admin/contests/spring/problems?done=added"

        files = {"file": ("class.csv", CLASS_LIST.encode(), "text/csv")}
        preview = api.post("/admin/contests/spring/teams/import", user="admin", files=files, headers=ORIGIN)
        assert "This class list creates 2 accounts" in text_of(preview.text)
        with api.service.database.read() as session:
            assert session.get(TeamRow, "the-ants") is None, "a preview stores nothing"
        text = re.search(r'name="text"\s+value="([^"]*)"', preview.text)
        assert text is not None
        assert "<b>" not in preview.text.split("<main", 1)[1].split("caption")[1]
        cards = send(api, "/admin/contests/spring/teams/import", text=CLASS_LIST, keep="yes")
        assert cards.headers["Cache-Control"] == "private, no-store"
        username, password = re.findall(
            r"<dt>username</dt>\s*<dd>([^<]+)</dd>\s*<dt>password</dt>\s*<dd>([^<]+)</dd>", cards.text
        )[0]

        send(api, "/admin/contests/spring/rules", rejections="verdict", partly_correct_as="PC", max_submissions="20")
        home = text_of(api.get("/admin/contests/spring", user="admin").text)
        assert "1 problem is in the contest." in home
        assert "1 team takes part." in home
        assert send(api, "/admin/contests/spring/start").status_code == 303
        assert "Ready to start" in text_of(api.get("/admin/contests/spring", user="admin").text)

        wall.step(timedelta(seconds=61))
        api.service.boards.all_changed()
        logged_in = api.post("/login", data={"username": username, "password": password})
        assert logged_in.status_code == 303
        problem = api.get(
            "/c/spring/problems/A", headers={"Cookie": f"jurado_session={logged_in.cookies['jurado_session']}"}
        )
        assert problem.status_code == 200
        assert "Submit to A" in problem.text
    settings = api.get("contests/spring").json()["settings"]
    assert (settings["rejections"], settings["limits"]["max_submissions"]) == ("verdict", 20)


def test_a_class_list_with_faults_shows_all_of_them_and_stores_nothing(api: Api) -> None:
    add_contest(api.service)
    reply = send(api, "/admin/contests/c/teams/import", text="name,username\nAna,a:b\n,x\n", keep="yes")
    assert reply.status_code == 400
    words = text_of(reply.text)
    assert "line 2, column username" in words
    assert "line 3, column name" in words
    assert "Ana,a:b" in reply.text, "the table is there to be mended"
    with api.service.database.read() as session:
        assert session.scalar(select(AccountRow).where(AccountRow.name == "Ana")) is None


def test_a_contest_with_faults_shows_its_form_again_with_what_was_written(api: Api) -> None:
    reply = send(api, "/admin/new", name="Oddly <i>", kind="together", duration="1:00", freeze="2:00")
    assert reply.status_code == 400
    assert "Scoreboard freezes before the end (hours:minutes) Expected at most the duration" in text_of(reply.text)
    assert 'value="Oddly &lt;i&gt;"' in reply.text
    assert send(api, "/admin/new", name="Odd", kind="together", duration="soon").status_code == 400
    assert api.get("contests").json() == []


def test_an_organiser_owns_the_contest_it_makes_and_sees_no_other(api: Api) -> None:
    add_contest(api.service)
    with api.service.database.write() as session:
        session.add(OrganiserRow(account_id="staff", granted=session.get_one(AccountRow, "staff").created))
    assert (
        send(api, "/admin/new", "other", name="Mine", kind="personal", duration="9:00", own="2:00").status_code == 403
    )
    assert (
        send(api, "/admin/new", "staff", name="Mine", kind="personal", duration="9:00", own="2:00").status_code == 303
    )
    assert api.get("contests/mine").json()["settings"]["personal_duration"] == "2:00:00.000"
    home = api.get("/admin", user="staff").text
    assert "/admin/contests/mine" in home
    assert "/admin/contests/c" not in home.replace("/admin/contests/mine", "")
    assert send(api, "/admin/contests/mine/times", "staff", name="Ours").status_code == 303
    assert api.get("contests/mine").json()["name"] == "Ours"
    assert send(api, "/admin/contests/c/times", "staff", name="Ours").status_code == 403
    assert send(api, "/admin/contests/mine/teams/import", "staff", text=CLASS_LIST, keep="yes").status_code == 200
    assert [team["name"] for team in api.get("contests/mine/teams").json()] == ["The Ants"]
    assert send(api, "/admin/contests/c/teams/import", "staff", text=CLASS_LIST, keep="yes").status_code == 403


def test_changes_on_pages_are_in_the_audit_log_with_the_pages_address(api: Api) -> None:
    add_contest(api.service)
    send(api, "/admin/contests/c/times", name="Renamed")
    with api.service.database.read() as session:
        entry = session.scalars(select(AuditRow).order_by(AuditRow.id.desc())).first()
        assert entry is not None
        assert (entry.operation, entry.path) == ("page_set_times", "/admin/contests/c/times")
        assert session.get_one(ContestRow, "c").name == "Renamed"


def test_the_page_of_times_shows_no_text_of_its_address(api: Api) -> None:
    add_contest(api.service)
    page = api.get("/admin/contests/c/times?done=saved&what=call+1234", user="admin")
    assert page.status_code == 200
    assert "call 1234" not in page.text.lower()


def test_the_reference_answer_is_offered_for_the_best_of_a_relative_problem(api: Api) -> None:
    page = "/admin/contests/spring/problems"
    send(api, "/admin/new", name="Spring", kind="together", duration="5:00")
    send(api, page, **{"p.echo": "on", "r.echo": "on"})
    entry = "contests/spring/problems/echo"
    with api.service.database.read() as session:
        assert session.get_one(ContestProblemRow, ("spring", "echo")).rule.reference_counts is True
    assert send(api, f"/admin/{entry}", reference="no").status_code == 303
    with api.service.database.read() as session:
        assert session.get_one(ContestProblemRow, ("spring", "echo")).rule.reference_counts is False


def tabs(api: Api, path: str, user: str = "admin") -> list[list[str]]:
    """The rows of the contest's navigation, the current link of each in brackets."""
    shown = api.get(path, user=user).text.split('<nav class="places"', 1)[1].split("</nav>")[0]
    links = [re.findall(r"<a [^>]*?(aria-current)?(?:=\"\w+\")?>([^<]*)", row) for row in shown.split("<div>")[1:]]
    return [[f"[{text.strip()}]" if current else text.strip() for current, text in row] for row in links]


def test_tabs_are_four_groups_and_the_pages_of_the_open_one(api: Api) -> None:
    add_contest(api.service)
    groups = ["Setup", "Run", "Results", "Access"]
    assert tabs(api, "/admin/contests/c") == [["[Overview]", *groups]]
    run = [["Overview", "Setup", "[Run]", "Results", "Access"], ["Submissions", "Rejudgings", "[Questions]"]]
    assert tabs(api, "/admin/contests/c/questions") == run
    assert tabs(api, "/admin/contests/c/teams")[1] == ["Times", "Problems", "[Teams]", "Rules"]
    assert tabs(api, "/admin/contests/c/teams", "judge")[1] == ["Problems", "[Teams]"]
    assert tabs(api, "/admin/contests/c/roles", "admin")[1] == ["[Roles]", "Audit log"]
