"""The overview in a browser: from a contest that is set up to its end by its buttons, and on an open page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.builders.browser import Reader, chromium_running, reader
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, change_contest
from tests.builders.scoring import share
from tests.builders.service import Api, open_api
from tests.builders.sockets import listening

pytestmark = pytest.mark.browser


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A contest that is set up, and begins in an hour."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service, started=-HOUR, freeze=HOUR)
        yield api


@pytest.fixture
def browser() -> Iterator[Browser]:
    """One browser."""
    with chromium_running() as browser:
        yield browser


def press(one: Reader, name: str) -> None:
    one.page.locator(".lead, .ask, main").first.get_by_role("button", name=name).click()


def test_a_contest_is_led_from_start_to_final_results_in_eleven_clicks(api: Api, browser: Browser) -> None:
    with listening(api) as place, reader(browser, f"http://{place}", "admin") as one:
        heading = one.page.locator(".lead h2")
        one.open("/admin/contests/c")
        expect(heading).to_have_text("Ready to start")
        change_contest(api.service, start_time=datetime.now(UTC) - HOUR)
        expect(heading).to_have_text("The contest is running", timeout=15_000)
        add_submission(api.service, {"02": share(1)})
        expect(one.page.locator(".sum dd").first).to_have_text("1", timeout=15_000)
        press(one, "Add 10 minutes")
        expect(one.page.locator(".note.good")).to_have_text("The contest ends 10 minutes later.")
        press(one, "Pause")
        press(one, "Resume")
        press(one, "Freeze scoreboard")
        one.page.get_by_role("button", name="Freeze scoreboard").click()
        expect(one.page.locator(".note.good")).to_have_text("The scoreboard is frozen.")
        change_contest(api.service, start_time=datetime.now(UTC) - 6 * HOUR)
        expect(heading).to_have_text("Reveal the results", timeout=15_000)
        one.page.get_by_role("link", name="Open ceremony").click()
        change_contest(api.service, thaw_time=datetime.now(UTC) - timedelta(minutes=1))
        one.open("/admin/contests/c")
        press(one, "Finalize results")
        one.page.get_by_role("button", name="Finalize results").click()
        expect(heading).to_have_text("The results are final")
        assert one.faults == []


def test_times_are_typed_in_the_zone_of_the_organizer_with_utc_beside_them(api: Api, browser: Browser) -> None:
    zone = "Europe/Bratislava"
    with listening(api) as place, reader(browser, f"http://{place}", "admin", timezone_id=zone) as one:
        one.open("/admin/contests/c/times")
        expect(one.page.locator("label", has_text="Start")).to_contain_text(zone)
        one.page.fill("[name=start]", "2030-07-01T12:00:00")
        expect(one.page.locator(".local").first).to_have_text("2030-07-01 10:00 UTC")
        one.page.get_by_role("button", name="Save").click()
        expect(one.page.locator("[name=start]")).to_have_value("2030-07-01T12:00")
        one.open("/admin/contests/c/audit")
        expect(one.page.locator("ol.list li").first).to_contain_text(f"to 2030-07-01 12:00 {zone}.")
        assert api.get("contests/c").json()["start_time"] == "2030-07-01T10:00:00.000Z"
        assert [*one.faults, *one.overflows((320, 390))] == []
