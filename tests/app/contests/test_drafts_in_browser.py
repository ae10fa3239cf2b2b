"""A season in the browser, counted: a draft is described and published, its results are printed, and it is copied."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.builders.browser import Hand, chromium_running, printed_around, reader
from tests.builders.contests import HOUR, add_problem, add_submission, change_contest
from tests.builders.scoring import share
from tests.builders.service import Api, open_api
from tests.builders.sockets import listening
from tests.conftest import migrated_sqlite

pytestmark = pytest.mark.browser
MOST_CLICKS = 20


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    """A server with a problem."""
    with open_api(migrated_sqlite(tmp_path / "jurado.sqlite"), tmp_path / "home") as api:
        add_problem(api.service)
        yield api


def test_a_draft_is_published_and_its_results_are_printed_and_copied_in_few_clicks(api: Api) -> None:
    with (
        listening(api) as place,
        chromium_running() as browser,
        reader(browser, f"http://{place}", "admin") as one,
        reader(browser, f"http://{place}") as public,
    ):
        page, hand = one.page, Hand(one)
        one.open("/admin/new")
        page.fill("[name=name]", "Winter Cup")
        page.select_option("[name=visibility]", "draft")
        page.check("[name=open_to_all]")
        hand.press("Create contest")
        hand.click(page.get_by_label("Echo"))
        hand.press("Add to contest")
        assert public.open("/c/winter-cup") == 404
        hand.link("Times")
        page.fill("[name=description]", "## Welcome\n\nBring **one** laptop.")
        hand.press("Save")
        hand.link("Overview")
        expect(page.locator(".checks")).to_contain_text("Draft: only organizers see the contest.")
        assert [*one.violations(), *one.overflows(), *one.faults] == []
        hand.press("Publish")
        assert public.open("/c/winter-cup") == 200
        expect(public.page.locator("article strong")).to_have_text("one")
        assert public.violations() == []
        change_contest(api.service, "winter-cup", start_time=datetime.now(UTC) - 6 * HOUR, freeze_ms=None)
        add_submission(api.service, {"02": share(1)}, contest_id="winter-cup")
        one.open("/admin/contests/winter-cup/results")
        assert [*one.violations(), *one.overflows(), *one.faults] == []
        hand.click(page.get_by_label("Select: Team team"))
        hand.press("Create certificates")
        expect(page.locator(".certificate")).to_have_count(1)
        expect(page.locator(".certificate h2")).to_have_text("Team team")
        assert printed_around(page) == []
        assert [*one.violations(), *one.overflows(), *one.faults] == []
        hand.link("Overview")
        hand.click(page.get_by_text("Copy, export or delete this contest"))
        page.fill("[name=name]", "Spring Cup")
        hand.press("Copy contest")
        expect(page.locator("h1")).to_have_text("Spring Cup")
        hand.click(page.get_by_text("Copy, export or delete this contest"))
        hand.press("Delete contest")
        hand.press("Delete contest")
        expect(page.locator(".note.good")).to_have_text("Deleted.")
        assert public.open("/c/spring-cup") == 404
        assert hand.clicks <= MOST_CLICKS
