"""Teams begin their clock, ask for final inputs, choose a submission and see their limits on pages, without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from app.domain.counting import CaseVerdict, RawScore
from app.tables import ParticipationRow
from tests.builders.browser import chromium_running, reader
from tests.builders.contests import FINAL, HOUR, add_contest, add_problem, add_submission
from tests.builders.service import Api, open_api
from tests.builders.sockets import listening
from tests.builders.verdicts import judge
from tests.conftest import migrated_sqlite

pytestmark = pytest.mark.browser
RIGHT = RawScore(CaseVerdict.ACCEPTED, 1, 1)
LIMITS = {"max_submissions": 20, "interval_seconds": 7000}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """Contests with personal clocks, choices and limits, final inputs, and virtual participation."""
    folder = tmp_path_factory.mktemp("taking-part")
    with open_api(migrated_sqlite(folder / "jurado.sqlite"), folder / "home") as api:
        add_problem(api.service)
        add_problem(api.service, FINAL, "finals")
        add_contest(api.service, "personal", settings={"personal_duration": "0:30:00"})
        add_contest(api.service, "choose", settings={"choose": True, "limits": LIMITS}, rule={"counting": "last"})
        add_contest(api.service, "finals", problem_id="finals", settings={"final_minutes": 20})
        add_contest(api.service, "virtual", started=9 * HOUR, settings={"virtual": True})
        for minute in (1, 59):
            add_submission(api.service, {"02": RIGHT, "03": RIGHT}, contest_id="choose", minute=minute)
        yield api


@pytest.fixture(scope="module")
def url(api: Api) -> Iterator[str]:
    """The address of the service for a browser."""
    with listening(api) as place:
        yield f"http://{place}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for all tests."""
    with chromium_running() as browser:
        yield browser


def test_a_team_begins_its_personal_clock(browser: Browser, url: str, api: Api) -> None:
    with reader(browser, url, "team", java_script_enabled=False) as one:
        one.open("/c/personal/problems")
        expect(one.page.get_by_text("The problems appear here once you start.")).to_be_visible()
        one.open("/c/personal")
        one.page.get_by_role("button", name="Start your contest").click()
        assert api.get("contests/personal/participation", user="team").json()["kind"] == "official", "not yet confirmed"
        one.page.get_by_role("button", name="Start", exact=True).click()
        one.page.wait_for_url("**/c/personal")
        expect(one.page.get_by_role("link", name="Echo")).to_be_visible()
        expect(one.page.get_by_role("button", name="Start your contest")).to_have_count(0)
    own = api.get("contests/personal/participation", user="team").json()
    assert (own["kind"], own["running"]) == ("personal", True)


def test_a_team_begins_virtual_participation(browser: Browser, url: str, api: Api) -> None:
    with reader(browser, url, "team", java_script_enabled=False) as one:
        one.open("/c/virtual/problems/echo")
        one.page.get_by_role("button", name="Start virtual participation").click()
        one.page.get_by_role("button", name="Start", exact=True).click()
        one.page.wait_for_url("**/c/virtual")
    assert api.get("contests/virtual/participation", user="team").json()["kind"] == "virtual"


def test_a_team_asks_for_final_inputs_and_sees_the_deadline(browser: Browser, url: str, api: Api) -> None:
    with reader(browser, url, "team", java_script_enabled=False) as one:
        one.open("/c/finals/problems/finals")
        expect(one.page.get_by_text("The final inputs have their own time limit.")).to_be_visible()
        one.page.get_by_role("button", name="Get the final inputs: you then have 20 minutes").click()
        one.page.get_by_role("button", name="Get the final inputs").click()
        one.page.wait_for_url("**/c/finals/problems/finals")
        expect(one.page.get_by_text("Answers to the final inputs are accepted until")).to_be_visible()
        link = one.page.get_by_role("link", name="Final inputs").get_attribute("href")
    state = api.get("contests/finals/problems/finals/inputs", user="team").json()
    assert state["open"] is True
    assert link == f"/api/{state['href']}"


def test_a_team_chooses_the_submission_that_counts_and_undoes_it(browser: Browser, url: str, api: Api) -> None:
    place = "contests/choose/problems/echo/chosen"
    first = api.get("contests/choose/submissions", user="team").json()[0]["id"]
    with reader(browser, url, "team") as one:
        one.open("/c/choose/answers")
        one.page.get_by_role("button", name=f"Count submission {first}").click()
        row = one.page.locator("tbody tr", has_text="Chosen")
        expect(row.locator("th")).to_have_text(first)
        assert api.get(place, user="team").json()["submission_id"] == first
        assert (one.violations_in_each_theme([1280]), one.overflows()) == ([], [])
        row.get_by_role("button").click()
        expect(one.page.locator("tbody tr", has_text="Chosen")).to_have_count(0)
    assert api.get(place, user="team").json()["submission_id"] is None


def test_limits_are_shown_before_a_submission_is_refused(browser: Browser, url: str) -> None:
    with reader(browser, url, "team", java_script_enabled=False) as one:
        one.open("/c/choose")
        expect(one.page.get_by_text("At most 20 submissions to a problem.")).to_be_visible()
        one.open("/c/choose/problems/echo")
        panel = one.page.get_by_text(re.compile(r"^18 of 20 submissions left, next in 1\d\d minutes\.$"))
        expect(panel).to_be_visible()
        expect(one.page.get_by_text("At most 20 submissions to a problem.")).to_be_visible()


def test_the_time_until_the_next_submission_counts_down(browser: Browser, url: str, api: Api) -> None:
    """At its end the line is loaded again: the team may submit."""
    add_contest(api.service, "soon", settings={"limits": {"max_submissions": 20, "interval_seconds": 5}})
    with reader(browser, url, "team") as one:
        one.open("/c/soon/problems/echo")
        line = one.page.locator("#quota")
        expect(line).to_have_text("20 of 20 submissions left.")
        one.page.set_input_files("#files", {"name": "02.out", "mimeType": "text/plain", "buffer": b"2\n"})
        one.page.get_by_role("button", name="Submit 1 file to A").click()
        expect(line).to_have_text(re.compile(r"^19 of 20 submissions left, next in [45] s\.$"))
        expect(line).to_have_text(re.compile(r"^19 of 20 submissions left, next in [12] s\.$"))
        expect(line).to_have_text("19 of 20 submissions left.")
        assert one.faults == []


def test_a_personal_clock_from_its_start_to_its_end(browser: Browser, url: str, api: Api) -> None:
    """A story in four clicks: start, confirm, submit, read the report; after the end nothing is accepted."""
    add_contest(api.service, "story", settings={"personal_duration": "0:30:00", "limits": {"max_submissions": 3}})
    clicks = 0
    with reader(browser, url, "team") as one:

        def click(role: Any, name: str) -> None:
            nonlocal clicks
            one.page.get_by_role(role, name=name, exact=True).click()
            clicks += 1

        one.open("/c/story")
        expect(one.page.get_by_text("You then have 30 minutes.")).to_be_visible()
        click("button", "Start your contest")
        expect(one.page.get_by_text("It cannot be paused or restarted. You then have 30 minutes.")).to_be_visible()
        click("button", "Start")
        click("link", "Echo")
        expect(one.page.locator("#quota")).to_have_text("3 of 3 submissions left.")
        one.page.set_input_files("#files", {"name": "02.out", "mimeType": "text/plain", "buffer": b"2\n"})
        one.page.get_by_label("Comment (optional)").fill("first try")
        click("button", "Submit 1 file to A")
        expect(one.page.locator("#quota")).to_have_text("2 of 3 submissions left.")
        number = int(api.get("contests/story/submissions", user="team").json()[0]["id"])
        judge(api.service, number, {"02": RIGHT}, "story")
        expect(one.page.locator(".pre-result")).to_contain_text("This submission counts with 50.0 points")
        click("link", "Full report")
        expect(one.page.get_by_text("Comment: first try")).to_be_visible()
        assert clicks == 5
        with api.service.database.write() as session:
            own = session.get_one(ParticipationRow, ("story", "team"))
            own.start_time -= timedelta(minutes=31)
        api.service.boards.all_changed()
        one.open("/c/story/problems/echo")
        one.page.set_input_files("#files", {"name": "02.out", "mimeType": "text/plain", "buffer": b"2\n"})
        one.page.get_by_role("button", name="Submit 1 file to A").click()
        expect(one.page.locator(".pre-said")).to_contain_text("Not stored")
        one.open("/c/story/answers?verdict=PC")
        expect(one.page.locator("tbody tr")).to_have_count(1)
        assert (one.violations_in_each_theme([1280]), one.overflows()) == ([], [])


def test_nobody_but_a_team_is_offered_a_clock(api: Api) -> None:
    for user in (None, "judge"):
        assert "Start your contest" not in api.get("/c/personal", user=user).text
    refused = api.post("/c/personal/participation", user="judge", data={"kind": "personal", "sure": "yes"})
    assert refused.status_code == 403
