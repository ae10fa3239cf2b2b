"""Clocks of teams' own: practice after the end, virtual teams, personal windows; and choosing what counts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, pass_time
from tests.builders.examples import sqlite_first
from tests.builders.scoring import raw
from tests.builders.service import Api

RELATIVE = {"kind": "relative", "counting": "last"}
CHOSEN = "contests/c/problems/echo/chosen"


def send(api: Api, user: str = "team") -> Any:
    """Submit an answer for case 02."""
    files = [("files", ("02.out", b"2\n"))]
    return api.post("contests/c/submissions", user=user, data={"problem_id": "echo"}, files=files)


def begin(api: Api, kind: str, user: str = "team") -> Any:
    """Start a clock of one's own."""
    return api.post("contests/c/participation", user=user, json={"kind": kind})


def points(api: Api, user: str | None = None, query: str = "") -> dict[str, float]:
    """Points by team."""
    rows = api.get(f"contests/c/scoreboard{query}", user=user).json()["rows"]
    return {row["team_id"]: row["score"]["score"] for row in rows}


def contest(api: Api, *, rule: dict[str, Any] | None = None, **more: Any) -> None:
    """A contest of five hours."""
    add_problem(api.service)
    add_contest(api.service, rule=rule, **more)


@sqlite_first
def test_practice_is_judged_marked_and_on_no_board(api: Api) -> None:
    contest(api, rule=RELATIVE, started=4.5 * HOUR, settings={"practice": True})
    add_submission(api.service, {"02": raw(8)}, minute=10)
    assert send(api).json()["practice"] is False
    pass_time(api.service, HOUR)
    before = api.get("contests/c/scoreboard").json()
    made = send(api)
    assert (made.status_code, made.json()["practice"]) == (201, True)
    add_submission(api.service, {"02": raw(800)}, minute=330, team="other")
    assert api.get("contests/c/scoreboard").json() == before
    assert api.get("contests/c/problems/echo/testcases").json()[1]["best_raw"] == 8
    mine = api.get("contests/c/submissions", user="team").json()
    assert [each["practice"] for each in mine] == [False, False, True]
    assert [each["practice"] for each in api.get("contests/c/submissions").json()] == [False, False]
    assert len(api.get("contests/c/submissions", user="judge").json()) == 4


def test_without_practice_nothing_is_taken_after_the_end(quick_api: Api) -> None:
    contest(quick_api, started=9 * HOUR)
    refused = send(quick_api)
    assert (refused.status_code, refused.json()["message"]) == (403, "the contest is over")


def test_practice_waits_until_the_results_are_seen(quick_api: Api) -> None:
    contest(quick_api, started=9 * HOUR, freeze=HOUR, settings={"practice": True})
    assert send(quick_api).status_code == 403


@sqlite_first
def test_a_virtual_team_has_a_clock_of_its_own_and_is_on_no_official_board(api: Api) -> None:
    contest(api, rule=RELATIVE, started=9 * HOUR, settings={"virtual": True})
    add_submission(api.service, {"02": raw(8)}, minute=10, team="other")
    official = points(api)
    assert official["other"] == 50.0
    assert send(api).status_code == 403
    own = begin(api, "virtual")
    assert own.status_code == 201, own.text
    assert (own.json()["kind"], own.json()["running"]) == ("virtual", True)
    assert own.json()["contest_time"].startswith("0:0")
    assert begin(api, "virtual").status_code == 200, "once is enough"
    pass_time(api.service, HOUR)
    assert api.get("contests/c/participation", user="team").json()["contest_time"].startswith("1:0")
    made = send(api).json()
    assert made["contest_time"].startswith("1:0")
    assert made["practice"] is False
    add_submission(api.service, {"02": raw(16)}, minute=70)
    assert points(api) == {"other": 50.0}, "not on the board, and not BEST"
    assert [each["team_id"] for each in api.get("contests/c/submissions").json()] == ["other"]
    assert len(api.get("contests/c/submissions", user="team").json()) == 3
    pass_time(api.service, 5 * HOUR)
    assert send(api).status_code == 403, "its own time is over"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"started": HOUR, "settings": {"virtual": True}}, "once the contest has ended"),
        ({"started": 9 * HOUR, "freeze": HOUR, "settings": {"virtual": True}}, "once the contest has ended"),
        ({"started": 9 * HOUR}, "takes no virtual teams"),
    ],
)
def test_a_virtual_clock_does_not_start_everywhere(quick_api: Api, more: dict[str, Any], message: str) -> None:
    contest(quick_api, **more)
    refused = begin(quick_api, "virtual")
    assert refused.status_code == 409
    assert message in refused.json()["message"]


def test_whoever_took_part_is_no_virtual_team(quick_api: Api) -> None:
    contest(quick_api, started=9 * HOUR, settings={"virtual": True})
    add_submission(quick_api.service, {"02": raw(8)}, minute=10)
    assert "has 1 submissions in this contest already" in begin(quick_api, "virtual").json()["message"]
    assert begin(quick_api, "personal", "other").status_code == 409
    assert begin(quick_api, "private", "other").status_code == 400


@sqlite_first
def test_with_personal_clocks_the_contest_is_closed_to_whoever_has_not_begun(api: Api) -> None:
    contest(api, started=HOUR, settings={"personal_duration": "2:00:00"})
    add_submission(api.service, {"02": raw(8, 1)}, minute=10, team="other")
    assert begin(api, "personal", "other").status_code == 201
    for user in (None, "team"):
        assert api.get("contests/c/problems", user=user).json() == []
        assert api.get("contests/c/problems/echo/inputs.zip", user=user).status_code == 404
        assert api.get("contests/c/submissions", user=user).json() == []
        assert api.get("contests/c/judgements", user=user).json() == []
        rows = api.get("contests/c/scoreboard", user=user).json()["rows"]
        assert [(row["score"]["score"], row["problems"]) for row in rows] == [(0, []), (0, [])]
    assert len(api.get("contests/c/problems", user="other").json()) == 1
    assert points(api, "other")["other"] == 50.0
    refused = send(api)
    assert refused.status_code == 404, "it knows of no problem yet"
    assert begin(api, "personal").status_code == 201
    assert send(api).json()["contest_time"].startswith("0:0")
    pass_time(api.service, 2 * HOUR)
    over = send(api)
    assert (over.status_code, over.json()["message"]) == (403, "your team's own time is over")
    assert len(api.get("contests/c/problems", user="team").json()) == 1, "it may still read"
    assert api.get("contests/c/problems").json() == []
    pass_time(api.service, 3 * HOUR)
    assert len(api.get("contests/c/problems").json()) == 1, "it is over: everybody sees it"
    assert points(api)["other"] == 50.0


@sqlite_first
def test_a_personal_clock_ends_with_the_contest(api: Api) -> None:
    contest(api, started=4 * HOUR, settings={"personal_duration": "2:00:00"})
    own = begin(api, "personal").json()
    ends = api.get("contests/c/participation", user="other").json()["end_time"]
    assert own["end_time"] == ends
    pass_time(api.service, 2 * HOUR)
    assert begin(api, "personal", "other").status_code == 409
    assert send(api).json()["message"] == "the contest is over"


def test_without_a_clock_of_its_own_a_team_goes_by_the_contests(quick_api: Api) -> None:
    contest(quick_api)
    own = quick_api.get("contests/c/participation", user="team").json()
    shown = quick_api.get("contests/c").json()
    assert (own["kind"], own["start_time"], own["running"]) == ("official", shown["start_time"], True)


@sqlite_first
def test_a_team_chooses_what_counts_after_the_end(api: Api) -> None:
    contest(api, rule=RELATIVE, started=4.5 * HOUR, settings={"choose": True})
    good = add_submission(api.service, {"02": raw(8)}, minute=10)
    add_submission(api.service, {"02": raw(2)}, minute=20)
    theirs = add_submission(api.service, {"02": raw(4)}, minute=30, team="other")
    assert api.get(CHOSEN, user="team").json() == {"problem_id": "echo", "submission_id": None, "time": None}
    put = api.put(CHOSEN, user="team", json={"submission_id": str(good)})
    assert (put.status_code, put.json()["submission_id"]) == (200, str(good))
    assert points(api) == {"other": 50.0, "team": 25.0}, "the last counts while the contest runs"
    for wrong in (str(theirs), "999", "x"):
        assert api.put(CHOSEN, user="team", json={"submission_id": wrong}).status_code == 400
    assert api.get(CHOSEN, user="team").json() == put.json()
    pass_time(api.service, HOUR)
    assert points(api) == {"team": 50.0, "other": 25.0}
    assert api.put(CHOSEN, user="team", json={"submission_id": str(good)}).status_code == 403
    assert api.delete(CHOSEN, user="team").status_code == 403


@sqlite_first
def test_a_choice_is_taken_back(api: Api) -> None:
    contest(api, rule=RELATIVE, started=4.5 * HOUR, settings={"choose": True})
    good = add_submission(api.service, {"02": raw(8)}, minute=10)
    add_submission(api.service, {"02": raw(2)}, minute=20)
    add_submission(api.service, {"02": raw(4)}, minute=30, team="other")
    api.put(CHOSEN, user="team", json={"submission_id": str(good)})
    assert api.delete(CHOSEN, user="team").json()["submission_id"] is None
    pass_time(api.service, HOUR)
    assert points(api) == {"other": 50.0, "team": 25.0}


def test_where_the_contest_does_not_say_so_nobody_chooses(quick_api: Api) -> None:
    contest(quick_api)
    made = add_submission(quick_api.service, {"02": raw(8)})
    assert quick_api.put(CHOSEN, user="team", json={"submission_id": str(made)}).status_code == 409


def test_a_clock_of_ones_own_may_be_a_minute_old(quick_api: Api) -> None:
    contest(quick_api, started=9 * HOUR, settings={"virtual": True, "practice": True})
    begin(quick_api, "virtual")
    pass_time(quick_api.service, 5 * HOUR + timedelta(minutes=1))
    made = send(quick_api)
    assert (made.status_code, made.json()["practice"]) == (201, True), "after its own end it practises"
