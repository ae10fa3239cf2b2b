"""Organisers over HTTP: what they own, what roles show and hide, and when a role rests."""

from __future__ import annotations

import pytest

from tests.builders.contests import HOUR, PROBLEM, add_contest, add_problem, add_submission, pass_time
from tests.builders.scoring import share
from tests.builders.service import Api
from tests.builders.streams import open_stream

NEW = {"id": "new", "name": "New", "duration": "1:00:00"}


@pytest.fixture
def course(api: Api) -> Api:
    """Contests c and d with the same problem; staff has no role yet."""
    add_problem(api.service)
    for contest_id in ("c", "d"):
        add_contest(api.service, contest_id, started=2 * HOUR)
    add_submission(api.service, {"02": share(1)})
    return api


def grant(api: Api, place: str, account: str, role: str = "judge") -> dict[str, object]:
    """Grant a role as an admin."""
    reply = api.put(f"{place}/roles/{account}", user="admin", json={"role": role})
    assert reply.status_code == 200, reply.text
    made: dict[str, object] = reply.json()
    return made


def test_an_organiser_owns_what_it_makes_and_nothing_else(course: Api) -> None:
    assert course.post("contests", user="staff", json=NEW).status_code == 403
    assert course.put("organisers/staff", user="admin").status_code == 200
    assert course.post("contests", user="staff", json={**NEW, "open_to_all": True}).status_code == 403
    assert course.post("contests", user="staff", json=NEW).status_code == 201
    assert course.patch("contests/new", user="staff", json={"name": "Mine"}).status_code == 200
    assert course.patch("contests/c", user="staff", json={"name": "Mine"}).status_code == 403
    assert course.put("contests/new/roles/judge", user="staff", json={"role": "owner"}).status_code == 200


def test_an_owner_puts_in_only_problems_at_which_it_has_a_role(course: Api) -> None:
    course.put("organisers/staff", user="admin")
    course.post("contests", user="staff", json=NEW)
    refused = [course.post("contests/new/problems", user="staff", json={"id": each}) for each in (PROBLEM, "nothing")]
    assert [reply.status_code for reply in refused] == [400, 400]
    assert refused[0].json()["message"].replace(PROBLEM, "nothing") == refused[1].json()["message"]
    grant(course, f"problems/{PROBLEM}", "staff")
    assert course.post("contests/new/problems", user="staff", json={"id": PROBLEM}).status_code == 201


def test_a_judge_sees_its_contest_and_loses_sight_with_the_role(course: Api) -> None:
    report = "contests/c/submissions/1/report"
    grant(course, "contests/d", "staff")
    assert course.get(report, user="staff").status_code == 403
    grant(course, "contests/c", "staff")
    assert course.get(report, user="staff").status_code == 200
    assert course.get("contests/c/access", user="staff").json()["capabilities"] == ["post_clar", "admin_clar"]
    assert course.get("contests/c/account", user="staff").json()["type"] == "judge"
    assert course.delete("contests/c/roles/staff", user="admin").status_code == 204
    assert course.get(report, user="staff").status_code == 403


def test_a_role_ends_the_streams_of_its_own_contest_alone(course: Api) -> None:
    with (
        open_stream(course, "contests/c/event-feed", user="staff") as elsewhere,
        open_stream(course, "contests/d/event-feed", user="staff") as here,
    ):
        elsewhere.wait_for(1)
        here.wait_for(1)
        grant(course, f"problems/{PROBLEM}", "staff")
        assert course.put("organisers/staff", user="admin").status_code == 200
        grant(course, "contests/d", "staff")
        here.wait(lambda: here.ended)
        assert course.patch("contests/c", user="admin", json={"name": "Renamed"}).status_code == 200
        elsewhere.wait(lambda: "Renamed" in str(elsewhere.events()))
        assert not elsewhere.ended
        grant(course, "contests/c", "staff")
        elsewhere.wait(lambda: elsewhere.ended)


def test_a_role_rests_while_the_accounts_team_competes_with_the_problem_elsewhere(course: Api) -> None:
    assert grant(course, "contests/d", "other")["rests"] is True
    refused = course.get("contests/d/limits", user="other")
    assert (refused.status_code, "rests" in refused.json()["message"]) == (403, True)
    pass_time(course.service, 9 * HOUR)
    assert course.get("contests/d/limits", user="other").status_code == 200
    assert course.get("contests/d/roles", user="admin").json()[0]["rests"] is False


def test_an_owner_gives_roles_to_accounts_without_a_team_and_to_those_of_its_own_teams(course: Api) -> None:
    grant(course, "contests/c", "staff", "owner")

    def granted(account: str) -> int:
        return course.put(f"contests/c/roles/{account}", user="staff", json={"role": "judge"}).status_code

    assert granted("other") == 403, "an account of a team that others made"
    assert granted("judge") == 200
    assert course.post("teams?contest_id=c", user="staff", json={"id": "own", "name": "Own"}).is_success
    made = {"username": "own", "type": "team", "team_id": "own", "password": "correct horse battery"}
    assert course.post("accounts", user="staff", json=made).status_code == 201
    assert granted("own") == 200


def test_the_only_owner_of_a_contest_stays_one_unless_an_admin_decides_otherwise(course: Api) -> None:
    grant(course, "contests/c", "staff", "owner")
    assert course.put("contests/c/roles/staff", user="staff", json={"role": "judge"}).status_code == 409
    assert course.delete("contests/c/roles/staff", user="staff").status_code == 409
    assert course.put("contests/c/roles/judge", user="staff", json={"role": "owner"}).status_code == 200
    assert course.put("contests/c/roles/staff", user="staff", json={"role": "judge"}).status_code == 200
    assert course.delete("contests/c/roles/judge", user="judge").status_code == 409
    assert course.delete("contests/c/roles/judge", user="admin").status_code == 204
