"""Notifications: the page that lists them, and what open pages show of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.app.contests.test_contest_pages import text_of
from tests.builders.browser import chromium_running, reader
from tests.builders.contests import add_contest, add_problem
from tests.builders.examples import sqlite_first
from tests.builders.judging import judge
from tests.builders.service import Api, open_api
from tests.builders.sockets import listening
from tests.builders.streams import open_stream

PAGE, HEADER = "/c/c/notifications", "/c/c/header"
SECONDS = 2.0


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


def say(api: Api, text: str, user: str = "judge", **more: object) -> str:
    """Send a message; returns its id."""
    sent = api.post("contests/c/clarifications", user=user, json={"text": text, **more})
    assert sent.is_success, sent.text
    return str(sent.json()["id"])


def titles(page: str) -> list[str]:
    """The titles of the notifications that a page or header lists."""
    return re.findall(r'<a href="/c/c/[^"]+"><b>(.*?)</b>', page)


def submit(api: Api) -> str:
    """Submit an answer of the team, which is judged at once; returns the submission's id."""
    sent = api.post(
        "contests/c/submissions", user="team", data={"problem_id": "echo"}, files={"files": ("02.out", b"2\n")}
    )
    assert sent.status_code == 201, sent.text
    assert judge(api.service) == 1
    return str(sent.json()["id"])


@sqlite_first
def test_the_page_lists_messages_and_verdicts_newest_first_until_they_are_read(api: Api) -> None:
    asked = say(api, "May I?", user="team", problem_id="echo")
    say(api, "You may.", reply_to_id=asked, to_team_ids=["team"], problem_id="echo")
    say(api, "For others.", to_team_ids=["other"])
    say(api, "Lunch is served.")
    submitted = submit(api)
    page = api.get(PAGE, user="team").text
    kinds = [title.split(": ")[-1] for title in titles(page)]
    assert kinds == ["Partly correct", "Announcement", "Answer from the jury"]
    assert f'href="/c/c/submissions/{submitted}"' in page
    assert page.count(">New</span>") == 3
    assert ("For others." in page, "Lunch is served." in page) == (False, True)
    assert api.get(PAGE, user="team").text.count(">New</span>") == 0
    others = api.get(PAGE, user="other").text
    assert titles(others) == ["Announcement", "Announcement"]


@sqlite_first
def test_an_open_page_gets_what_is_newer_than_what_it_has(api: Api) -> None:
    say(api, "Old.")
    seen = re.findall(r'data-seen="([0-9.]+)"', api.get("/c/c", user="team").text)
    assert seen == ["1.0"]
    say(api, "New.")
    submitted = submit(api)
    header = api.get(f"{HEADER}?seen={seen[0]}", user="team").text
    assert len(titles(header)) == 2
    assert re.search(rf"Submission {submitted}: 50(\.0)? points", text_of(header))
    assert ("New." in header, "Old." in header) == (True, False)
    assert titles(api.get(f"{HEADER}?seen=2.1", user="team").text) == []
    assert api.get(f"{HEADER}?seen=2.x", user="team").status_code == 400
    say(api, "Why?", user="team")
    assert titles(api.get(f"{HEADER}?seen=0.0", user="judge").text) == ["Question from Team team"]


@sqlite_first
def test_reading_a_report_leaves_messages_unread(api: Api) -> None:
    say(api, "Hello.")
    submitted = submit(api)
    assert re.search(r'id="unread"[^>]*>\s*2<', api.get("/c/c", user="team").text)
    assert re.search(r'id="unread"[^>]*>\s*1<', api.get(f"/c/c/submissions/{submitted}", user="team").text)
    assert re.search(r'id="unread"[^>]*>\s*1<', api.get("/c/c", user="team").text)
    assert re.search(r'id="unread"[^>]* hidden>', api.get("/c/c/questions", user="team").text)


@sqlite_first
def test_an_old_report_leaves_newer_verdicts_unread(api: Api) -> None:
    first, second = submit(api), submit(api)
    assert re.search(r'id="unread"[^>]*>\s*2<', api.get(f"/c/c/submissions/{first}", user="team").text)
    assert re.search(r'id="unread"[^>]* hidden>', api.get(f"/c/c/submissions/{second}", user="team").text)


@sqlite_first
def test_notifications_need_a_login(api: Api) -> None:
    assert api.get(PAGE, follow_redirects=False).status_code == 303
    assert 'href="/c/c/notifications"' not in api.get("/c/c").text


@sqlite_first
def test_the_stream_names_the_version_of_the_header_and_each_newer_one(api: Api) -> None:
    with open_stream(api, "/c/c/stream", user="team") as stream:
        versions = lambda: re.findall(rb"event: header\ndata: (\w+)\n\n", bytes(stream.received))  # noqa: E731
        stream.wait(lambda: len(versions()) == 1)
        assert f'data-version="{versions()[0].decode()}-' in api.get("/c/c", user="team").text
        say(api, "For others.", to_team_ids=["other"])
        say(api, "Hello.")
        stream.wait(lambda: len(versions()) == 2)
        assert f'data-version="{versions()[1].decode()}-' in api.get("/c/c", user="team").text
        submit(api)
        stream.wait(lambda: len(versions()) == 3)


@pytest.mark.browser
@sqlite_first
def test_an_announcement_is_seen_on_an_open_page_within_two_seconds(api: Api, browser: Browser) -> None:
    with listening(api) as place, reader(browser, f"http://{place}", "team") as one:
        page = one.page
        with page.expect_response("**/c/c/stream"):
            one.open("/c/c/problems/echo")
        page.evaluate(
            """() => { window.seen = new Promise((found) => new MutationObserver(() => found(Date.now()))
            .observe(document.getElementById("toasts"), { childList: true })); }"""
        )
        sent = page.evaluate("Date.now()")
        say(api, "Lunch is served.")
        assert page.evaluate("window.seen") - sent <= SECONDS * 1000
        toast = page.locator(".toast")
        expect(toast).to_contain_text("Lunch is served.")
        expect(page.locator("#unread")).to_have_text(re.compile("^1"))
        assert one.violations() == []
        assert one.overflows() == []
        toast.get_by_role("button", name="Close").click()
        expect(toast).to_have_count(0)
        submitted = submit(api)
        expect(toast).to_contain_text("Partly correct")
        toast.get_by_role("link").click()
        page.wait_for_url(f"**/c/c/submissions/{submitted}")
        expect(page.locator("#unread")).to_have_text(re.compile("^1"))
        page.get_by_role("link", name="Notifications").click()
        expect(page.locator("main li")).to_have_count(2)
        expect(page.locator("#unread")).to_be_hidden()
        assert one.faults == []


@pytest.mark.browser
@sqlite_first
def test_the_browser_notifies_only_after_the_reader_has_asked_for_it(api: Api, browser: Browser) -> None:
    allowed = {"permissions": ["notifications"]}
    with listening(api) as place, reader(browser, f"http://{place}", "team", **allowed) as one:
        page = one.page
        page.add_init_script(
            """window.shown = [];
            window.Notification = class extends EventTarget {
                static permission = "granted";
                static requestPermission = async () => "granted";
                constructor(title, { body }) { super(); window.shown.push(`${title}: ${body}`); }
            };
            Object.defineProperty(document, "hidden", { get: () => true });"""
        )
        one.open(PAGE)
        look = "lookAtHeader()"
        say(api, "First.")
        page.evaluate(look)
        expect(page.locator(".toast")).to_have_count(1)
        assert page.evaluate("window.shown") == []
        page.get_by_role("button", name="Turn on browser notifications").click()
        say(api, "Second.")
        page.evaluate(look)
        expect(page.locator(".toast")).to_have_count(2)
        assert page.evaluate("window.shown") == ["Announcement: Second."]
        page.get_by_role("button", name="Turn off browser notifications").click()
        say(api, "Third.")
        page.evaluate(look)
        expect(page.locator(".toast")).to_have_count(3)
        assert page.evaluate("window.shown") == ["Announcement: Second."]
        assert one.faults == []
