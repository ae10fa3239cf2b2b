"""The overview of a contest for organizers: its next step in every phase, its checklist, and times in their zone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from app.contests.pages.home import Mark, Next, next_step
from app.core.pages import forms
from tests.app.contests.test_contest_pages import text_of
from tests.builders.contests import FINAL, HOUR, add_contest, add_problem, change_contest
from tests.builders.packages import PROBLEM as PROBLEM_YAML
from tests.builders.service import Api, open_api

ORIGIN = {"Origin": "http://jurado.test"}
HOME = "/admin/contests/c"
BRATISLAVA = {"Cookie": "jurado_zone=Europe/Bratislava"}


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A server with a problem and without any contest."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        yield api


def send(api: Api, path: str, user: str = "admin", **fields: str) -> httpx.Response:
    return api.post(path, user=user, data=fields, headers=ORIGIN)


def lead(api: Api, user: str = "admin") -> tuple[str, list[str]]:
    """The heading of the next step, and its buttons in order; the main one in brackets."""
    shown = api.get(HOME, user=user).text.split('<section class="card lead"', 1)[1].split("</section>")[0]
    heading = re.search(r"<h2[^>]*>(.*?)</h2>", shown, re.DOTALL)
    assert heading is not None
    buttons = re.findall(r'class="btn( main)? ?"[^>]*>([^<]*)<', shown)
    return heading[1].strip(), [f"[{text.strip()}]" if main else text.strip() for main, text in buttons]


@pytest.mark.parametrize(
    ("state", "marks", "is_frozen", "step"),
    [
        ("scheduled", [Mark.DONE, Mark.LOOK, Mark.OPEN], False, Next.SET_UP),
        ("scheduled", [Mark.DONE, Mark.LOOK], False, Next.CHECK),
        ("scheduled", [Mark.DONE], False, Next.START),
        ("running", [Mark.OPEN], False, Next.WATCH),
        ("frozen", [Mark.DONE], True, Next.WATCH),
        ("paused", [Mark.DONE], False, Next.RESUME),
        ("ended", [Mark.DONE], True, Next.CEREMONY),
        ("ended", [Mark.DONE], False, Next.FINALIZE),
        ("final", [Mark.OPEN], False, Next.SHARE),
    ],
)
def test_every_phase_has_one_next_step(state: str, marks: Sequence[Mark], is_frozen: bool, step: Next) -> None:
    assert next_step(state, marks, is_frozen=is_frozen) is step


def test_a_start_before_the_scheduled_one_is_confirmed(api: Api) -> None:
    add_contest(api.service, started=-HOUR)
    asked = send(api, f"{HOME}/start")
    assert (asked.status_code, "Start the contest in one minute?" in asked.text) == (200, True)
    assert "It is scheduled for" in asked.text
    assert send(api, f"{HOME}/start", sure="yes").status_code == 303


def test_the_overview_leads_from_the_start_to_final_results(api: Api) -> None:
    add_contest(api.service, started=-HOUR, freeze=HOUR, problem_id=None)
    assert lead(api) == ("Finish the setup", ["Start in one minute", "[Continue setup]"])
    assert lead(api, "judge") == ("Finish the setup", [])
    send(api, f"{HOME}/problems", **{"p.echo": "on"})
    assert lead(api) == ("Ready to start", ["[Start in one minute]"])
    change_contest(api.service, start_time=datetime.now(UTC) - HOUR)
    running = ["Add 10 minutes", "Pause", "Freeze scoreboard", "[Watch submissions]"]
    assert lead(api) == ("The contest is running", running)
    assert lead(api, "judge") == ("The contest is running", ["[Watch submissions]"])
    assert send(api, f"{HOME}/pause").status_code == 303
    assert lead(api) == ("The contest is paused", ["[Resume]"])
    send(api, f"{HOME}/resume")
    assert send(api, f"{HOME}/extend").headers["Location"] == f"{HOME}?done=extended"
    assert api.get("contests/c").json()["duration"] == "5:10:00.000"
    asked = send(api, f"{HOME}/freeze")
    assert "Freeze the scoreboard now?" in asked.text
    assert send(api, f"{HOME}/freeze", sure="yes").status_code == 303
    assert api.get("contests/c/state").json()["frozen"] is not None
    assert lead(api)[1] == ["Add 10 minutes", "Pause", "[Watch submissions]"]
    for user in ("judge", "team"):
        assert send(api, f"{HOME}/extend", user).status_code == 403
        assert send(api, f"{HOME}/freeze", user).status_code == 403
    change_contest(api.service, start_time=datetime.now(UTC) - 6 * HOUR)
    assert lead(api) == ("Reveal the results", ["[Open ceremony]"])
    change_contest(api.service, thaw_time=datetime.now(UTC) - HOUR / 2)
    assert lead(api) == ("Finalize the results", ["Awards", "[Finalize results]"])
    send(api, f"{HOME}/finalize", sure="yes")
    assert lead(api) == ("The results are final", ["Export contest", "[Final scoreboard]"])


def points(api: Api, mark: str, user: str = "admin") -> list[tuple[str, str]]:
    """The points of the checklist with this mark: the page that fixes each, and its sentence."""
    shown = api.get(HOME, user=user).text
    found = re.findall(rf'<li class="{mark}">(.*?)</li>', shown, re.DOTALL)
    links = [re.search(r'<a href="([^"]*)">', each) for each in found]
    return [("" if link is None else link[1], text_of(each)) for link, each in zip(links, found, strict=True)]


def test_the_checklist_finds_common_mistakes_and_links_to_what_fixes_them(api: Api) -> None:
    slovak = {
        "statement/problem.sk.md": "# Ozvena\n",
        "problem.yaml": PROBLEM_YAML.replace("es: Eco", "es: Eco, sk: Ozvena"),
    }
    add_problem(api.service, FINAL, slug="finals")
    add_problem(api.service, slovak, slug="slovak")
    add_contest(api.service, started=-HOUR, rule={"kind": "relative", "reference_counts": True})
    for problem_id in ("finals", "slovak"):
        assert api.post("contests/c/problems", user="admin", json={"id": problem_id}).is_success
    echo, finals = "/admin/problems/echo", "/admin/problems/finals"
    look = points(api, "look")
    assert (echo, "Check A: cases without a reference score: 01, 02, 03.") in look
    assert (echo, "Check A: no statement in Slovenčina.") in look
    assert (finals, "Check B: no statement in Slovenčina.") in look
    assert (f"{HOME}/rules", "Check B: its final cases never count. Set when teams get their inputs.") in look
    assert any("Teams without an account" in text for _page, text in look) is False
    assert api.patch("contests/c", user="admin", json={"settings": {"final_minutes": 30}}).is_success
    assert "never count" not in api.get(HOME, user="admin").text


def test_times_of_forms_are_in_the_zone_that_the_form_names(api: Api) -> None:
    add_contest(api.service, started=-HOUR)
    change_contest(api.service, start_time=datetime(2026, 12, 1, 12, tzinfo=UTC))
    page = api.get(f"{HOME}/times", user="admin", headers=BRATISLAVA).text
    assert 'value="2026-12-01T13:00"' in page
    assert "Start Europe/Bratislava" in text_of(page)
    in_zone = {"name": "C", "start": "2026-12-01T14:30", "time_zone": "Europe/Bratislava"}
    assert send(api, f"{HOME}/times", **in_zone).status_code == 303
    assert api.get("contests/c").json()["start_time"] == "2026-12-01T13:30:00.000Z"
    assert send(api, f"{HOME}/times", name="C", start="2026-12-01T12:00").status_code == 303
    assert api.get("contests/c").json()["start_time"] == "2026-12-01T12:00:00.000Z", "a form without a zone is in UTC"
    send(api, f"{HOME}/teams/registration", most="5", until="2026-07-01T12:00", time_zone="Europe/Bratislava")
    assert api.get("contests/c/registration", user="admin").json()["until"] == "2026-07-01T10:00:00.000Z"
    in_zone = {"final_release": "2026-12-01T14:00", "final_phase": "all", "time_zone": "Europe/Bratislava"}
    send(api, f"{HOME}/finals", **in_zone)
    assert api.get("contests/c").json()["settings"]["final_release"] == "2026-12-01T13:00:00.000Z"
    assert 'value="2026-12-01T14:00"' in api.get(f"{HOME}/rules", user="admin", headers=BRATISLAVA).text


@pytest.mark.parametrize("text", ["tomorrow", "2026-02-30T10:00", "0001-01-01T00:00"])
def test_a_text_that_is_no_moment_is_refused(api: Api, text: str) -> None:
    add_contest(api.service, started=-HOUR)
    for zone in ("Europe/Bratislava", "Nowhere/Else", "../etc"):
        refused = send(api, f"{HOME}/times", name="C", start=text, time_zone=zone)
        assert refused.status_code == 400, refused.text[-2000:]


def test_a_moment_goes_to_a_form_and_back() -> None:
    shown = forms.moment_shown("2026-07-01T10:00:05.000Z", "Europe/Bratislava")
    assert shown == "2026-07-01T12:00:05"
    assert forms.moment({"a": shown, forms.ZONE: "Europe/Bratislava"}, "a") == "2026-07-01T10:00:05.000Z"
    assert forms.moment_shown(None, "") == ""
    assert forms.moment({"a": " "}, "a") is None
