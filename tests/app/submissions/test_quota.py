"""How often a team may submit: limits hold for two at once, and give back what the judge failed on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from app.submissions.queries.usage import counted_times
from tests.builders.clocks import still_clock
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, pass_time
from tests.builders.scoring import JUDGE_ERROR, share
from tests.builders.service import Api

PROBLEM = "contests/c/problems/echo"

NO_LIMITS = dict.fromkeys(
    ("max_submissions", "interval_seconds", "per_window", "open_games", "move_seconds", "game_seconds")
)


def contest(api: Api, limits: dict[str, Any], **settings: Any) -> None:
    """A running contest with these limits."""
    add_problem(api.service)
    add_contest(api.service, settings={"limits": limits, **settings})


def send(api: Api, user: str = "team", key: str | None = None, **data: str) -> Any:
    """Submit an answer for case 02."""
    headers = {} if key is None else {"Idempotency-Key": key}
    files = [("files", ("02.out", b"2\n"))]
    form = {"problem_id": "echo", **data}
    return api.post("contests/c/submissions", user=user, data=form, files=files, headers=headers)


def quota(api: Api, user: str = "team", query: str = "") -> Any:
    """What is left."""
    reply = api.get(f"{PROBLEM}/quota{query}", user=user)
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_so_many_and_no_more(api: Api) -> None:
    contest(api, {"max_submissions": 2})
    assert quota(api) == {
        "problem_id": "echo",
        "team_id": "team",
        "limits": NO_LIMITS | {"max_submissions": 2},
        "used": 0,
        "left": 2,
        "next_allowed": None,
        "bytes_used": 0,
        "bytes_limit": 2**30,
    }
    assert [send(api).status_code for _ in range(3)] == [201, 201, 429]
    refused = send(api)
    assert refused.json() == {"code": 429, "message": "expected at most 2 submissions to this problem, found 2 already"}
    assert "Retry-After" not in refused.headers, "waiting does not help"
    assert (quota(api)["used"], quota(api)["left"]) == (2, 0)
    assert len(api.get("contests/c/submissions", user="team").json()) == 2, "what was refused was not kept"
    assert send(api, "other").status_code == 201, "every team has its own"
    assert quota(api, "judge", "?team_id=other")["left"] == 1
    assert api.get(f"{PROBLEM}/quota?team_id=other", user="team").status_code == 403
    assert api.get(f"{PROBLEM}/quota?team_id=none", user="judge").status_code == 400


def test_the_next_one_is_taken_after_a_while(api: Api) -> None:
    contest(api, {"interval_seconds": 60})
    with still_clock():
        assert send(api).status_code == 201
        refused = send(api)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
    assert "again in" in refused.json()["message"]
    assert quota(api)["next_allowed"] is not None
    pass_time(api.service, timedelta(seconds=60))
    assert quota(api)["next_allowed"] is None
    assert send(api).status_code == 201


def test_so_many_in_a_window(api: Api) -> None:
    contest(api, {"per_window": {"count": 2, "seconds": 600}})
    with still_clock():
        assert send(api).status_code == 201
        pass_time(api.service, timedelta(seconds=300))
        assert send(api).status_code == 201
        refused = send(api)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "300")
    assert "at most 2 submissions in any 600 s to this problem: your team may submit again" in refused.json()["message"]
    pass_time(api.service, timedelta(seconds=300))
    assert [send(api).status_code for _ in range(2)] == [201, 429]


def test_a_limit_of_a_window_reads_no_more_submissions_than_it_counts(api: Api) -> None:
    """A team with thousands of earlier ones costs what another does."""
    contest(api, {"per_window": {"count": 2, "seconds": 600}})
    for minute in (1, 2, 30, 50, 60):
        add_submission(api.service, {"02": share(1)}, minute=minute)
    with api.service.database.read() as session:
        times = counted_times(session, "c", "team", "echo", 2)
        assert times == counted_times(session, "c", "team", "echo")[-2:]


@pytest.mark.parametrize("most", [1, 5])
def test_of_many_at_once_only_as_many_pass_as_are_left(api: Api, most: int) -> None:
    contest(api, {"max_submissions": most})
    assert quota(api)["left"] == most
    with ThreadPoolExecutor(12) as threads:
        codes = list(threads.map(lambda _: send(api).status_code, range(12)))
    assert sorted(codes) == [201] * most + [429] * (12 - most)


def test_a_submission_the_judge_failed_on_is_given_back(api: Api) -> None:
    contest(api, {"max_submissions": 1})
    add_submission(api.service, {"02": JUDGE_ERROR}, judgement_type="JE")
    assert quota(api)["left"] == 1
    add_submission(api.service, {"02": share(1)})
    assert quota(api)["left"] == 0
    assert send(api).status_code == 429


def test_repeats_and_what_an_admin_sends_for_a_team_do_not_count(api: Api) -> None:
    contest(api, {"max_submissions": 1})
    assert send(api, "admin", team_id="team").status_code == 201
    first = send(api, key="a")
    assert first.status_code == 201
    assert send(api, key="a").json() == first.json()
    assert send(api, key="b").status_code == 429
    assert send(api, "admin", team_id="team").status_code == 201
    assert quota(api)["used"] == 1


def test_a_problem_may_have_limits_of_its_own(api: Api) -> None:
    contest(api, {"max_submissions": 1})
    changed = api.patch(PROBLEM, user="admin", json={"limits": {"max_submissions": 3}})
    assert changed.json()["limits"] == NO_LIMITS | {"max_submissions": 3}
    assert [send(api).status_code for _ in range(4)] == [201, 201, 201, 429]
    assert api.patch(PROBLEM, user="admin", json={"limits": {"max_submissions": None}}).status_code == 200
    assert send(api).status_code == 201, "null lifts the contest's limit"
    assert api.patch(PROBLEM, user="admin", json={"limits": {"most": 1}}).status_code == 400


def test_practice_is_not_limited_in_number(api: Api) -> None:
    contest(api, {"max_submissions": 1}, practice=True)
    assert send(api).status_code == 201
    pass_time(api.service, 5 * HOUR)
    assert [send(api).status_code for _ in range(3)] == [201] * 3
