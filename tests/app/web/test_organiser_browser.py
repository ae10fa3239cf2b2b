"""The organiser's pages in a real browser: nothing runs, errs or scrolls sideways, and axe-core finds nothing."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from app.web.organiser.routes import PLACES
from tests.app.web.test_in_browser import api, browser, faults_on, url
from tests.builders.browser import reader
from tests.builders.contests import change_contest
from tests.builders.service import Api

__all__ = ["api", "browser", "url"]
pytestmark = pytest.mark.browser
VALUES = {
    "contest_id": "c",
    "problem_id": "echo",
    "submission_id": "1",
    "rejudging_id": "1",
    "number": "1",
    "team_id": "team",
    "rival_id": "other",
    "job_id": "1",
}
DARK = {"/admin/contests/c", "/admin/contests/c/teams", "/admin/contests/c/ceremony", "/c/c/projector"}


def pages() -> list[str]:
    """The pages of organisers that read, but for jobs, which nobody runs here."""
    paths = dict.fromkeys(place[1] for place in PLACES if place[0] == "GET" and "{job_id}" not in place[1])
    return [path.format(**VALUES) for path in paths]


def test_no_page_of_organisers_runs_text_breaks_wcag_or_scrolls_sideways(api: Api, browser: Browser, url: str) -> None:
    origin = {"Origin": "http://jurado.test"}
    api.post("/admin/contests/c/submissions/1/rejudge", user="admin", headers=origin)
    faults: list[str] = []
    with reader(browser, url, "admin") as one:
        for path in pages():
            faults += faults_on(one, path)
            for scheme in ("light", "dark") if path in DARK else ("light",):
                one.page.emulate_media(color_scheme=scheme)
                faults += [f"{path} {scheme}: {each}" for each in one.violations()]
    assert not faults, "\n".join(faults)


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
