"""Users in the browser, counted: a contest with cards, a judge and an assistant; and a lost password."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.builders.browser import Hand, chromium_running, printed_around, reader
from tests.builders.contests import add_problem
from tests.builders.service import Api, open_api
from tests.builders.sockets import listening
from tests.conftest import migrated_sqlite

pytestmark = pytest.mark.browser
MOST_CLICKS = 20
NEW = "larch-wood-ferry"


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    """A server with a problem."""
    with open_api(migrated_sqlite(tmp_path / "jurado.sqlite"), tmp_path / "home") as api:
        add_problem(api.service)
        yield api


def test_a_contest_of_twenty_teams_a_judge_and_an_assistant_takes_few_clicks(api: Api) -> None:
    with listening(api) as place, chromium_running() as browser, reader(browser, f"http://{place}", "admin") as one:
        page, hand = one.page, Hand(one)
        hand.link("Organize")
        hand.link("New contest")
        page.fill("[name=name]", "Winter Cup")
        hand.press("Create contest")
        hand.click(page.get_by_label("Echo"))
        hand.press("Add to contest")
        hand.link("Next: Teams")
        hand.press("Create teams")
        expect(page.locator(".ticket")).to_have_count(20)
        assert printed_around(page) == []
        for name, role in (("Judy Judge", "judge"), ("Ada Assistant", "owner")):
            page.goto(f"{one.url}/admin/contests/winter-cup/roles")
            hand.clicks += 2  # by the tabs
            form = page.locator("form[action$='/admin/users']")
            form.locator("[name=name]").fill(name)
            form.locator("[name=role]").select_option(role)
            hand.clicks += 1
            hand.press("Create user and show the password")
            expect(page.locator(".ticket .name")).to_have_text(name)
        hand.link("Roles of the contest")
        expect(page.locator("tbody tr")).to_have_count(2)
        assert hand.clicks <= MOST_CLICKS
        assert [*one.violations(), *one.faults] == []


def test_a_lost_password_is_replaced_by_a_link(api: Api) -> None:
    with listening(api) as place, chromium_running() as browser:
        with reader(browser, f"http://{place}", "admin") as one:
            page, hand = one.page, Hand(one)
            one.open("/admin/users?find=team")
            hand.click(page.locator("tr", has_text="team account").locator(".menu summary"))
            hand.click(page.locator(".menu[open]").get_by_role("button", name="Reset link"))
            link = page.get_by_label("Link for").input_value()
            hand.click(page.get_by_text("QR code"))
            expect(page.locator(".qr svg")).to_be_visible()
            mail = page.get_by_role("link", name="Write email").get_attribute("href") or ""
            assert mail.startswith("mailto:?subject=Your%20new%20password&body=")
            hand.press("Copy")
            expect(page.get_by_role("button", name="Copied")).to_be_visible()
            assert [*one.violations(), *one.faults] == []
        with reader(browser, f"http://{place}") as one:
            page, hand = one.page, Hand(one)
            page.goto(link)
            page.fill("[name=password]", NEW)
            page.fill("[name=again]", NEW)
            assert one.violations() == []
            hand.press("Set password and log in")
            expect(page.locator(".note.good")).to_contain_text("Password changed")
            assert hand.clicks == 1
            page.goto(link)
            expect(page.locator("main")).to_contain_text("ask the organizers for another one")
