"""The clock of a contest over HTTP: countdown, pause, times that contradict each other, contests that overlap."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.core.clics import format_time, parse_time
from app.tables import ContestRow
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, pass_time
from tests.builders.examples import sqlite_first
from tests.builders.scoring import raw, share
from tests.builders.service import Api


def at(offset: timedelta) -> str:
    """A time so far from now."""
    return format_time(datetime.now(UTC) + offset)


def make(api: Api, contest_id: str, **properties: Any) -> Any:
    """Make a contest of five hours that begins in an hour, unless told otherwise."""
    body = {"id": contest_id, "name": contest_id, "start_time": at(HOUR), "duration": "5:00:00", "already_over": True}
    made = api.post("contests", user="admin", json=body | properties)
    assert made.status_code == 201, made.text
    return made.json()


def change(api: Api, contest_id: str, **properties: Any) -> Any:
    """PATCH a contest as admin."""
    return api.patch(f"contests/{contest_id}", user="admin", json=properties)


def submit(api: Api, user: str = "team") -> int:
    """Submit an answer for case 02; returns the status."""
    files = [("files", ("02.out", b"2\n"))]
    return api.post("contests/c/submissions", user=user, data={"problem_id": "echo"}, files=files).status_code


@sqlite_first
def test_a_countdown_stands_still_and_goes_on(api: Api) -> None:
    make(api, "c")
    halted = change(api, "c", id="c", start_time=None, countdown_pause_time="0:03:38.749").json()
    assert (halted["start_time"], halted["countdown_pause_time"]) == (None, "0:03:38.749")
    assert change(api, "c", id="c", countdown_pause_time="0:10:00").json()["countdown_pause_time"] == "0:10:00.000"
    start = at(HOUR)
    going = change(api, "c", id="c", start_time=start).json()
    assert (going["start_time"], going["countdown_pause_time"]) == (start, None)
    made = make(api, "halted", start_time=None, countdown_pause_time="1:00:00")
    assert (made["start_time"], made["countdown_pause_time"]) == (None, "1:00:00.000")


SOON = timedelta(seconds=20)


@pytest.mark.parametrize(
    ("begins", "body", "status"),
    [
        (HOUR, {"start_time": 2 * HOUR}, 400),
        (HOUR, {"start_time": None}, 400),
        (HOUR, {"countdown_pause_time": "0:01:00"}, 400),
        (HOUR, {"scoreboard_thaw_time": 9 * HOUR}, 400),
        (HOUR, {"id": "d", "start_time": 2 * HOUR}, 409),
        (HOUR, {"id": "c", "start_time": SOON}, 403),
        (HOUR, {"id": "c", "start_time": -HOUR}, 403),
        (HOUR, {"id": "c", "start_time": 2 * HOUR, "countdown_pause_time": "0:01:00"}, 400),
        (HOUR, {"id": "c", "countdown_pause_time": "0:01:00"}, 400),
        (HOUR, {"id": "c", "start_time": None, "countdown_pause_time": "-0:01:00"}, 400),
        (HOUR, {"id": "c", "start_time": "tomorrow"}, 400),
        (HOUR, {"id": "c", "start_time": 2 * HOUR, "penalty": 1}, 400),
        (SOON, {"id": "c", "start_time": 2 * HOUR}, 403),
        (SOON, {"id": "c", "start_time": None}, 403),
        (-HOUR, {"id": "c", "start_time": 2 * HOUR}, 403),
        (-HOUR, {"id": "c", "start_time": None, "countdown_pause_time": "0:01:00"}, 403),
        (-HOUR, {"duration": "0:59:00"}, 403),
        (-HOUR, {"duration": "0:00:00"}, 400),
        (-9 * HOUR, {"duration": "10:00:00"}, 403),
        (-HOUR, {"scoreboard_freeze_duration": "5:00:01"}, 400),
        (-HOUR, {"settings": {"final_release": 4 * HOUR + SOON}}, 400),
        (-HOUR, {"settings": {"final_minutes": 5, "personal_duration": "9:00:00"}}, 400),
    ],
)
def test_wrong_times_are_refused_and_change_nothing(
    quick_api: Api, begins: timedelta, body: dict[str, Any], status: int
) -> None:
    make(quick_api, "c", start_time=at(begins))
    before = quick_api.get("contests/c").json(), quick_api.get("contests/c/state").json()
    refused = change(quick_api, "c", **in_time(body))
    assert (refused.status_code, refused.json()["code"]) == (status, status), refused.text
    assert (quick_api.get("contests/c").json(), quick_api.get("contests/c/state").json()) == before


def in_time(value: Any) -> Any:
    """A body in which differences from now have become times."""
    if isinstance(value, dict):
        return {key: in_time(each) for key, each in value.items()}
    return at(value) if isinstance(value, timedelta) else value


@sqlite_first
def test_a_paused_contest_takes_no_submissions_and_ends_later(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, freeze=HOUR, thaw=datetime.now(UTC) + 5 * HOUR)
    assert submit(api) == 201
    assert api.post("contests/c/resume", user="admin").status_code == 409
    assert api.post("contests/c/pause", user="admin").status_code == 200
    assert submit(api) == 403
    assert submit(api, "team") == 403
    assert api.post("contests/c/pause", user="admin").status_code == 409
    interval = api.get("contests/c/state").json()["removed_intervals"][0]
    assert interval["end"] is None
    assert interval["contest_time"].startswith("1:0")
    thaw = api.get("contests/c").json()["scoreboard_thaw_time"]
    assert api.post("contests/c/resume", user="admin").status_code == 200
    interval = api.get("contests/c/state").json()["removed_intervals"][0]
    taken = parse_time(interval["end"]) - parse_time(interval["start"])
    assert taken > timedelta(0)
    later = parse_time(api.get("contests/c").json()["scoreboard_thaw_time"]) - parse_time(thaw)
    assert abs(later - taken) <= timedelta(milliseconds=2)
    assert submit(api) == 201


@sqlite_first
def test_time_taken_out_is_no_contest_time(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, started=HOUR, freeze=HOUR)
    api.post("contests/c/pause", user="admin")
    pass_two_hours_of_pause(api)
    api.post("contests/c/resume", user="admin")
    assert submit(api) == 201
    made = api.get("contests/c/submissions", user="team").json()[-1]
    assert made["contest_time"].startswith("1:0"), made
    pass_time(api.service, 3.5 * HOUR)
    state = api.get("contests/c/state").json()
    assert state["frozen"] is not None
    assert state["ended"] is None, "it began six hours and a half ago, and two of these were taken out"
    pass_time(api.service, HOUR)
    assert api.get("contests/c/state").json()["ended"] is not None


def pass_two_hours_of_pause(api: Api) -> None:
    """As if the contest had begun, and been paused, two hours earlier."""
    with api.service.database.write() as session:
        row = session.get_one(ContestRow, "c")
        assert row.start_time is not None
        row.start_time -= 2 * HOUR
        begun = datetime.fromisoformat(row.pauses[0]["start"]) - 2 * HOUR
        row.pauses = [{"start": begun.isoformat(), "end": None}]


@sqlite_first
def test_only_a_running_contest_can_be_paused(api: Api) -> None:
    for contest_id, offset in (("before", HOUR), ("over", -9 * HOUR)):
        make(api, contest_id, start_time=at(offset))
        refused = api.post(f"contests/{contest_id}/pause", user="admin")
        assert (refused.status_code, refused.json()["code"]) == (409, 409)
    assert "has not started" in api.post("contests/before/pause", user="admin").json()["message"]
    assert "is over" in api.post("contests/over/pause", user="admin").json()["message"]


def enrol(api: Api, contest_id: str, *team_ids: str) -> Any:
    """Let teams take part."""
    return api.post(f"contests/{contest_id}/teams", user="admin", json={"team_ids": list(team_ids)})


@sqlite_first
def test_a_disqualified_team_is_off_the_board_and_out_of_best_until_that_is_taken_back(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, rule={"kind": "relative"})
    add_submission(api.service, {"02": raw(8)})
    add_submission(api.service, {"02": raw(16)}, team="other", minute=2)
    assert points(api) == {"team": 25.0, "other": 50.0}
    done = api.patch("contests/c/teams/other", user="admin", json={"disqualified": True})
    assert (done.status_code, done.json()["id"], done.json()["disqualified"]) == (200, "other", True)
    assert api.get("contests/c/teams/other", user="judge").json() == done.json()
    assert "disqualified" not in api.get("contests/c/teams/other", user="other").json()
    assert points(api) == {"team": 50.0}
    assert [each["team_id"] for each in api.get("contests/c/submissions").json()] == ["team"]
    assert submit(api, "other") == 201, "what it sends is kept and judged"
    assert api.patch("contests/c/teams/other", user="admin", json={"disqualified": False}).status_code == 200
    assert points(api) == {"team": 25.0, "other": 50.0}
    assert api.patch("contests/c/teams/none", user="admin", json={"disqualified": True}).status_code == 404
    wrong = api.patch("contests/c/teams/other", user="admin", json={"id": "team", "disqualified": True})
    assert wrong.status_code == 409


@sqlite_first
def test_withdrawing_a_team_does_not_remove_its_disqualification(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service)
    assert api.patch("contests/c/teams/other", user="admin", json={"disqualified": True}).status_code == 200
    refused = api.delete("contests/c/teams/other", user="admin")
    assert (refused.status_code, "disqualified" in refused.json()["message"]) == (409, True)
    assert api.get("contests/c/teams/other", user="judge").json()["disqualified"] is True
    assert api.patch("contests/c/teams/other", user="admin", json={"disqualified": False}).status_code == 200
    assert api.delete("contests/c/teams/other", user="admin").status_code == 204


def points(api: Api) -> dict[str, float]:
    """Points by team on the board everyone sees."""
    return {row["team_id"]: row["score"]["score"] for row in api.get("contests/c/scoreboard").json()["rows"]}


@sqlite_first
def test_the_board_of_a_contest_in_a_pause_is_that_of_before(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service)
    add_submission(api.service, {"02": share(1)})
    before = api.get("contests/c/scoreboard").json()["rows"]
    api.post("contests/c/pause", user="admin")
    assert api.get("contests/c/scoreboard").json()["rows"] == before
