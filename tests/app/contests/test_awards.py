"""Awards follow from the final board, say nothing before, and are overruled by admins."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.builders.contests import HOUR, add_contest, add_problem, add_submission
from tests.builders.examples import sqlite_first
from tests.builders.scoring import REJECTED, share
from tests.builders.service import Api

ROUTE = "contests/c/awards"
SETTINGS = {"awards": {"gold": 1, "silver": 1, "bronze": 0, "ranks": 2}}


def awards(api: Api, user: str | None = None) -> dict[str, Any]:
    """Whom each award goes to."""
    return {each["id"]: each["team_ids"] for each in api.get(ROUTE, user=user).json()}


@pytest.fixture
def contest(api: Api) -> Api:
    """A contest that is over, frozen since its last hour, in which `other` won after the freeze."""
    add_problem(api.service)
    add_contest(api.service, started=6 * HOUR, freeze=HOUR, settings=SETTINGS)
    add_submission(api.service, {"02": share(1), "03": REJECTED}, minute=10)
    add_submission(api.service, {"02": share(1), "03": share(1)}, minute=280, team="other", judgement_type="AC")
    group = {"id": "g", "name": "G"}
    assert api.post("contests/c/groups", user="admin", json=group).status_code == 201
    assert api.patch("teams/team", user="admin", json={"group_ids": ["g"]}).status_code == 200
    return api


def thaw(api: Api) -> None:
    """Open the board."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    assert api.patch("contests/c", user="admin", json={"id": "c", "scoreboard_thaw_time": now}).status_code in {
        200,
        204,
    }


def finalise(api: Api) -> None:
    """Say that the results are final."""
    thaw(api)
    assert api.patch("contests/c", user="admin", json={"finalized": True}).status_code == 200


@sqlite_first
def test_before_the_results_are_final_nobody_knows_who_gets_them(contest: Api) -> None:
    for user in (None, "team", "judge"):
        found = awards(contest, user)
        assert set(found) == {
            "winner",
            "gold-medal",
            "silver-medal",
            "rank-1",
            "rank-2",
            "group-winner-g",
            "first-to-solve-echo",
        }
        assert set(found.values()) == {None}
    thaw(contest)
    assert set(awards(contest).values()) == {None}


@sqlite_first
def test_the_final_board_gives_them(contest: Api) -> None:
    finalise(contest)
    assert (
        awards(contest)
        == awards(contest, "judge")
        == {
            "winner": ["other"],
            "gold-medal": ["other"],
            "silver-medal": ["team"],
            "rank-1": ["other"],
            "rank-2": ["team"],
            "group-winner-g": ["team"],
            "first-to-solve-echo": ["other"],
        }
    )


@sqlite_first
def test_where_a_contest_has_a_main_group_the_others_win_nothing_but_their_groups(contest: Api) -> None:
    assert contest.post("contests/c/groups", user="admin", json={"id": "h", "name": "H"}).status_code == 201
    assert contest.patch("teams/other", user="admin", json={"group_ids": ["h"]}).status_code == 200
    main = {"id": "c", "main_scoreboard_group_id": "g"}
    assert contest.patch("contests/c", user="admin", json=main).status_code == 200
    finalise(contest)
    found = awards(contest)
    assert (found["winner"], found["gold-medal"], found["silver-medal"]) == (["team"], ["team"], [])
    assert (found["group-winner-g"], found["group-winner-h"]) == (["team"], ["other"])
    assert found["first-to-solve-echo"] == []


@sqlite_first
def test_a_hidden_team_gets_none(contest: Api) -> None:
    contest.patch("teams/other", user="admin", json={"hidden": True})
    finalise(contest)
    found = awards(contest)
    assert found["winner"] == ["team"]
    assert found["first-to-solve-echo"] == []


@sqlite_first
def test_an_award_by_hand_is_not_told_while_the_board_is_frozen(contest: Api) -> None:
    made = contest.post(ROUTE, user="admin", json={"citation": "Best costume", "team_ids": ["team"]})
    assert (made.status_code, made.json()["id"]) == (201, "best-costume")
    assert made.headers["Location"] == f"/api/{ROUTE}/best-costume"
    assert awards(contest)["best-costume"] is None
    assert awards(contest, "judge")["best-costume"] == ["team"]
    thaw(contest)
    assert awards(contest)["best-costume"] == ["team"]


@sqlite_first
def test_an_admin_overrules_a_computed_award(contest: Api) -> None:
    finalise(contest)
    body = {"id": "winner", "citation": "The winner", "team_ids": ["team"]}
    assert contest.put(f"{ROUTE}/winner", user="admin", json=body).json() == body
    assert awards(contest)["winner"] == ["team"]
    changed = contest.patch(f"{ROUTE}/gold-medal", user="admin", json={"citation": "Gold"})
    assert changed.json() == {"id": "gold-medal", "citation": "Gold", "team_ids": ["other"]}
    assert contest.delete(f"{ROUTE}/silver-medal", user="admin").status_code == 204
    assert contest.delete(f"{ROUTE}/silver-medal", user="admin").status_code == 404
    assert "silver-medal" not in awards(contest)
    again = {"id": "silver-medal", "citation": "S", "team_ids": []}
    assert contest.put(f"{ROUTE}/silver-medal", user="admin", json=again).status_code == 200
    assert awards(contest)["silver-medal"] == []


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("POST", "", {"id": "x", "citation": "X", "team_ids": []}, 400),
        ("POST", "", {"citation": "X"}, 400),
        ("POST", "", {"team_ids": []}, 400),
        ("POST", "", {"citation": "X", "team_ids": ["none"]}, 400),
        ("POST", "", {"citation": "X", "team_ids": None}, 400),
        ("PUT", "/x", {"id": "y", "citation": "X", "team_ids": []}, 409),
        ("PUT", "/x", {"citation": "X", "team_ids": []}, 400),
        ("PUT", "/x", {"id": "x", "citation": "X"}, 400),
        ("PATCH", "/x", {"citation": "X"}, 404),
        ("PATCH", "/winner", {"citation": None}, 400),
        ("PATCH", "/winner", {"team_ids": None}, 400),
        ("PATCH", "/winner", {"id": "gold-medal"}, 409),
        ("PATCH", "/winner", {"citation": "X"}, 400),
        ("PATCH", "/winner", {"colour": "X"}, 400),
        ("DELETE", "/x", None, 404),
    ],
)
def test_what_the_specification_refuses_is_refused(
    quick_api: Api, method: str, path: str, body: Any, code: int
) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service)
    before = quick_api.get(ROUTE, user="admin").json()
    reply = quick_api.request(method, f"{ROUTE}{path}", user="admin", json=body)
    assert (reply.status_code, reply.json()["code"]) == (code, code)
    assert quick_api.get(ROUTE, user="admin").json() == before
