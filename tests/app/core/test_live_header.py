"""The header of a contest's pages: state, clock and unread messages, on load and on pages that are open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import event

from app.tables import ClarificationRow
from tests.app.contests.test_contest_pages import text_of
from tests.builders.browser import chromium_running, reader
from tests.builders.contests import HOUR, add_contest, add_problem, change_contest
from tests.builders.examples import sqlite_first
from tests.builders.service import Api, open_api
from tests.builders.sockets import listening

HEADER = "/c/c/header"


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """A contest that runs."""
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        yield api


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all."""
    with chromium_running() as browser:
        yield browser


def version_on(page: str) -> str:
    """The version of the header that a page has."""
    found = re.search(r'data-version="([^"]+)"', page)
    assert found is not None
    return found[1]


def look(api: Api, version: str, user: str | None = "team") -> httpx.Response:
    return api.get(HEADER, user=user, headers={"If-None-Match": f'"{version}"'})


def announce(api: Api, text: str = "Hello", **more: object) -> None:
    assert api.post("contests/c/clarifications", user="judge", json={"text": text, **more}).is_success


def ask(api: Api, user: str = "team") -> str:
    return str(api.post("contests/c/clarifications", user=user, json={"text": "Why?"}).json()["id"])


def badge(html: str) -> str:
    found = re.search(r'id="unread"[^>]*>(.*?)</span>', html, re.DOTALL)
    assert found is not None
    return found[1].split("<")[0]


@sqlite_first
@pytest.mark.parametrize("user", [None, "team", "judge", "admin"])
def test_an_open_page_has_the_newest_header(api: Api, user: str | None) -> None:
    for path in ("/c/c", "/c/c/problems/echo", "/c/c/scoreboard", *(["/admin/contests/c"] if user == "admin" else [])):
        assert look(api, version_on(api.get(path, user=user).text), user).status_code == 304, path


@sqlite_first
def test_what_open_pages_ask_for_reads_nothing_of_the_database(api: Api) -> None:
    """A thousand open pages ask every fifteen seconds."""
    version = version_on(api.get("/c/c", user="team").text)
    statements: list[str] = []
    database = api.service.database

    def count(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    for engine in (database.engine, database.readers, database.writers):
        event.listen(engine, "before_cursor_execute", count)
    assert [look(api, version).status_code for _ in range(5)] == [304] * 5
    assert statements == []
    assert look(api, version).content == b""


@sqlite_first
def test_a_pause_and_its_end_change_the_header_of_open_pages(api: Api) -> None:
    page = api.get("/c/c/problems/echo", user="team").text
    assert 'data-phase="running"' in page
    assert re.search(r"<button[^>]* data-send>", page)
    assert api.post("contests/c/pause", user="admin").is_success
    header = look(api, version_on(page))
    assert header.status_code == 200
    assert 'data-phase="paused"' in header.text
    assert "data-left" not in header.text
    assert "The contest has been paused since" in text_of(header.text)
    paused = api.get("/c/c/problems/echo", user="team").text
    assert "The contest has been paused since" in text_of(paused)
    assert re.search(r"<button[^>]* data-send disabled>", paused)
    assert api.post("contests/c/resume", user="admin").is_success
    header = look(api, version_on(paused))
    assert 'data-phase="running" data-left="' in header.text
    assert "paused" not in text_of(header.text)


@sqlite_first
def test_a_changed_end_reaches_open_pages(api: Api) -> None:
    version = version_on(api.get("/c/c", user="team").text)
    assert api.patch("contests/c", user="admin", json={"duration": "6:00:00"}).is_success
    header = look(api, version)
    assert (header.status_code, "left of 6:00" in header.text) == (200, True)


@sqlite_first
@pytest.mark.parametrize(
    ("started", "finalized", "phase", "words"),
    [
        (-HOUR, False, "before", "until the start"),
        (6 * HOUR, False, "over", "over"),
        (6 * HOUR, True, "final", "final"),
    ],
)
def test_the_clock_says_the_state(api: Api, started: timedelta, finalized: bool, phase: str, words: str) -> None:
    add_contest(api.service, "other", started=started)
    if finalized:
        assert api.patch("contests/other", user="admin", json={"finalized": True}).is_success
    page = api.get("/c/other").text
    clock = page.split('id="clock"', 1)[1].split("</div>", 1)[0]
    assert f'data-phase="{phase}"' in clock
    assert words in clock
    assert ("data-left" in clock) is (phase == "before")


@sqlite_first
def test_a_team_sees_how_many_messages_it_has_not_read(api: Api) -> None:
    version = version_on(api.get("/c/c", user="team").text)
    announce(api)
    header = look(api, version)
    assert (header.status_code, badge(header.text)) == (200, "1")
    asked = ask(api, "team")
    announce(api, "Because.", reply_to_id=asked, to_team_ids=["team"])
    announce(api, "For others.", to_team_ids=["other"])
    assert badge(api.get("/c/c/scoreboard", user="team").text) == "2", "on load, also of the board"
    assert badge(api.get("/c/c", user="other").text) == "2"
    assert 'id="unread"' not in api.get("/c/c").text
    read = api.get("/c/c/questions", user="team")
    assert badge(read.text) == ""
    cookie = {"Cookie": f"jurado_read={read.cookies['jurado_read']}"}
    api.client.cookies.clear()
    assert "Path=/c/c;" in read.headers["Set-Cookie"]
    assert badge(api.get("/c/c", user="team", headers=cookie).text) == ""
    announce(api, "More.")
    assert badge(api.get("/c/c", user="team", headers=cookie).text) == "1"
    odd = {"Cookie": "jurado_read=-7"}
    assert badge(api.get("/c/c", user="team", headers=odd).text) == "3"


@sqlite_first
def test_judges_see_how_many_questions_wait(api: Api) -> None:
    version = version_on(api.get("/admin/contests/c", user="admin").text)
    first, _second = ask(api, "team"), ask(api, "other")
    header = look(api, version, "admin")
    assert badge(header.text) == "2"
    announce(api, "Because.", reply_to_id=first)
    assert badge(api.get("/admin/contests/c", user="admin").text) == "1"
    assert badge(api.get("/c/c", user="judge").text) == "1"


@sqlite_first
def test_organizers_see_when_the_pause_began(api: Api) -> None:
    assert api.post("contests/c/pause", user="admin").is_success
    state = api.get("contests/c/state").json()
    began, start = state["removed_intervals"][0]["start"][:16], state["started"][:16]
    assert began != start
    overview = api.get("/admin/contests/c", user="admin").text.split('class="head"', 1)[1].split("</p>", 1)[0]
    assert (began in overview, start in overview) == (True, False)
    assert "since" in text_of(overview)


def look_now(page: Page) -> None:
    """Let an open page look at its header, as it does when its reader comes back to it."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


@pytest.mark.browser
@sqlite_first
def test_pauses_and_messages_reach_an_open_page(api: Api, browser: Browser) -> None:
    with listening(api) as place, reader(browser, f"http://{place}", "team") as one:
        one.open("/c/c/problems/echo")
        page = one.page
        send, notice, unread = page.locator("[data-send]"), page.locator("#notice"), page.locator("#unread")
        expect(send).to_be_enabled()
        expect(unread).to_be_hidden()
        assert api.post("contests/c/pause", user="admin").is_success
        announce(api)
        look_now(page)
        expect(notice).to_contain_text("The contest has been paused since")
        expect(send).to_be_disabled()
        expect(unread).to_have_text(re.compile("^1"))
        expect(page.locator("#clock")).to_contain_text("paused")
        assert one.overflows() == []
        assert one.violations() == []
        assert api.post("contests/c/resume", user="admin").is_success
        look_now(page)
        expect(send).to_be_enabled()
        expect(notice).to_be_empty()
        shown = page.locator("#clock b").inner_text()
        expect(page.locator("#clock b")).not_to_have_text(shown)  # it runs again
        page.get_by_role("link", name="Questions").click()
        expect(page.locator("#unread")).to_be_hidden()
        assert one.faults == []


@pytest.mark.browser
@sqlite_first
def test_pages_count_down_to_the_start_and_load_again_at_start_and_end(api: Api, browser: Browser) -> None:
    add_contest(api.service, "soon", started=-timedelta(hours=1), duration=timedelta(hours=1))
    with listening(api) as place, reader(browser, f"http://{place}", "team") as one:
        one.open("/c/soon/problems")
        clock = one.page.locator("#clock")
        expect(clock).to_contain_text("until the start")
        change_contest(api.service, "soon", start_time=datetime.now(UTC) + timedelta(seconds=4))
        look_now(one.page)
        expect(clock).to_contain_text("left of 1:00")
        expect(one.page.locator("main")).to_contain_text("Echo")
        one.open("/c/soon/questions")
        one.page.fill("textarea", "Half a question")
        change_contest(api.service, "soon", duration_ms=1000)
        look_now(one.page)
        expect(one.page.locator("#notice a")).to_have_text("The contest has started or ended. Reload this page")
        expect(one.page.locator("textarea")).to_have_value("Half a question")
        one.open("/c/soon/questions")
        expect(clock).to_contain_text("over")
        assert one.faults == []


@pytest.mark.browser
@sqlite_first
def test_the_clock_and_the_messages_need_no_script(api: Api, browser: Browser) -> None:
    with api.service.database.write() as session:
        session.add(ClarificationRow(id="1", contest_id="c", text="Hello", time=datetime.now(UTC), contest_time_ms=1))
    with listening(api) as place, reader(browser, f"http://{place}", "team", java_script_enabled=False) as one:
        one.open("/c/c")
        expect(one.page.locator("#clock")).to_contain_text("left of 5:00")
        expect(one.page.locator("#unread")).to_have_text(re.compile("^1"))
        assert one.faults == []
