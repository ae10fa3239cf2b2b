"""The first steps in a browser, by links and forms alone: from nothing to a judged answer, and to a running contest.

What answers a form is no route of the walk (tests/app/core/test_walk.py): such pages are compared with its rules here.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import delete

from app.tables import AccountRow, TokenRow
from tests.builders.browser import Reader, chromium_running, reader
from tests.builders.clocks import wall_clock
from tests.builders.contests import add_contest, add_problem
from tests.builders.judging import judge
from tests.builders.service import PASSWORD, Api, open_api
from tests.builders.sockets import listening
from tests.conftest import migrated_sqlite

pytestmark = pytest.mark.browser
CLASS_LIST = "name,team,group\nAna Pérez,The Ants,juniors\nBen Novák,The Ants,juniors\nCleo,The Bees,seniors\n"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all."""
    with chromium_running() as browser:
        yield browser


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    """A server with a problem."""
    with open_api(migrated_sqlite(tmp_path / "jurado.sqlite"), tmp_path / "home") as api:
        add_problem(api.service)
        yield api


@pytest.fixture
def url(api: Api) -> Iterator[str]:
    """The address of the server."""
    with listening(api) as place:
        yield f"http://{place}"


def follow(one: Reader, name: str) -> None:
    """Click on the first link of this name."""
    one.page.get_by_role("link", name=name, exact=True).first.click()


def press(one: Reader, name: str) -> None:
    """Click on the button of this name in the page."""
    one.page.locator("main").get_by_role("button", name=name).click()


def faults_of(one: Reader) -> list[str]:
    """What is wrong with the page that is open, where it is and how wide it may be; it stays open."""
    one.page.wait_for_load_state()
    path = one.page.url
    faults = [*one.intrusions(), *one.overflows(), *one.violations(), *one.faults]
    one.faults.clear()
    return [f"{path}: {each}" for each in faults]


def test_a_newcomer_comes_from_the_first_page_to_a_judged_answer(api: Api, browser: Browser, url: str) -> None:
    """Whoever has just started a server has the admin's password and no team, and no guide is needed."""
    add_contest(api.service)
    with api.service.database.write() as session:
        session.execute(delete(TokenRow))
        session.execute(delete(AccountRow).where(AccountRow.id != "admin"))
    with reader(browser, url) as one:
        one.open("/")
        follow(one, "Contest c")
        follow(one, "Echo")
        one.page.locator("main").get_by_role("link", name="Log in").click()
        expect(one.page.locator("main")).to_contain_text("Log in as admin with the password")
        faults = faults_of(one)
        one.page.fill("[name=username]", "admin")
        one.page.fill("[name=password]", PASSWORD)
        press(one, "Log in")
        follow(one, "Create a team")
        one.page.locator("form[action$='/teams/new'] [name=name]").fill('"Ants", <b>and</b> more')
        one.page.locator("form[action$='/teams/new'] [name=count]").fill("1")
        press(one, "Create teams")
        expect(one.page.locator(".ticket .name")).to_have_text('"Ants", <b>and</b> more')
        faults += faults_of(one)
        password = one.page.locator(".ticket dd").last.inner_text()
        follow(one, "Log in with this account")
        one.page.fill("[name=password]", password)
        press(one, "Log in")
        follow(one, "Echo")
        one.page.set_input_files("#files", {"name": "02.out", "mimeType": "", "buffer": b"2\n"})
        press(one, "Submit 1 file to A")
        expect(one.page.locator(".pre-said")).to_contain_text("Stored as 1")
        judge(api.service)
        expect(one.page.locator(".pre-result")).to_contain_text("50.0 of 100")
        faults += faults_of(one)
    assert faults == []


def test_an_organiser_comes_from_nothing_to_a_running_contest(api: Api, browser: Browser, url: str) -> None:
    with wall_clock() as wall, reader(browser, url, "admin") as one:
        follow(one, "Organize")
        follow(one, "New contest")
        one.page.fill("[name=name]", "Winter Cup")
        press(one, "Create contest")
        one.page.get_by_label("Echo").check()
        press(one, "Add to contest")
        expect(one.page.locator(".note.good")).to_have_text("Added.")
        faults = faults_of(one)
        follow(one, "Next: Teams")
        file = {"name": "class.csv", "mimeType": "text/csv", "buffer": CLASS_LIST.encode()}
        one.page.set_input_files("[name=file]", file)
        press(one, "Preview")
        expect(one.page.locator("h1")).to_have_text("This class list creates 3 accounts")
        faults += faults_of(one)
        press(one, "Import and show the passwords")
        expect(one.page.locator(".ticket")).to_have_count(3)
        faults += faults_of(one)
        follow(one, "Next: Rules")
        follow(one, "Next: Start")
        expect(one.page.locator(".lead h2")).to_have_text("Ready to start")
        press(one, "Start in one minute")
        expect(one.page.locator(".note.good")).to_have_text("The contest starts in one minute.")
        expect(one.page.locator(".checks .v.wa")).to_have_count(0)
        expect(one.page.get_by_role("button", name="Start in one minute")).to_have_count(0)
        faults += faults_of(one)
        wall.step(timedelta(seconds=61))
        api.service.boards.all_changed()
        one.open("/")
        expect(one.page.locator("li", has_text="Winter Cup").locator(".state")).to_have_text("running")
    assert faults == []


def test_what_is_shown_once_breaks_no_rule(api: Api, browser: Browser, url: str) -> None:
    """A token, and a new password."""
    add_contest(api.service, problem_id=None)
    terms = api.patch("contests/c/registration", user="admin", json={"open": True}).json()
    with reader(browser, url, "admin") as one:
        one.open("/account")
        one.page.fill("[name=label]", "a program " * 20)
        press(one, "Create token")
        expect(one.page.locator("h1")).to_contain_text("The token for")
        faults = faults_of(one)
        one.open("/admin/users?find=other")
        one.page.locator(".menu summary").click()
        one.page.locator(".menu").get_by_role("button", name="New password").click()
        expect(one.page.locator("h1")).to_have_text("Create a new password for 1 user?")
        faults += faults_of(one)
        press(one, "Create")
        expect(one.page.locator("h1")).to_have_text("1 card with a password")
        faults += faults_of(one)
    with reader(browser, url) as one:
        one.open(f"/c/c/register?code={terms['code']}")
        for name, value in (("name", "Ana"), ("email", "ana@example.org"), ("password", PASSWORD), ("again", PASSWORD)):
            one.page.fill(f"[name={name}]", value)
        press(one, "Register")
        expect(one.page.locator("h1")).to_have_text("You are registered")
        faults += faults_of(one)
    assert faults == []
