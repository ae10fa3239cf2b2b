"""Roles that owners grant to accounts outside their reach: invitations, which give no right until they are accepted."""

from __future__ import annotations

import httpx
import pytest

from tests.builders.contests import HOUR, PROBLEM, add_contest, add_problem
from tests.builders.examples import sqlite_first
from tests.builders.service import PASSWORD, Api
from tests.builders.streams import open_stream

pytestmark = sqlite_first

STRONG = "correct horse battery"
INVITATIONS = ("contests/a", f"problems/{PROBLEM}")


@pytest.fixture
def course(api: Api) -> Api:
    """The account staff owns contest a and the problem; `helper`, whose username is `hilda`, takes no part in it."""
    add_problem(api.service)
    for contest_id in ("a", "b"):
        add_contest(api.service, contest_id, started=2 * HOUR)
        assert api.patch(f"contests/{contest_id}", user="admin", json={"open_to_all": False}).status_code == 200
    assert api.post("contests/b/teams", user="admin", json={"team_ids": ["team", "other"]}).status_code == 200
    helper = {"id": "helper", "username": "hilda", "name": "Hilda H.", "type": "staff", "password": PASSWORD}
    assert api.post("accounts", user="admin", json=helper).status_code == 201
    for place in INVITATIONS:
        assert grant(api, place, "staff", "owner", user="admin").json()["pending"] is False
    return api


def grant(api: Api, place: str, account: str, role: str = "judge", user: str = "staff") -> httpx.Response:
    return api.put(f"{place}/roles/{account}", user=user, json={"role": role})


def roles(api: Api, place: str = "contests/a", user: str = "staff") -> dict[str, tuple[str, bool]]:
    """The roles by username, with whether they are pending."""
    return {each["username"]: (each["role"], each["pending"]) for each in api.get(f"{place}/roles", user=user).json()}


def accept(api: Api, user: str = "hilda", place: str = "contests/a") -> httpx.Response:
    return api.put(f"account/roles/{place}", user=user)


@pytest.mark.parametrize(
    ("place", "secret"), [("contests/a", "contests/a/limits"), (f"problems/{PROBLEM}", f"problems/{PROBLEM}")]
)
def test_a_role_outside_the_owners_reach_gives_no_right_until_it_is_accepted(
    course: Api, place: str, secret: str
) -> None:
    before = course.get("contests/a/accounts", user="staff").json()
    made = grant(course, place, "helper")
    assert (made.status_code, made.json()["pending"], made.json()["rests"]) == (200, True, False)
    assert course.get(secret, user="hilda").status_code == 403
    assert course.get("contests/a/account", user="hilda").json()["type"] == "staff"
    assert course.get("contests/a/accounts", user="staff").json() == before
    assert course.get("jobs", user="hilda").status_code == 403
    (invitation,) = course.get("account/roles", user="hilda").json()
    assert f"{invitation['kind']}/{invitation['id']}" == place
    assert (invitation["role"], invitation["granted_by"]) == ("judge", "staff")
    accepted = accept(course, place=place)
    assert (accepted.status_code, accepted.json()["pending"]) == (200, False)
    assert course.get(secret, user="hilda").status_code == 200
    assert course.get("account/roles", user="hilda").json() == []
    assert roles(course, place)["hilda"] == ("judge", False)


def test_the_only_owner_of_a_contest_stays_one_unless_an_admin_decides_otherwise(course: Api) -> None:
    assert grant(course, "contests/a", "hilda", "owner").json()["pending"] is True
    assert grant(course, "contests/a", "staff", "judge").status_code == 409
    assert course.delete("contests/a/roles/staff", user="staff").status_code == 409
    assert roles(course)["staff"] == ("owner", False)
    assert accept(course).status_code == 200
    assert grant(course, "contests/a", "staff", "judge").status_code == 200
    assert course.delete("contests/a/roles/hilda", user="hilda").status_code == 409
    assert course.delete("contests/a/roles/hilda", user="admin").status_code == 204


def test_a_page_confirms_that_an_invitation_was_accepted_or_declined(course: Api) -> None:
    for answer in ("accept", "decline"):
        grant(course, "contests/a", "hilda")
        reply = course.post(f"/account/roles/contests/a/{answer}", user="hilda")
        assert reply.status_code == 303
        assert (
            f"You {answer}{'d' if answer == 'decline' else 'ed'} the role."
            in course.get(reply.headers["Location"], user="hilda").text
        )
        course.delete("contests/a/roles/hilda", user="admin")


def test_a_pending_role_shows_the_owner_what_it_typed_and_no_more(course: Api) -> None:
    made = grant(course, "contests/a", "helper").text
    listed = course.get("contests/a/roles", user="staff").text
    page = course.get("/admin/contests/a/roles", user="staff").text
    for shown in (made, listed, page):
        assert "helper" in shown
        assert "ilda" not in shown
    assert course.delete("contests/a/roles/helper", user="staff").status_code == 204
    assert set(roles(course)) == {"staff"}
    assert accept(course).status_code == 404


def test_the_audit_log_shows_an_invitation_by_the_name_that_was_typed(course: Api) -> None:
    for _ in ("added", "deleted"):
        grant(course, "contests/a", "hilda")
        grant(course, "contests/a", "hilda", "owner")
        assert course.delete("contests/a/roles/hilda", user="staff").status_code == 204
    log = course.get("contests/a/audit", user="staff")
    assert log.json()[0]["changes"]["objects"][0]["id"] == "a/hilda"
    assert "helper" not in log.text


@pytest.mark.parametrize("place", INVITATIONS)
def test_revoking_does_not_tell_whether_an_account_exists(course: Api, place: str) -> None:
    replies = [course.delete(f"{place}/roles/{each}", user="staff") for each in ("hilda", "admin", "nothing")]
    shapes = {
        reply.json()["message"].replace(each, "X")
        for each, reply in zip(("hilda", "admin", "nothing"), replies, strict=True)
    }
    assert {reply.status_code for reply in replies} == {404}
    assert len(shapes) == 1


def test_who_declines_stays_unknown_to_the_owner(course: Api) -> None:
    grant(course, "contests/a", "helper")
    assert course.delete("account/roles/contests/a", user="hilda").status_code == 204
    assert course.delete("account/roles/contests/a", user="hilda").status_code == 404
    assert accept(course).status_code == 404
    assert set(roles(course)) == {"staff"}
    assert "ilda" not in course.get("contests/a/audit", user="staff").text


def test_accepting_is_in_the_contests_audit_log_also_for_a_teams_account(course: Api) -> None:
    grant(course, "contests/a", "other")
    assert accept(course, "other").json()["rests"] is True, "its team competes with the problem in contest b"
    newest = course.get("contests/a/audit", user="staff").json()[0]
    assert (newest["operation"], newest["account_id"], newest["contest_id"]) == ("accept_role", "other", "a")


@pytest.mark.parametrize("kind", ["contests", "problems"])
def test_unknown_invitations_and_those_of_others_are_refused_alike(course: Api, kind: str) -> None:
    """So is a role that is in effect: nobody declines it, and nobody learns of it."""
    place = next(each for each in INVITATIONS if each.startswith(kind))
    grant(course, place, "helper")
    for method in ("PUT", "DELETE"):
        replies = [
            (reply.status_code, reply.json()["message"].replace(asked, "X"))
            for user, asked in (("team", place), ("staff", place), ("team", f"{kind}/nothing"))
            for reply in [course.request(method, f"account/roles/{asked}", user=user)]
        ]
        assert {code for code, _ in replies} == {404}
        assert len(set(replies)) == 1
        assert course.request(method, f"account/roles/{place}").status_code == 401
    assert roles(course, place) == {"staff": ("owner", False), "helper": ("judge", True)}


def test_a_role_is_in_effect_at_once_within_reach_and_by_an_admin(course: Api) -> None:
    team = {"id": "own", "name": "Own"}
    account = {"username": "own", "type": "team", "team_id": "own", "password": STRONG}
    assert course.post("teams?contest_id=a", user="staff", json=team).is_success
    assert course.post("accounts", user="staff", json=account).status_code == 201
    assert grant(course, "contests/a", "own").json()["pending"] is False
    assert grant(course, "contests/a", "helper").json()["pending"] is True
    assert grant(course, "contests/a", "helper", "owner").json()["pending"] is True
    assert course.get("account/roles", user="hilda").json()[0]["role"] == "owner"
    granted = grant(course, "contests/a", "helper", "owner", user="admin").json()
    assert (granted["pending"], granted["granted_by"], granted["name"]) == (False, "admin", "Hilda H.")
    assert course.get("account/roles", user="hilda").json() == []
    assert grant(course, "contests/a", "helper").json()["pending"] is False, "an owner may take rights back at once"
    assert course.get("contests/a/audit", user="hilda").status_code == 403


def test_an_invitation_ends_no_stream_and_no_login_and_an_accepted_role_those_of_its_contest(course: Api) -> None:
    token = course.post("account/tokens", user="hilda", json={}).json()["token"]
    with (
        open_stream(course, "contests/a/event-feed", user="hilda") as here,
        open_stream(course, "contests/b/event-feed", user="hilda") as elsewhere,
    ):
        here.wait_for(1)
        elsewhere.wait_for(1)
        grant(course, "contests/a", "helper", "owner")
        assert course.patch("contests/a", user="admin", json={"name": "Renamed"}).status_code == 200
        here.wait(lambda: "Renamed" in str(here.events()))
        assert not here.ended
        assert accept(course).status_code == 200
        here.wait(lambda: here.ended)
        assert course.patch("contests/b", user="admin", json={"name": "Renamed"}).status_code == 200
        elsewhere.wait(lambda: "Renamed" in str(elsewhere.events()))
        assert not elsewhere.ended
    assert course.get("account", headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_an_invitation_takes_no_account_away_from_other_owners_and_contests(course: Api) -> None:
    """Owners of b look after the account `bees` and see `helper`, also while the owner of a invites them."""
    assert grant(course, "contests/b", "judge", "owner", user="admin").status_code == 200
    assert course.post("teams?contest_id=b", user="judge", json={"id": "bees", "name": "Bees"}).is_success
    account = {"username": "bees", "type": "team", "team_id": "bees", "password": STRONG}
    assert course.post("accounts", user="judge", json=account).status_code == 201
    before = course.get("contests/b/accounts", user="judge").json()
    assert "helper" in {each["id"] for each in before}
    for name in ("bees", "helper"):
        assert grant(course, "contests/a", name, "owner").json()["pending"] is True
    assert course.get("contests/b/accounts", user="judge").json() == before
    assert course.patch("accounts/bees", user="judge", json={"name": "The Bees"}).status_code == 200
    assert accept(course).status_code == 200
    assert "helper" not in {each["id"] for each in course.get("contests/b/accounts", user="judge").json()}
