"""Who may ask, answer and announce, with which properties; the rules of the specification, one by one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.builders import lively
from tests.builders.contests import HOUR, add_contest, add_problem
from tests.builders.service import Api

BASE = f"contests/{lively.CONTEST}"
ROUTE = f"{BASE}/clarifications"
TIME = "2026-11-21T10:00:00.000Z"


def ask_of(api: Api) -> lively.Ask:
    """How the lively contest asks."""

    def ask(method: str, path: str, *, user: str | None = None, json: Any = None) -> httpx.Response:
        return api.request(method, path, user=user, json=json)

    return ask


@pytest.fixture
def contest(quick_api: Api) -> Api:
    """The lively contest, in which nothing has been said."""
    add_problem(quick_api.service)
    lively.begin(ask_of(quick_api))
    return quick_api


def texts(api: Api, user: str | None) -> list[str]:
    """What a user reads."""
    return [each["text"] for each in api.get(ROUTE, user=user).json()]


@pytest.mark.parametrize(
    ("user", "body", "code"),
    [
        ("red", {"text": "Q"}, 201),
        ("red", {"text": "Q", "from_team_id": "red", "problem_id": "echo", "reply_to_id": None}, 201),
        ("red", {"text": "Q", "from_team_id": "blue"}, 403),
        ("red", {"text": "Q", "to_team_ids": ["blue"]}, 403),
        ("red", {"text": "Q", "to_group_ids": ["north"]}, 403),
        ("red", {"text": "Q", "id": "7"}, 400),
        ("red", {"text": "Q", "time": TIME}, 400),
        ("red", {"text": "Q", "contest_time": "1:00:00"}, 400),
        ("red", {"text": "Q", "problem_id": "none"}, 400),
        ("red", {"text": "Q", "reply_to_id": "9"}, 400),
        ("red", {"text": ""}, 400),
        ("red", {"text": " \n"}, 400),
        ("red", {"text": "a\0b"}, 400),
        ("red", {"text": None}, 400),
        ("red", {}, 400),
        ("red", {"text": "Q", "colour": "red"}, 400),
        ("red", {"text": 7}, 400),
        ("red", {"text": "Q", "time": "yesterday"}, 400),
        ("jury", {"text": "A"}, 201),
        ("jury", {"text": "A", "to_team_ids": ["red"], "to_group_ids": ["south"]}, 201),
        ("jury", {"text": "A", "from_team_id": "red"}, 403),
        ("jury", {"text": "A", "to_team_ids": ["none"]}, 400),
        ("jury", {"text": "A", "to_group_ids": ["none"]}, 400),
        ("jury", {"text": "A", "id": "7"}, 400),
        ("jury", {"text": "A", "contest_time": "1:00:00"}, 400),
        ("jury", {"text": "A", "time": TIME}, 201),
        ("jury", {"text": "A", "time": TIME, "from_team_id": "red"}, 201),
        ("admin", {"text": "P", "from_team_id": "red"}, 201),
        ("admin", {"text": "P", "from_team_id": "red", "to_team_ids": ["blue"]}, 400),
        ("admin", {"text": "P", "from_team_id": "none"}, 400),
        ("voice", {"text": "Q"}, 403),
        ("helper", {"text": "Q", "from_team_id": "red"}, 403),
        (None, {"text": "Q"}, 401),
    ],
)
def test_what_may_be_sent_depends_on_who_sends_it(contest: Api, user: str | None, body: Any, code: int) -> None:
    before = contest.get(ROUTE, user="admin").json()
    reply = contest.post(ROUTE, user=user, json=body)
    assert reply.status_code == code, reply.text
    if code == 201:
        assert reply.headers["Location"] == f"/api/{ROUTE}/{reply.json()['id']}"
        assert contest.get(f"{ROUTE}/{reply.json()['id']}", user=user).json() == reply.json()
    else:
        assert reply.json()["code"] == code
        assert contest.get(ROUTE, user="admin").json() == before


def test_malformed_json_is_refused(contest: Api) -> None:
    for body in (b"{", b"[]", b"7", b'{"text": "\xff"}'):
        reply = contest.post(ROUTE, user="red", content=body, headers={"Content-Type": "application/json"})
        assert (reply.status_code, reply.json()["code"]) == (400, 400)


def test_staff_ask_for_teams_where_the_contest_lets_them(contest: Api) -> None:
    contest.patch(BASE, user="admin", json={"settings": {"staff_act_for_teams": True}})
    made = contest.post(ROUTE, user="helper", json={"text": "P", "from_team_id": "blue"})
    assert (made.status_code, made.json()["from_team_id"]) == (201, "blue")
    assert contest.post(ROUTE, user="helper", json={"text": "P"}).status_code == 400
    assert (
        contest.post(ROUTE, user="helper", json={"text": "P", "from_team_id": "red", "time": TIME}).status_code == 400
    )
    assert "proxy_clar" in contest.get(f"{BASE}/access", user="helper").json()["capabilities"]


def test_a_question_is_between_its_team_and_the_jury(contest: Api) -> None:
    contest.post(ROUTE, user="red", json={"text": "secret"})
    assert texts(contest, "red") == texts(contest, "jury") == ["secret"]
    for user in (None, "blue", "voice", "helper", "ghost"):
        assert texts(contest, user) == []
        assert contest.get(f"{ROUTE}/1", user=user).status_code == 404


def test_an_answer_to_groups_reaches_their_teams(contest: Api) -> None:
    contest.post(ROUTE, user="jury", json={"text": "to the south", "to_group_ids": ["south"]})
    assert texts(contest, "blue") == ["to the south"]
    assert texts(contest, "red") == texts(contest, None) == []


def test_a_team_cannot_answer_what_it_may_not_see(contest: Api) -> None:
    contest.post(ROUTE, user="red", json={"text": "secret"})
    refused = contest.post(ROUTE, user="blue", json={"text": "Q", "reply_to_id": "1"})
    assert refused.status_code == 400
    assert contest.post(ROUTE, user="red", json={"text": "Q", "reply_to_id": "1"}).status_code == 201


def test_an_admin_brings_in_a_clarification_under_its_own_id(contest: Api) -> None:
    body = {"id": "wf-1", "text": "Hello", "time": TIME, "problem_id": "echo"}
    made = contest.put(f"{ROUTE}/wf-1", user="admin", json=body)
    assert (made.status_code, made.json()["time"]) == (201, TIME)
    assert made.headers["Location"] == f"/api/{ROUTE}/wf-1"
    assert contest.put(f"{ROUTE}/wf-1", user="admin", json=body).status_code == 200
    assert contest.put(f"{ROUTE}/wf-1", user="admin", json=made.json()).status_code == 200
    assert contest.put(f"{ROUTE}/wf-1", user="admin", json=body | {"text": "Other"}).status_code == 409
    assert contest.put(f"{ROUTE}/wf-2", user="admin", json=body).status_code == 409
    assert contest.put(f"{ROUTE}/wf-2", user="admin", json={**body, "id": None}).status_code == 400
    assert contest.put(f"{ROUTE}/wf-2", user="admin", json={"id": "wf-2", "text": "T"}).status_code == 400
    assert contest.put(f"{ROUTE}/wf-3", user="red", json=body | {"id": "wf-3"}).status_code == 403
    assert texts(contest, "admin") == ["Hello"]


def test_before_the_start_nothing_is_told_of_problems(quick_api: Api) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service, started=-HOUR)
    route = "contests/c/clarifications"
    assert quick_api.post(route, user="judge", json={"text": "of echo", "problem_id": "echo"}).status_code == 201
    assert quick_api.post(route, user="judge", json={"text": "welcome"}).status_code == 201
    assert [each["text"] for each in quick_api.get(route, user="team").json()] == ["welcome"]
    assert quick_api.post(route, user="team", json={"text": "Q", "problem_id": "echo"}).status_code == 400
    first = quick_api.post(route, user="team", json={"text": "Q"}).json()
    assert first["contest_time"].startswith("-")


def test_nothing_is_asked_once_the_contest_is_final(quick_api: Api) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service, started=6 * HOUR, duration=timedelta(hours=5))
    assert quick_api.patch("contests/c", user="admin", json={"finalized": True}).status_code == 200
    assert quick_api.post("contests/c/clarifications", user="team", json={"text": "Q"}).status_code == 403


@pytest.mark.parametrize(
    ("user", "body", "code"),
    [
        ("voice", {"message": "{teams:red} \\{"}, 201),
        ("voice", {"message": "M", "tags": ["submission"], "team_ids": ["red"], "problem_ids": ["echo"]}, 201),
        ("admin", {"message": "M", "tags": [], "submission_ids": []}, 201),
        ("voice", {"message": "M", "team_ids": ["none"]}, 400),
        ("voice", {"message": "M", "team_ids": ["ghost"]}, 400),
        ("voice", {"message": "M", "problem_ids": ["none"]}, 400),
        ("voice", {"message": "M", "submission_ids": ["none"]}, 400),
        ("voice", {"message": "M", "id": "1"}, 400),
        ("voice", {"message": "M", "time": TIME}, 400),
        ("voice", {"message": "M", "contest_time": "0:00:01"}, 400),
        ("voice", {"message": "M", "source_id": "carl"}, 400),
        ("voice", {"tags": []}, 400),
        ("red", {"message": "M"}, 403),
        ("jury", {"message": "M"}, 403),
        (None, {"message": "M"}, 401),
    ],
)
def test_analysts_comment(contest: Api, user: str | None, body: Any, code: int) -> None:
    reply = contest.post(f"{BASE}/commentary", user=user, json=body)
    assert reply.status_code == code, reply.text
    found = contest.get(f"{BASE}/commentary").json()
    if code == 201:
        assert reply.json() == found[0] == contest.get(reply.headers["Location"]).json()
        assert found[0].get("source_id") == ("carl" if user == "voice" else None)
    else:
        assert (reply.json()["code"], found) == (code, [])


def test_what_is_said_of_a_hidden_team_is_for_judges(contest: Api) -> None:
    contest.post(f"{BASE}/commentary", user="admin", json={"message": "boo", "team_ids": ["ghost"]})
    assert contest.get(f"{BASE}/commentary").json() == []
    assert len(contest.get(f"{BASE}/commentary", user="jury").json()) == 1
