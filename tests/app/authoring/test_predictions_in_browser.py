"""A prediction contest in the browser, counted: from a CSV file to a running contest, and a team's first answer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.builders.browser import Hand, chromium_running, reader
from tests.builders.contests import HOUR, change_contest, with_checkers
from tests.builders.judging import judge
from tests.builders.service import Api, open_api
from tests.builders.sockets import listening
from tests.conftest import migrated_sqlite

pytestmark = pytest.mark.browser
MOST_CLICKS = 10
TABLE = "id,height,kind\n" + "".join(f"{at},{at % 7},{'oak' if at % 3 else 'elm'}\n" for at in range(1, 41))


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    """A server without problems."""
    with open_api(migrated_sqlite(tmp_path / "jurado.sqlite"), tmp_path / "home") as api:
        yield with_checkers(api)


def test_a_csv_file_becomes_a_contest_with_provisional_and_final_standings(api: Api) -> None:
    file = {"name": "forest_trees.csv", "mimeType": "text/csv", "buffer": TABLE.encode()}
    with listening(api) as place, chromium_running() as browser:
        with reader(browser, f"http://{place}", "admin") as one:
            page, hand = one.page, Hand(one)
            hand.link("Organize")
            hand.link("New contest")
            hand.link("Prediction contest from a CSV table")
            page.set_input_files("[name=table]", file)
            hand.clicks += 1
            expect(page.locator("#preview p")).to_have_text("20 training rows, 10 public rows, 10 private rows")
            expect(page.locator("#preview tbody tr")).to_have_count(5)
            expect(page.locator("[name=target]")).to_have_value("kind")
            expect(page.locator("[name=name]")).to_have_value("forest trees")
            page.fill("[name=train]", "25")
            expect(page.locator("#preview p")).to_have_text("10 training rows, 15 public rows, 15 private rows")
            faults = [*one.violations(), *one.overflows()]
            hand.press("Create contest")
            expect(page.locator(".note.good")).to_have_text("The contest is created. Add teams, then start it.")
            hand.link("Continue setup")
            hand.press("Create teams")
            expect(page.locator(".ticket")).to_have_count(20)
            one.open("/admin/contests/forest-trees")
            hand.clicks += 1  # by the tabs
            hand.press("Start in one minute")
            expect(page.locator(".note.good")).to_contain_text("The contest starts in one minute")
            assert hand.clicks <= MOST_CLICKS
            faults += one.faults
        api.post("contests/forest-trees/teams", user="admin", json={"team_ids": ["team"]}).raise_for_status()
        change_contest(api.service, "forest-trees", start_time=datetime.now(UTC) - HOUR)
        with reader(browser, f"http://{place}", "team") as one:
            page, hand = one.page, Hand(one)
            one.open("/c/forest-trees/problems/A")
            with page.expect_download() as sample:
                page.get_by_role("link", name="sample_submission.csv").click()
            data = sample.value.path().read_bytes()
            answer = {"name": "sample_submission.csv", "mimeType": "text/csv", "buffer": data}
            page.set_input_files("#files", answer)
            hand.press("Submit 1 file to A")
            expect(page.locator(".pre-said")).to_contain_text("Stored as 1")
            judge(api.service)
            one.open("/c/forest-trees/scoreboard")
            expect(page.locator("h1")).to_contain_text("Provisional")
            faults += [*one.violations(), *one.overflows()]
            change_contest(api.service, "forest-trees", start_time=datetime.now(UTC) - 24 * 8 * HOUR)
            one.open("/c/forest-trees/scoreboard")
            expect(page.locator("h1")).to_have_text("Final standings")
            faults += [*one.violations(), *one.faults]
    assert faults == []
