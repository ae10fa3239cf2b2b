"""Passwords that an admin resets: a new one that is shown once, or a code that its owner uses once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.builders.contests import add_contest, add_problem
from tests.builders.service import PASSWORD, Api

NEW = "open, poppy seeds"
TEAM = {"id": "team", "username": "team", "type": "team", "team_id": "team"}
CHANGES: dict[str, tuple[str, str, Any]] = {
    "password": ("PATCH", "accounts/team", {"password": "open, sunflower seeds"}),
    "type": ("PATCH", "accounts/team", {"type": "admin", "team_id": None}),
    "team": ("PATCH", "accounts/team", {"team_id": "other"}),
    "contest role": ("PUT", "contests/c/roles/team", {"role": "judge"}),
    "right to make contests": ("PUT", "organisers/team", None),
}


def use(api: Api, code: str, password: str = NEW, username: str = "team") -> httpx.Response:
    return api.post("account/password-reset", json={"username": username, "code": code, "password": password})


def test_an_admin_gives_an_account_another_password_which_is_shown_once(api: Api) -> None:
    token = api.post("account/tokens", user="team", json={}).json()["token"]
    made = api.post("accounts/team/password", user="admin")
    assert (made.status_code, made.headers["cache-control"]) == (201, "no-store")
    assert api.get("account", auth=("team", made.json()["password"])).status_code == 200
    assert api.get("account", user="team").status_code == 401
    assert api.get("account", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    assert api.post("accounts/nobody/password", user="admin").status_code == 404
    assert api.post("accounts/admin/password", user="judge").status_code == 403


def test_a_code_sets_a_password_once_and_the_old_one_is_good_until_then(api: Api) -> None:
    made = api.post("accounts/team/password-reset", user="admin", json={"hours": 1})
    assert (made.status_code, made.headers["cache-control"]) == (201, "no-store")
    code = made.json()["code"]
    assert api.get("account", user="team").status_code == 200
    weak = use(api, code, "team-team1")
    assert (weak.status_code, "password: expected" in weak.json()["message"]) == (400, True)
    assert use(api, code).status_code == 200
    assert api.get("account", user="team").status_code == 401
    assert api.get("account", auth=("team", NEW)).status_code == 200
    assert use(api, code, "open, pumpkin seeds").status_code == 403


def test_a_code_is_for_its_account_alone_and_a_newer_one_ends_it(quick_api: Api) -> None:
    first, second = (
        quick_api.post("accounts/team/password-reset", user="admin", json={}).json()["code"] for _ in range(2)
    )
    refusals = [use(quick_api, first), use(quick_api, second, username="other"), use(quick_api, second, username="x")]
    assert [each.status_code for each in refusals] == [403] * 3
    assert len({each.text for each in refusals}) == 1
    assert use(quick_api, second).status_code == 200
    assert quick_api.get("account", auth=("other", PASSWORD)).status_code == 200


def test_a_new_password_takes_codes_back(quick_api: Api) -> None:
    code = quick_api.post("accounts/team/password-reset", user="admin", json={}).json()["code"]
    assert quick_api.post("accounts/team/password", user="admin").status_code == 201
    assert use(quick_api, code).status_code == 403


def make_code(api: Api, user: str = "admin", account: str = "team") -> str:
    made = api.post(f"accounts/{account}/password-reset", user=user, json={})
    assert made.status_code == 201, made.text
    return str(made.json()["code"])


@pytest.mark.parametrize("what", sorted(CHANGES))
def test_a_change_of_password_type_team_or_role_revokes_codes(api: Api, what: str) -> None:
    """Changing the value back does not make a code valid again."""
    add_contest(api.service, problem_id=None)
    code = make_code(api)
    method, path, body = CHANGES[what]
    assert api.request(method, path, user="admin", json=body).status_code == 200
    if method == "PUT":
        assert api.delete(path, user="admin").status_code == 204
    elif what != "password":
        back = {"type": "team", "team_id": "team"}
        assert api.patch("accounts/team", user="admin", json=back).status_code == 200
    assert use(api, code).status_code == 403


PASSWORDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "replaced": ("PUT", "accounts/team", {"json": {**TEAM, "password": "open, sunflower seeds"}}),
    "imported": ("POST", "accounts?replace=true", {"json": [{**TEAM, "password": "open, sunflower seeds"}]}),
    "renewed": ("POST", "accounts?replace=true&renew_passwords=true", {"json": [TEAM]}),
    "in a class list": (
        "POST",
        "people?replace=true",
        {
            "content": "name,username,team,password\nTeam,team,team,open; sunflower seeds\n",
            "headers": {"Content-Type": "text/csv"},
        },
    ),
}


@pytest.mark.parametrize("way", sorted(PASSWORDS))
def test_every_way_to_set_a_password_revokes_codes(api: Api, way: str) -> None:
    code = make_code(api)
    method, path, body = PASSWORDS[way]
    assert api.request(method, path, user="admin", **body).is_success
    assert api.get("account", user="team").status_code == 401
    assert use(api, code).status_code == 403


def test_a_role_at_a_problem_revokes_codes(api: Api) -> None:
    add_problem(api.service)
    for method in ("PUT", "DELETE"):
        code = make_code(api)
        role = {"json": {"role": "judge"}} if method == "PUT" else {}
        assert api.request(method, "problems/echo/roles/team", user="admin", **role).is_success
        assert use(api, code).status_code == 403


def test_the_end_of_a_role_revokes_codes_also_when_its_contest_is_deleted(api: Api) -> None:
    add_contest(api.service, problem_id=None)
    for end in ("contests/c/roles/staff", "contests/c"):
        assert api.put("contests/c/roles/staff", user="admin", json={"role": "judge"}).status_code == 200
        code = make_code(api, account="staff")
        assert api.delete(end, user="admin").status_code == 204
        assert use(api, code, username="staff").status_code == 403


def test_a_change_of_the_own_password_revokes_codes(quick_api: Api) -> None:
    code = make_code(quick_api)
    own = {"old_password": PASSWORD, "password": "open, sunflower seeds"}
    assert quick_api.patch("account", user="team", json=own).status_code == 200
    assert use(quick_api, code).status_code == 403


def test_other_changes_of_an_account_leave_its_code_valid(quick_api: Api) -> None:
    code = make_code(quick_api)
    assert quick_api.patch("accounts/team", user="admin", json={"name": "The Team"}).status_code == 200
    assert use(quick_api, code).status_code == 200


def test_a_code_needs_an_issuer_who_could_issue_it_now(api: Api) -> None:
    account = {"username": "boss", "type": "admin", "password": "open, pumpkin seeds"}
    assert api.post("accounts", user="admin", json=account).status_code == 201
    boss = ("boss", account["password"])
    for end in (("PATCH", {"type": "judge"}), ("DELETE", None)):
        assert api.patch("accounts/boss", user="admin", json={"type": "admin"}).status_code == 200
        code = api.post("accounts/team/password-reset", auth=boss, json={}).json()["code"]
        method, body = end
        assert api.request(method, "accounts/boss", user="admin", json=body).status_code in {200, 204}
        assert use(api, code).status_code == 403


def test_the_audit_log_notes_who_issued_the_code_that_was_used_and_never_the_code(api: Api) -> None:
    code = make_code(api)
    assert use(api, code).status_code == 200
    (entry,) = api.get("audit?operation=change_forgotten_password", user="admin").json()
    assert (entry["account_id"], entry["credential"]) == ("team", "reset code of admin")
    (used,) = [each for each in entry["changes"]["objects"] if each["table"] == "password_resets"]
    assert (used["what"], used["before"]["issued_by"], used["before"]["account_id"]) == ("deleted", "admin", "team")
    assert {"created", "expires"} <= set(used["before"])
    assert code not in api.get("audit", user="admin").text


def test_a_code_is_valid_for_a_day_unless_asked_otherwise_and_for_a_week_at_most(quick_api: Api) -> None:
    for body, hours in (({}, 24), ({"hours": 168}, 168)):
        made = quick_api.post("accounts/team/password-reset", user="admin", json=body).json()
        left = datetime.fromisoformat(made["expires"]) - datetime.now(UTC)
        assert timedelta(hours=hours - 1) < left <= timedelta(hours=hours)
    refused = quick_api.post("accounts/team/password-reset", user="admin", json={"hours": 169})
    assert (refused.status_code, "hours" in refused.json()["message"], "168" in refused.json()["message"]) == (
        400,
        True,
        True,
    )
