"""The organiser's pages in a real browser: the ceremony goes by keys, the projector shows what everyone may see."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.app.core.test_in_browser import api, browser, url
from tests.builders.browser import reader
from tests.builders.contests import change_contest
from tests.builders.service import Api

__all__ = ["api", "browser", "url"]
pytestmark = pytest.mark.browser


def test_the_ceremony_goes_by_keys_and_the_projector_stays_frozen(api: Api, browser: Browser, url: str) -> None:
    change_contest(api.service, freeze_ms=int(4.75 * 3600_000))  # since minute 15
    with reader(browser, url, "judge") as one, reader(browser, url, "admin") as hall:
        hall.open("/c/c/projector")
        one.open("/admin/contests/c/ceremony")
        shown, count = one.page.locator("#scene h1"), one.page.locator(".count")
        expect(count).to_have_text("0 of 1")
        one.page.keyboard.press("Space")
        expect(shown).to_have_text("Team other, problem A: 0.0 to 100.0")
        expect(count).to_have_text("1 of 1")
        hall.page.reload()
        expect(hall.page.locator(".hall-board tbody")).not_to_contain_text("100.0")
        one.page.keyboard.press("Backspace")
        expect(count).to_have_text("0 of 1")
        assert one.faults + hall.faults == []


def test_the_pages_of_organisers_need_no_script(api: Api, browser: Browser, url: str) -> None:
    with reader(browser, url, java_script_enabled=False) as one:
        one.open("/c/c/projector")
        expect(one.page.locator(".hall-board tbody tr")).to_have_count(2)
    assert one.faults == []
