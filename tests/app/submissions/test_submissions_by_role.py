"""Who may bring in submissions, with which properties: the rules of the specification, one by one."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.builders import lively
from tests.builders.contests import add_problem
from tests.builders.examples import rule_cases, sqlite_first
from tests.builders.service import Api

BASE = f"contests/{lively.CONTEST}"
ROUTE = f"{BASE}/submissions"
FILES = lively.answers({"02.out": b"2\n"})
SENT: dict[str, Any] = {"language_id": "answers", "problem_id": "echo", "files": FILES}
TIME = "2026-01-21T10:00:00.000Z"
PUT = {**SENT, "id": "proxy-1", "team_id": "red", "time": TIME}


@pytest.fixture
def contest(api: Api) -> Api:
    """The lively contest without submissions."""
    return prepared(api)


@pytest.fixture(scope="module")
def shared(shared_api: Api) -> Api:
    """The lively contest, which fills with submissions: each test looks at the one it sends."""
    return prepared(shared_api)


def prepared(api: Api) -> Api:
    """Put the contest in."""
    add_problem(api.service)

    def ask(method: str, path: str, *, user: str | None = None, json: Any = None) -> httpx.Response:
        return api.request(method, path, user=user, json=json)

    lively.begin(ask)
    return api


def listed(api: Api) -> dict[str, Any]:
    """All submissions by their ids, as an admin sees them."""
    return {each["id"]: each for each in api.get(ROUTE, user="admin").json()}


@rule_cases(
    ("user", "body", "code"),
    [
        ("red", {}, 201),
        ("red", {"team_id": "red", "entry_point": None, "reaction": [{"href": "x"}]}, 201),
        ("red", {"team_id": "blue"}, 403),
        ("red", {"time": TIME}, 400),
        ("red", {"contest_time": "1:00:00"}, 400),
        ("red", {"id": "7"}, 400),
        ("red", {"id": None}, 201),
        ("red", {"entry_point": "Main"}, 400),
        ("red", {"language_id": "java"}, 400),
        ("red", {"language_id": None}, 400),
        ("red", {"problem_id": "none"}, 404),
        ("red", {"account_id": "blue"}, 400),
        ("red", {"files": []}, 400),
        ("red", {"files": FILES * 2}, 400),
        ("red", {"files": [{"data": "?"}]}, 400),
        ("red", {"files": [{**FILES[0], "mime": "text/plain"}]}, 400),
        ("helper", {"team_id": "red"}, 403),
        ("voice", {"team_id": "red"}, 403),
        ("jury", {"team_id": "red"}, 403),
        (None, {}, 401),
        ("admin", {"team_id": "red"}, 201),
        ("admin", {"team_id": "red", "time": TIME}, 201),
        ("admin", {"team_id": "red", "time": TIME, "contest_time": "1:00:00"}, 201),
        ("admin", {"team_id": "red", "contest_time": "1:00:00"}, 400),
        ("admin", {"team_id": "red", "time": "then"}, 400),
        ("admin", {"team_id": "red", "time": TIME, "id": "a-1"}, 400),
        ("admin", {"team_id": "none"}, 400),
        ("admin", {}, 400),
    ],
    "shared_api",
)
def test_what_may_be_posted_depends_on_who_posts(shared: Api, user: str | None, body: Any, code: int) -> None:
    before = listed(shared)
    reply = shared.post(ROUTE, user=user, json={**SENT, **body})
    assert reply.status_code == code, reply.text
    after = listed(shared)
    if code == 201:
        (made,) = after.keys() - before.keys()
        assert reply.headers["Location"] == f"/api/{ROUTE}/{made}"
        assert after[made]["team_id"] == "red"
    else:
        assert (reply.json()["code"], after) == (code, before)


@sqlite_first
def test_staff_submit_for_teams_where_the_contest_lets_them(contest: Api) -> None:
    contest.patch(BASE, user="admin", json={"settings": {"staff_act_for_teams": True}})
    assert contest.post(ROUTE, user="helper", json={**SENT, "team_id": "blue"}).status_code == 201
    assert contest.post(ROUTE, user="helper", json=SENT).status_code == 400
    assert contest.post(ROUTE, user="helper", json={**SENT, "team_id": "blue", "time": TIME}).status_code == 400
    assert contest.put(f"{ROUTE}/proxy-1", user="helper", json=PUT).status_code == 403


@sqlite_first
def test_an_admin_brings_in_a_submission_under_its_own_id(contest: Api) -> None:
    made = contest.put(f"{ROUTE}/proxy-1", user="admin", json=PUT)
    assert (made.status_code, made.json()["id"], made.json()["time"]) == (201, "proxy-1", TIME)
    assert made.headers["Location"] == f"/api/{ROUTE}/proxy-1"
    again = contest.put(f"{ROUTE}/proxy-1", user="admin", json=PUT)
    assert (again.status_code, again.json()) == (200, made.json())
    assert [each["id"] for each in contest.get(ROUTE, user="admin").json()] == ["proxy-1"]
    assert contest.get(f"{ROUTE}/proxy-1/files", user="red").status_code == 200
    assert contest.get(f"{ROUTE}/proxy-1/files", user="blue").status_code == 403


@rule_cases(
    ("path", "changes", "code"),
    [
        ("proxy-1", {"team_id": "blue"}, 409),
        ("proxy-1", {"time": "2026-01-21T10:00:01.000Z"}, 409),
        ("proxy-1", {"files": lively.answers({"02.out": b"3\n"})}, 409),
        ("proxy-2", {}, 409),
        ("proxy-2", {"id": None}, 400),
        ("17", {"id": "17"}, 400),
        ("9" * 30, {"id": "9" * 30}, 400),
        ("007", {"id": "007"}, 400),
        ("٣", {"id": "٣"}, 400),
        ("-x", {"id": "-x"}, 400),
        ("proxy-2", {"id": "proxy-2", "time": None}, 400),
        ("proxy-2", {"id": "proxy-2", "team_id": None}, 400),
        ("proxy-2", {"id": "proxy-2", "team_id": "none"}, 400),
        ("proxy-2", {"id": "proxy-2", "problem_id": "none"}, 404),
        ("proxy-2", {"id": "proxy-2", "files": []}, 400),
    ],
    "shared_api",
)
def test_a_submission_that_contradicts_is_refused(shared: Api, path: str, changes: Any, code: int) -> None:
    assert shared.put(f"{ROUTE}/proxy-1", user="admin", json=PUT).is_success
    before = listed(shared)
    refused = shared.put(f"{ROUTE}/{path}", user="admin", json={**PUT, **changes})
    assert (refused.status_code, refused.json()["code"]) == (code, code), refused.text
    assert listed(shared) == before


@sqlite_first
def test_the_same_id_may_be_in_another_contest(contest: Api) -> None:
    assert contest.put(f"{ROUTE}/proxy-1", user="admin", json=PUT).status_code == 201
    made = {"id": "second", "name": "Second", "start_time": "2026-01-01T00:00:00Z", "duration": "5:00:00"}
    contest.post("contests", user="admin", json={**made, "open_to_all": True, "already_over": True})
    contest.post("contests/second/problems", user="admin", json={"id": "echo"})
    assert contest.put("contests/second/submissions/proxy-1", user="admin", json=PUT).status_code == 201
