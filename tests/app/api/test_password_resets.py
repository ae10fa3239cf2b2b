"""Passwords that an admin resets: a new one that is shown once, or a code that its owner uses once."""

from __future__ import annotations

import httpx

from tests.builders.service import PASSWORD, Api

NEW = "open, poppy seeds"


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
