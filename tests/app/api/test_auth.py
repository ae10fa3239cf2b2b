"""Who may log in, how, and for how long."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.api import auth, tokens
from app.api.clics import format_time
from app.api.limits import LoginLimit
from app.storage.tables import TokenRow
from tests.builders.service import PASSWORD, Api


def as_bearer(token: str) -> dict[str, str]:
    """The header of a token."""
    return {"Authorization": f"Bearer {token}"}


def make_token(api: Api, user: str, **properties: Any) -> Any:
    """Make a token of an account."""
    made = api.post("account/tokens", user=user, json=properties)
    assert made.status_code == 201, made.text
    return made.json()


def test_a_password_logs_in(api: Api) -> None:
    assert api.get("account", user="team").json() == {
        "id": "team",
        "username": "team",
        "name": "team",
        "type": "team",
        "team_id": "team",
        "person_id": None,
    }


def test_nobody_is_nobody(api: Api) -> None:
    refused = api.get("account")
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"].startswith("Basic realm=")


def encoded(text: bytes) -> str:
    """An Authorization header of HTTP Basic."""
    return f"Basic {base64.b64encode(text).decode()}"


@pytest.mark.parametrize(
    "header",
    [
        encoded(b"team:wrong"),
        encoded(b"nobody:" + PASSWORD.encode()),
        encoded(b"team"),
        encoded(b"te\0am:x"),
        encoded(b"\xff:x"),
        "Basic ???",
        "Basic \xff\xfe",
        "Basic",
        "Bearer none",
        "Bearer",
        "Digest x",
        "",
    ],
)
def test_wrong_credentials_are_refused_even_where_nobody_has_to_log_in(api: Api, header: str) -> None:
    refused = api.get("contests", headers={"Authorization": header.encode("latin-1")})
    assert refused.status_code == refused.json()["code"] == 401
    assert refused.headers["WWW-Authenticate"].startswith("Basic")


def test_an_account_without_a_password_logs_in_with_none(api: Api) -> None:
    assert api.post("accounts", user="admin", json={"username": "new", "type": "judge"}).status_code == 201
    assert api.get("contests", auth=("new", "")).status_code == 401


def test_a_token_stands_for_its_account(api: Api) -> None:
    made = make_token(api, "judge", label="my script")
    assert api.get("account", headers=as_bearer(made["token"])).json()["id"] == "judge"
    listed = api.get("account/tokens", user="judge").json()
    assert listed == [{"id": made["id"], "label": "my script", "created": made["created"], "expires": None}]
    assert api.get("account/tokens", user="admin").json() == []


def test_a_token_is_kept_as_nothing_that_could_be_used(api: Api) -> None:
    token = make_token(api, "judge")["token"]
    with api.service.database.read() as session:
        row = session.query(TokenRow).one()
    assert token not in {row.digest, row.label}
    assert row.digest == auth.digest(token)


def test_a_token_taken_back_is_of_no_use_at_once(api: Api) -> None:
    first, second = make_token(api, "judge"), make_token(api, "judge")
    assert api.get("account", headers=as_bearer(first["token"])).status_code == 200
    assert api.delete(f"account/tokens/{first['id']}", user="team").status_code == 404, "it is not theirs"
    assert api.delete(f"account/tokens/{first['id']}", user="judge").status_code == 204
    assert api.delete(f"account/tokens/{first['id']}", user="judge").status_code == 404
    assert api.get("account", headers=as_bearer(first["token"])).status_code == 401
    assert api.get("account", headers=as_bearer(second["token"])).status_code == 200
    assert api.delete("account/tokens", headers=as_bearer(second["token"])).status_code == 204
    assert api.get("account", headers=as_bearer(second["token"])).status_code == 401


def test_a_token_ends_when_it_should(api: Api) -> None:
    past = format_time(datetime.now(UTC) - timedelta(seconds=1))
    assert api.post("account/tokens", user="judge", json={"expires": past}).status_code == 400
    made = make_token(api, "judge", expires=format_time(datetime.now(UTC) + timedelta(hours=1)))
    assert api.get("account", headers=as_bearer(made["token"])).status_code == 200
    with api.service.database.write() as session:
        session.query(TokenRow).one().expires = datetime.now(UTC) - timedelta(seconds=1)
    api.app.state.authenticator.forget()
    assert api.get("account", headers=as_bearer(made["token"])).status_code == 401


def test_a_changed_password_is_the_only_one_at_once(api: Api) -> None:
    assert api.get("account", user="team").status_code == 200
    assert api.patch("accounts/team", user="admin", json={"password": "another one"}).status_code == 200
    assert api.get("account", user="team").status_code == 401
    assert api.get("account", auth=("team", "another one")).status_code == 200


def test_a_deleted_account_is_nobody_at_once_and_so_are_its_tokens(api: Api) -> None:
    token = make_token(api, "staff")["token"]
    assert api.get("account", user="staff").status_code == 200
    assert api.get("account", headers=as_bearer(token)).status_code == 200
    assert api.delete("accounts/staff", user="admin").status_code == 204
    assert api.get("account", user="staff").status_code == 401
    assert api.get("account", headers=as_bearer(token)).status_code == 401


def test_what_was_read_before_a_change_is_not_remembered_after_it(
    quick_api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    authenticator = quick_api.app.state.authenticator
    check = authenticator._check

    async def slow_check(header: str, address: str) -> Any:
        found = await check(header, address)
        authenticator.forget()
        return found

    monkeypatch.setattr(authenticator, "_check", slow_check)
    assert quick_api.get("account", user="team").status_code == 200
    assert authenticator._known == {}


def test_guessing_is_slowed_down_and_those_who_are_logged_in_do_not_notice(quick_api: Api) -> None:
    assert quick_api.get("account", user="team").status_code == 200
    codes = [quick_api.get("account", auth=("team", f"guess {at}")).status_code for at in range(12)]
    assert codes == [401] * 10 + [429] * 2
    blocked = quick_api.get("account", auth=("team", "guess"))
    assert 0 < int(blocked.headers["Retry-After"]) <= 61
    assert quick_api.get("account", user="team").status_code == 200, "remembered"
    assert quick_api.get("account", user="other").status_code == 200, "another account from the same address"


def test_one_address_may_not_try_every_account() -> None:
    limit = LoginLimit(account="10/minute", address="3/minute")
    for at in range(3):
        limit.check(f"user{at}", "192.0.2.1")
        limit.failed(f"user{at}", "192.0.2.1")
    with pytest.raises(auth.Unauthorized.__mro__[1]) as refused:
        limit.check("user9", "192.0.2.1")
    assert refused.value.status_code == 429
    limit.check("user9", "192.0.2.2")


def test_an_account_has_only_so_many_tokens(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST", 2)
    first = make_token(api, "team")
    make_token(api, "team")
    assert api.post("account/tokens", user="team", json={}).status_code == 409
    assert api.delete(f"account/tokens/{first['id']}", user="team").status_code == 204
    make_token(api, "team")
