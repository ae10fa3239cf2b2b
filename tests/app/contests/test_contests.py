"""Contests are made, changed and deleted by admins, and read by everyone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.core.clics import format_time
from tests.builders.contests import add_contest, add_problem, change_contest
from tests.builders.examples import sqlite_first
from tests.builders.service import Api

HOUR = timedelta(hours=1)


def at(offset: timedelta) -> str:
    """A time so far from now."""
    return format_time(datetime.now(UTC) + offset)


def make(api: Api, **properties: Any) -> Any:
    """Make a contest as admin: five hours from an hour ago, unless told otherwise."""
    body = {"name": "Autumn", "start_time": at(-HOUR), "duration": "5:00:00", "already_over": True}
    return api.post("contests", user="admin", json=body | properties)


@sqlite_first
def test_a_contest_that_was_made_is_found_at_its_location(api: Api) -> None:
    made = make(api, id="autumn-1", scoreboard_freeze_duration="1:00:00", formal_name="The Autumn Cup")
    assert made.status_code == 201, made.text
    assert made.headers["Location"] == "/api/contests/autumn-1"
    found = api.get("contests/autumn-1")
    assert found.json() == made.json()
    assert found.json()["duration"] == "5:00:00.000"
    assert found.json()["scoreboard_freeze_duration"] == "1:00:00.000"
    assert found.json()["scoreboard_type"] == "score"
    assert [each["id"] for each in api.get("contests").json()] == ["autumn-1"]


@sqlite_first
def test_a_contest_without_an_id_gets_one_from_its_name(api: Api) -> None:
    names = ["Otoño 2026!", "Otoño 2026?", "¡¡!!"]
    assert [make(api, name=name).json()["id"] for name in names] == ["oto-o-2026", "oto-o-2026-2", "contest"]


@sqlite_first
def test_a_contest_that_would_be_over_is_made_only_if_the_request_says_so(api: Api) -> None:
    """A year that was mistyped is refused; a contest that has begun runs."""
    refused = make(api, id="c", start_time="2020-01-01T10:00:00Z", already_over=False)
    assert refused.status_code == 400, refused.text
    assert refused.json()["message"].startswith("start_time: expected a contest that is not over, or already_over")
    assert api.get("contests").json() == []
    made = make(api, id="c", start_time="2020-01-01T10:00:00Z")
    assert (made.status_code, api.get("contests/c/state").json()["ended"]) == (201, "2020-01-01T15:00:00.000Z")
    assert make(api, id="d", already_over=False).status_code == 201


@sqlite_first
def test_an_id_is_given_once(api: Api) -> None:
    assert make(api, id="c").status_code == 201
    assert make(api, id="c").status_code == 409


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"id": "no spaces"}, "body.id: expected"),
        ({"id": ".hidden"}, "body.id: expected"),
        ({"id": "x" * 37}, "body.id: expected"),
        ({"name": ""}, "body.name: expected"),
        ({"name": "two\nlines"}, "body.name: expected"),
        ({"start_time": "2026-11-21 10:00"}, "body.start_time: expected a time with its zone such as"),
        ({"start_time": "2026-02-30T00:00:00Z"}, "body.start_time: expected a time that exists"),
        ({"start_time": 7}, "body.start_time: expected"),
        ({"start_time": "9999-12-31T23:59:59-12"}, "body.start_time: expected a time"),
        ({"duration": "5h"}, "body.duration: expected a duration h:mm:ss"),
        ({"duration": "0:00:00"}, "body.duration: expected"),
        ({"duration": "-1:00:00"}, "body.duration: expected"),
        ({"duration": 3600}, "body.duration: expected a duration as text"),
        ({"duration": None}, "body.duration: expected"),
        ({"duration": "9999999:00:00"}, "body.duration: expected at most 876600:00:00.000, a hundred years"),
        ({"scoreboard_freeze_duration": "5:00:00.001"}, "at most the duration 5:00:00.000, found 5:00:00.001"),
        ({"scoreboard_thaw_time": "2026-11-21T10:00:00Z"}, "null in a contest that does not freeze"),
        ({"scoreboard_type": "pass-fail"}, "body.scoreboard_type: expected 'score', found 'pass-fail'"),
        ({"penalty_time": "0:20:00"}, "body.penalty_time: expected no such property"),
        ({"countdown_pause_time": "0:10:00"}, "countdown_pause_time: expected null where there is a start_time"),
        ({"start_time": None, "countdown_pause_time": "-0:10:00"}, "body.countdown_pause_time: expected"),
        ({"settings": {"final_release": "soon"}}, "body.settings.final_release: expected"),
        ({"settings": {"final_release": "2100-01-01T00:00:00Z"}}, "settings.final_release: expected a time before the"),
        ({"settings": {"final_minutes": 0}}, "body.settings.final_minutes: expected"),
        (
            {"settings": {"final_minutes": 5, "final_release": "2026-01-01T00:00:00Z"}},
            "cannot be combined with final_release",
        ),
        ({"settings": {"final_phase": "last"}}, "body.settings.final_phase: expected"),
        ({"settings": {"personal_duration": "5:00:01"}}, "settings.personal_duration: expected at most the duration"),
        ({"settings": {"personal_duration": "0:00:00"}}, "body.settings.personal_duration: expected"),
        (
            {"settings": {"personal_duration": "1:00:00"}, "scoreboard_freeze_duration": "1:00:00"},
            "settings.personal_duration: expected null in a contest that freezes",
        ),
        ({"settings": {"limits": {"max_submissions": -1}}}, "body.settings.limits.max_submissions: expected"),
        ({"settings": {"limits": {"per_window": {"count": 2}}}}, "body.settings.limits.per_window.seconds: expected"),
        ({"settings": {"show_bets": True}}, "body.settings.show_bets: expected no such property"),
        ({"settings": {"answer_pattern": "{case}{case}"}}, "with {case} in it at most once, found '{case}{case}'"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_made(quick_api: Api, wrong: dict[str, Any], message: str) -> None:
    refused = make(quick_api, **wrong)
    assert refused.status_code == 400, refused.text
    assert refused.json()["code"] == 400
    assert message in refused.json()["message"]
    assert quick_api.get("contests").json() == []


@sqlite_first
def test_the_state_follows_the_clock(api: Api) -> None:
    make(api, id="before", start_time=at(HOUR))
    make(api, id="unset", start_time=None)
    make(api, id="running")
    make(api, id="frozen", scoreboard_freeze_duration="4:30:00")
    make(api, id="ended", duration="0:30:00")
    happened = {
        contest_id: [name for name, moment in api.get(f"contests/{contest_id}/state").json().items() if moment]
        for contest_id in ("before", "unset", "running", "frozen", "ended")
    }
    assert happened == {
        "before": [],
        "unset": [],
        "running": ["started"],
        "frozen": ["started", "frozen"],
        "ended": ["started", "ended"],
    }


@sqlite_first
def test_a_start_may_change_until_it_is_near(api: Api) -> None:
    make(api, id="c", start_time=at(HOUR))
    later = at(2 * HOUR)
    assert api.patch("contests/c", user="admin", json={"id": "c", "start_time": later}).json()["start_time"] == later
    assert api.patch("contests/c", user="admin", json={"id": "c", "start_time": None}).json()["start_time"] is None
    soon = at(timedelta(seconds=20))
    assert api.patch("contests/c", user="admin", json={"id": "c", "start_time": soon}).status_code == 403
    make(api, id="running")
    assert api.patch("contests/running", user="admin", json={"id": "running", "start_time": later}).status_code == 403


@sqlite_first
def test_an_id_in_a_change_must_be_that_of_the_address(api: Api) -> None:
    make(api, id="c")
    assert api.patch("contests/c", user="admin", json={"id": "d", "name": "D"}).status_code == 409
    assert api.patch("contests/none", user="admin", json={"name": "D"}).status_code == 404


@sqlite_first
def test_a_contest_is_thawed_after_its_end(api: Api) -> None:
    make(api, id="c", duration="0:30:00", scoreboard_freeze_duration="0:10:00")
    early = api.patch("contests/c", user="admin", json={"id": "c", "scoreboard_thaw_time": at(-HOUR)})
    assert early.status_code == 403
    later = api.patch("contests/c", user="admin", json={"id": "c", "scoreboard_thaw_time": at(HOUR)})
    assert (later.status_code, later.content) == (204, b"")
    assert api.get("contests/c/state").json()["thawed"] is None
    past = api.patch("contests/c", user="admin", json={"id": "c", "scoreboard_thaw_time": at(-timedelta(minutes=1))})
    assert past.status_code == 200, "thawed now, not in the past"
    assert api.get("contests/c/state").json()["thawed"] == past.json()["scoreboard_thaw_time"]
    assert api.patch("contests/c", user="admin", json={"id": "c", "scoreboard_thaw_time": at(HOUR)}).status_code == 403


@sqlite_first
def test_results_are_final_only_after_the_end_and_the_thaw(api: Api) -> None:
    make(api, id="running")
    assert api.patch("contests/running", user="admin", json={"finalized": True}).status_code == 409
    make(api, id="c", duration="0:30:00", scoreboard_freeze_duration="0:10:00")
    assert api.patch("contests/c", user="admin", json={"finalized": True}).status_code == 409
    api.patch("contests/c", user="admin", json={"id": "c", "scoreboard_thaw_time": at(timedelta(0))})
    assert api.patch("contests/c", user="admin", json={"finalized": True}).status_code == 200
    state = api.get("contests/c/state").json()
    assert state["finalized"] == state["end_of_updates"] is not None
    assert api.patch("contests/c", user="admin", json={"name": "Another"}).status_code == 403
    assert api.patch("contests/c", user="admin", json={"finalized": False}).status_code == 200
    assert api.patch("contests/c", user="admin", json={"name": "Another"}).json()["name"] == "Another"


@sqlite_first
def test_settings_change_one_by_one(api: Api) -> None:
    make(api, id="c", settings={"partly_correct_as": "AC"})
    changed = api.patch("contests/c", user="admin", json={"settings": {"show_best": False}}).json()["settings"]
    assert (changed["partly_correct_as"], changed["show_best"]) == ("AC", False)
    assert api.patch("contests/c", user="admin", json={"settings": {"show_best": "maybe"}}).status_code == 400
    assert api.patch("contests/c", user="admin", json={"settings": {"colour": 1}}).status_code == 400
    assert api.patch("contests/c", user="admin", json={"duration": None}).status_code == 400
    assert api.patch("contests/c", user="admin", json={"duration": "9999999:00:00"}).status_code == 400


@sqlite_first
def test_a_contest_is_deleted_once(api: Api) -> None:
    make(api, id="c")
    deleted = api.delete("contests/c", user="admin")
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert api.delete("contests/c", user="admin").status_code == 404


@sqlite_first
def test_a_contest_that_shows_partly_correct_as_accepted_has_no_such_type(api: Api) -> None:
    make(api, id="ours")
    make(api, id="strict", settings={"partly_correct_as": "AC"})
    ids = {c: {each["id"] for each in api.get(f"contests/{c}/judgement-types").json()} for c in ("ours", "strict")}
    assert ids["ours"] - ids["strict"] == {"PC"}
    assert api.get("contests/strict/judgement-types/PC").status_code == 404
    assert api.get("contests/ours/judgement-types/PC").json()["solved"] is False


def test_before_the_start_every_name_of_a_problem_gets_the_time_of_the_start(quick_api: Api) -> None:
    """Also names of no problem, so that none is guessed; judges are told of what there is."""
    add_problem(quick_api.service)
    add_contest(quick_api.service, started=-0.9 * HOUR)
    files = [("files", ("02.out", b"2\n"))]
    for name in ("echo", "none"):
        sent = quick_api.post("contests/c/submissions", user="team", data={"problem_id": name}, files=files)
        asked = [quick_api.get(f"contests/c/problems/{name}{part}", user="team") for part in ("", "/testcases")]
        for reply in (sent, *asked):
            assert reply.status_code == 404
            assert reply.json()["message"].startswith("the contest has not begun: it starts in 0:5"), reply.text
    assert quick_api.get("contests/c/problems/echo", user="judge").status_code == 200
    assert "no problem 'none'" in quick_api.get("contests/c/problems/none", user="judge").json()["message"]
    change_contest(quick_api.service, start_time=None)
    refused = quick_api.get("contests/c/problems/echo", user="team").json()["message"]
    assert refused == "the contest has not begun: no start is set yet"


def test_before_a_teams_own_clock_no_name_of_a_problem_can_be_guessed(quick_api: Api) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service, settings={"personal_duration": "1:00:00.000"})
    files = [("files", ("02.out", b"2\n"))]
    texts = set()
    for name in ("echo", "none"):
        sent = quick_api.post("contests/c/submissions", user="team", data={"problem_id": name}, files=files)
        asked = quick_api.get(f"contests/c/problems/{name}", user="team")
        texts |= {(sent.status_code, sent.json()["message"]), (asked.status_code, asked.json()["message"])}
    assert len(texts) == 1, texts
    assert "own clock has not begun" in texts.pop()[1]
