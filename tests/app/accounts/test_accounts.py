"""Accounts are made one by one or many at once, all or none; passwords go in and never come out."""

from __future__ import annotations

from typing import Any

import pytest

from app.tables import AccountRow
from tests.builders.examples import sqlite_first
from tests.builders.service import PASSWORD, Api

TSV = {"Content-Type": "text/tab-separated-values"}


def ids(api: Api) -> set[str]:
    """The ids of all accounts but those every test has."""
    return {account["id"] for account in api.get("accounts", user="judge").json()} - {
        "admin",
        "judge",
        "team",
        "other",
        "staff",
    }


@sqlite_first
def test_an_account_that_was_made_logs_in(api: Api) -> None:
    body = {"id": "j-1", "username": "José Judge", "password": "pw: xxxxxxxxx", "type": "judge", "ip": None}
    made = api.post("accounts", user="admin", json=body)
    assert made.status_code == 201, made.text
    assert made.headers["Location"] == "/api/accounts/j-1"
    assert made.json() == {
        "id": "j-1",
        "username": "José Judge",
        "name": "José Judge",
        "type": "judge",
        "team_id": None,
        "person_id": None,
    }
    assert api.get("account", auth=("José Judge", "pw: xxxxxxxxx")).json() == made.json()


@sqlite_first
def test_a_password_is_kept_as_a_hash(api: Api) -> None:
    api.post("accounts", user="admin", json={"username": "j", "password": "hunter of moose", "type": "judge"})
    with api.service.database.read() as session:
        row = session.get(AccountRow, "j")
    assert row is not None
    assert str(row.password_hash).startswith("$argon2id$")


@sqlite_first
def test_accounts_come_as_tab_separated_lines(api: Api) -> None:
    api.post("teams", user="admin", json=[{"id": "1", "name": "One"}, {"id": "22", "name": "Two"}])
    lines = [
        "accounts\t1",
        "team\tTeam One\tteam-001\tlong secret",
        "team\t\tteam22\tanother one\t",
        "jury\tJ\tjudy\tlong secret",
    ]
    made = api.post("accounts", user="admin", content="\n".join(lines), headers=TSV)
    assert made.status_code == 201, made.text
    assert [(a["id"], a["type"], a["team_id"]) for a in made.json()] == [
        ("team-001", "team", "1"),
        ("team22", "team", "22"),
        ("judy", "judge", None),
    ]
    assert api.get("account", auth=("team-001", "long secret")).json()["team_id"] == "1"


def test_every_fault_of_an_import_is_listed_and_nothing_is_kept(quick_api: Api) -> None:
    sent: list[Any] = [
        {"username": "good", "type": "judge", "password": "long enough"},
        {"username": "no:colon", "type": "judge"},
        {"username": "with space", "type": "judge"},
        {"username": "t", "type": "team"},
        {"username": "j", "type": "judge", "team_id": "team"},
        {"username": "z", "type": "wizard"},
        {"username": "k", "type": "judge", "password": ""},
    ]
    refused = quick_api.post("accounts", user="admin", json=sent)
    assert refused.status_code == 400
    assert [fault["where"] for fault in refused.json()["errors"]] == [
        "[1].username",
        "[2].id",
        "[3].team_id",
        "[4].team_id",
        "[5].type",
        "[6].password",
    ]
    assert ids(quick_api) == set()


@sqlite_first
def test_every_link_to_nothing_is_listed(api: Api) -> None:
    sent = [{"username": name, "type": "team", "team_id": f"none-{name}"} for name in "ab"]
    refused = api.post("accounts", user="admin", json=sent)
    assert refused.status_code == 400
    assert [fault["where"] for fault in refused.json()["errors"]] == ["[0].team_id", "[1].team_id"]


@sqlite_first
def test_ids_and_usernames_are_given_once(api: Api) -> None:
    sent = [
        {"username": "judge", "type": "judge"},
        {"id": "j2", "username": "judge", "type": "judge"},
        {"id": "j3", "username": "new", "type": "judge"},
        {"id": "j4", "username": "new", "type": "judge"},
    ]
    refused = api.post("accounts", user="admin", json=sent)
    assert refused.status_code == 409
    assert [fault["where"] for fault in refused.json()["errors"]] == ["[0].id", "[1].username", "[3].username"]
    assert ids(api) == set()


@sqlite_first
def test_a_replaced_account_keeps_its_password_unless_it_gets_one(api: Api) -> None:
    body = {"username": "judge", "type": "judge", "name": "The Judge"}
    assert api.post("accounts?replace=true", user="admin", json=[body]).json()[0]["name"] == "The Judge"
    assert api.get("account", user="judge").json()["name"] == "The Judge"
    put = api.put("accounts/judge", user="admin", json={**body, "id": "judge", "password": "new and long"})
    assert put.status_code == 200
    assert api.get("account", auth=("judge", PASSWORD)).status_code == 401
    assert api.get("account", auth=("judge", "new and long")).status_code == 200


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"type": "judge"}, 400),
        ({"team_id": None}, 400),
        ({"team_id": "none"}, 400),
        ({"username": None}, 400),
        ({"username": "judge"}, 409),
        ({"id": "another"}, 409),
        ({"type": "judge", "team_id": None}, 200),
        ({"username": "renamed", "name": "R"}, 200),
        ({"team_id": "other"}, 200),
    ],
)
def test_a_change_must_leave_a_whole_account(quick_api: Api, change: dict[str, Any], code: int) -> None:
    assert quick_api.patch("accounts/team", user="admin", json=change).status_code == code


@sqlite_first
def test_the_last_admin_stays_one(api: Api) -> None:
    refused = [
        api.delete("accounts/admin", user="admin"),
        api.patch("accounts/admin", user="admin", json={"type": "judge"}),
        api.post("accounts?replace=true", user="admin", json=[{"username": "admin", "type": "staff"}]),
    ]
    assert [each.status_code for each in refused] == [409, 409, 409]
    api.post("accounts", user="admin", json={"username": "second", "type": "admin", "password": "long enough"})
    assert api.delete("accounts/admin", user="admin").status_code == 204


@sqlite_first
def test_an_account_is_deleted_once(api: Api) -> None:
    assert api.delete("accounts/staff", user="admin").status_code == 204
    assert api.delete("accounts/staff", user="admin").status_code == 404


@sqlite_first
def test_a_contest_shows_everybody_their_own_account_and_judges_all(api: Api) -> None:
    api.post("contests", user="admin", json={"id": "c", "name": "C", "duration": "1:00:00"})
    api.post("contests/c/teams", user="admin", json={"team_ids": ["team"]})
    seen = {
        user: {account["id"] for account in api.get("contests/c/accounts", user=user).json()}
        for user in ("team", "other", "judge")
    }
    assert api.get("contests/c/accounts").status_code == 404
    assert seen == {"team": {"team"}, "other": {"other"}, "judge": {"admin", "judge", "staff", "team"}}
    assert api.get("contests/c/accounts/judge", user="team").status_code == 404
    assert [a["id"] for a in api.get("contests/c/accounts?team_id=team", user="judge").json()] == ["team"]
    assert {a["id"] for a in api.get("contests/c/accounts?team_id=", user="judge").json()} == {
        "admin",
        "judge",
        "staff",
    }


@sqlite_first
def test_a_contest_says_who_asks(api: Api) -> None:
    api.post("contests", user="admin", json={"id": "c", "name": "C", "duration": "1:00:00"})
    assert api.get("contests/c/account", user="team").json()["id"] == "team"
    assert api.get("contests/c/account").status_code == 404


def test_an_admin_gives_an_account_another_password_which_is_shown_once(api: Api) -> None:
    token = api.post("account/tokens", user="team", json={}).json()["token"]
    made = api.post("accounts/team/password", user="admin")
    assert (made.status_code, made.headers["cache-control"]) == (201, "no-store")
    assert api.get("account", auth=("team", made.json()["password"])).status_code == 200
    assert api.get("account", user="team").status_code == 401
    assert api.get("account", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    assert api.post("accounts/nobody/password", user="admin").status_code == 404
    assert api.post("accounts/admin/password", user="judge").status_code == 403
