"""Who may log in, how, and for how long."""

from __future__ import annotations

import asyncio
import base64
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.accounts.service import tokens, viewer
from app.accounts.service import viewer as service_viewer
from app.accounts.service.grants import Guesses
from app.archive.commands.places import read_settings, try_places
from app.core.clics import format_time
from app.core.commands.output import Failure
from app.core.http.auth import LONGEST_USERNAME
from app.core.load import Turns, source_of
from app.core.messages import TooManyRequests
from app.core.passwords import weakness
from app.core.settings import Settings
from app.operations.service.bootstrap import initialise, make_admin
from app.packages.catalog import VARIABLE
from app.tables import TokenRow
from tests.builders.examples import rule_cases
from tests.builders.packages import write_problems
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


@rule_cases(
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
    assert [(each["id"], each["label"], each["expires"]) for each in listed] == [(made["id"], "my script", None)]
    assert api.get("account/tokens", user="admin").json() == []


def test_a_token_is_kept_as_nothing_that_could_be_used(api: Api) -> None:
    token = make_token(api, "judge")["token"]
    with api.service.database.read() as session:
        row = session.query(TokenRow).one()
    assert token not in {row.digest, row.label}
    assert row.digest == viewer.digest(token)


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
    assert not any(map(authenticator._holds, authenticator._known.values()))


def test_who_comes_after_a_change_waits_for_no_check_that_began_before_it(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow check of the old password lets in no one who comes once there is a new one."""
    authenticator = api.app.state.authenticator
    check, joined = authenticator._check, authenticator._checks.joined
    checked, come, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow_check(header: str, address: str) -> Any:
        viewer = await check(header, address)
        checked.set()
        await go_on.wait()
        return viewer

    async def noted(*arguments: Any) -> Any:
        if checked.is_set():
            come.set()
        return await joined(*arguments)

    async def play() -> tuple[int, int]:
        auth = ("team", PASSWORD)
        early = asyncio.create_task(api.client.get("/api/account", auth=auth))
        await checked.wait()
        changed = {"password": "quite another phrase"}
        reply = await api.client.patch("/api/accounts/team", auth=("admin", PASSWORD), json=changed)
        assert reply.status_code == 200, reply.text
        late = asyncio.create_task(api.client.get("/api/account", auth=auth))
        await come.wait()
        go_on.set()
        return (await early).status_code, (await late).status_code

    assert api.get("account", user="admin").status_code == 200, "known before, and not held up"
    monkeypatch.setattr(authenticator, "_check", slow_check)
    monkeypatch.setattr(authenticator._checks, "joined", noted)
    assert api.portal.call(play) == (200, 401)


def test_wrong_passwords_refuse_nobody_who_knows_the_right_one(quick_api: Api) -> None:
    """Not after many guesses of the name from the same address, nor after many invented names."""
    quick_api.app.state.authenticator.guesses = Guesses(10, 0.01)
    codes = {quick_api.get("account", auth=("other", f"guess {at}")).status_code for at in range(15)}
    codes |= {quick_api.get("account", auth=(f"nobody{at}", "guess")).status_code for at in range(15)}
    assert codes == {401}
    for user in ("other", "judge", "staff"):
        assert quick_api.get("account", user=user).status_code == 200


def test_after_many_wrong_passwords_each_further_one_keeps_the_accounts_turn(quick_api: Api) -> None:
    """And no account's but its own; a right one gives the turn back at once."""
    guesses = Guesses(2, 3600.0)
    order: list[str] = []

    async def guess(username: str, source: str, *, failed: bool) -> None:
        async with guesses.turn(username, source) as attempt:
            order.append(f"{username} of {source}")
            attempt.failed = failed

    async def scene() -> None:
        await guess("ann", "a", failed=True)
        for _ in range(3):
            await guess("bob", "a", failed=False)
        await guess("ann", "a", failed=True)
        waiting = asyncio.create_task(guess("ann", "a", failed=False))
        await guess("bob", "a", failed=False)
        assert not waiting.done(), "the second wrong one keeps it for an hour"
        waiting.cancel()

    quick_api.portal.call(scene)
    assert order == ["ann of a", *["bob of a"] * 3, "ann of a", "bob of a"]


def test_turns_go_round_over_those_who_ask_and_only_so_many_of_one_wait() -> None:
    order: list[str] = []

    async def scene() -> None:
        turns = Turns(1, 3)

        async def ask(asker: str, name: str) -> None:
            await turns.take(asker)
            order.append(name)
            turns.leave()

        await turns.take("guesser")
        tasks = [asyncio.create_task(ask("guesser", f"guess {at}")) for at in range(3)]
        tasks.append(asyncio.create_task(ask("honest", "right")))
        await asyncio.sleep(0)
        with pytest.raises(TooManyRequests):
            await turns.take("guesser")
        tasks[1].cancel()
        turns.leave()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert turns.idle

    asyncio.run(scene())
    assert order == ["guess 0", "right", "guess 2"]


def test_a_header_that_was_good_is_never_hashed_again_until_its_account_changes(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert api.get("account", user="team").status_code == 200
    api.app.state.authenticator.forget()
    monkeypatch.setattr(service_viewer, "password_fits", lambda *_: False)
    assert api.get("account", user="team").status_code == 200


def test_a_username_longer_than_any_is_not_remembered(quick_api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand of them a minute, of a hundred thousand characters each, would take a hundred megabytes."""
    checked: list[str] = []

    def fits(password: str, _kept: str) -> bool:
        checked.append(password)
        return False

    monkeypatch.setattr(service_viewer, "password_fits", fits)
    for length, checks in ((LONGEST_USERNAME, 1), (LONGEST_USERNAME + 1, 1), (60_000, 1)):
        assert quick_api.get("account", auth=("n" * length, PASSWORD)).status_code == 401
        assert len(checked) == checks, length


def test_requests_that_come_at_once_with_one_login_check_it_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    monkeypatch.setattr(
        service_viewer, "password_fits", lambda password, kept: checked.append(password) or password == PASSWORD
    )

    async def at_once() -> set[int]:
        replies = [api.client.get("/api/account", auth=("team", PASSWORD)) for _ in range(30)]
        return {reply.status_code for reply in await asyncio.gather(*replies)}

    assert api.portal.call(at_once) == {200}
    assert checked == [PASSWORD]


@pytest.mark.parametrize(
    ("address", "source"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::4", "2001:db8:1:3::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("somewhere", "somewhere"),
    ],
)
def test_addresses_of_ipv6_are_counted_by_their_64_bits(address: str, source: str) -> None:
    assert source_of(address) == source


def test_all_other_tokens_are_taken_back_at_once(api: Api) -> None:
    """The list says which one the request was sent with; with a password it is none, and all are others."""
    mine, other = make_token(api, "judge"), make_token(api, "judge")
    make_token(api, "team")
    listed = api.get("account/tokens", headers=as_bearer(mine["token"])).json()
    assert {each["id"]: each["current"] for each in listed} == {mine["id"]: True, other["id"]: False}
    assert api.delete("account/tokens?others=true", headers=as_bearer(mine["token"])).status_code == 204
    assert api.get("account", headers=as_bearer(other["token"])).status_code == 401
    assert [each["id"] for each in api.get("account/tokens", headers=as_bearer(mine["token"])).json()] == [mine["id"]]
    assert api.delete("account/tokens?others=true", user="judge").status_code == 204
    assert api.get("account", headers=as_bearer(mine["token"])).status_code == 401
    assert len(api.get("account/tokens", user="team").json()) == 1


@pytest.mark.parametrize("way", ["PATCH", "PUT", "import"])
def test_a_new_password_takes_the_accounts_tokens_back(api: Api, way: str) -> None:
    token, others = make_token(api, "staff")["token"], make_token(api, "judge")["token"]
    assert api.get("account", headers=as_bearer(token)).status_code == 200
    body = {"id": "staff", "username": "staff", "type": "staff", "password": "another long one"}
    if way == "import":
        changed = api.post("accounts?replace=true", user="admin", json=[body])
    else:
        changed = api.request(way, "accounts/staff", user="admin", json=body)
    assert changed.status_code in {200, 201}, changed.text
    assert api.get("account", headers=as_bearer(token)).status_code == 401
    assert api.get("account", headers=as_bearer(others)).status_code == 200
    api.patch("accounts/judge", user="admin", json={"name": "Judge Dee"}).raise_for_status()
    assert api.get("account", headers=as_bearer(others)).status_code == 200, "a name is no password"


def test_an_account_has_only_so_many_tokens(api: Api) -> None:
    with api.service.database.write() as session:
        for at in range(tokens.MOST - 2):
            session.add(TokenRow(digest=f"{at:064}", account_id="team", created=datetime.now(UTC), expires=None))
    first = make_token(api, "team")
    make_token(api, "team")
    assert api.post("account/tokens", user="team", json={}).status_code == 409
    assert api.delete(f"account/tokens/{first['id']}", user="team").status_code == 204
    make_token(api, "team")


@rule_cases(
    "password",
    [
        "short pw",
        "password123",
        "Password2026!",
        "qwertyuiop",
        "1234567890",
        "weakling-99",
        "abcabcabcabc",
        "aaaaaaaaaaaa",
    ],
)
def test_a_password_that_is_easy_to_guess_is_taken_at_no_door(api: Api, password: str, tmp_path: Path) -> None:
    make_token(api, "team")
    account = {"username": "weakling", "password": password, "type": "staff"}
    person = {"name": "Weakling", "password": password}
    for method, path, user, body in [
        ("POST", "accounts", "admin", account),
        ("POST", "accounts", "admin", [account]),
        ("PUT", "accounts/weakling", "admin", account),
        ("PATCH", "accounts/staff", "admin", {"username": "weakling", "password": password}),
        ("POST", "people", "admin", [person]),
        ("PATCH", "account", "team", {"old_password": PASSWORD, "password": password}),
    ]:
        if path == "account" and password.startswith("weakling"):
            continue  # it is not this one's name
        refused = api.request(method, path, user=user, json=body)
        assert refused.status_code == 400, f"{method} {path}: {refused.text}"
        assert "password" in refused.json()["message"]
        assert password not in refused.text
    if not password.startswith("weakling"):
        with pytest.raises(Failure, match="admin_password"):
            try_places(Settings(home=tmp_path / "new", admin_password=password))
        with api.service.database.write() as session, pytest.raises(ValueError, match="admin_password"):
            make_admin(session, password)
    assert api.get("accounts/weakling", user="admin").status_code == 404


def test_what_the_service_makes_is_for_its_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(write_problems(tmp_path / "problems")))
    before = os.umask(0o022)
    try:
        settings = read_settings(home=tmp_path / "home")
        try_places(settings)
        database, files = initialise(settings)
        files.keep(b"secret")
        database.close()
    finally:
        os.umask(before)
    made = [path for path in settings.home.rglob("*") if path.is_file()]
    assert "jurado.db" in {path.name for path in made}
    assert [path for path in (settings.home, *made) if path.stat().st_mode & 0o077] == []


@pytest.mark.parametrize("password", ["open sesame", "correct horse", "k7fmq-2xwrt-hn9bd", "anna likes tea"])
def test_a_password_may_be_a_phrase(password: str) -> None:
    assert weakness(password, "anna", "Anna Lind") is None


def test_everybody_changes_their_own_password_with_the_old_one(api: Api) -> None:
    """The tokens of the account are taken back, but for the one in use; sessions with the old password end."""
    used, other = make_token(api, "team"), make_token(api, "team")
    change = {"old_password": PASSWORD, "password": "another long one"}
    wrong = api.patch("account", headers=as_bearer(used["token"]), json={**change, "old_password": "a guess"})
    assert (wrong.status_code, "old_password" in wrong.json()["message"]) == (403, True)
    assert api.get("account", user="team").status_code == 200
    changed = api.patch("account", headers=as_bearer(used["token"]), json=change)
    assert (changed.status_code, changed.json()["id"]) == (200, "team")
    assert api.get("account", user="team").status_code == 401
    assert api.get("account", auth=("team", "another long one")).status_code == 200
    assert api.get("account", headers=as_bearer(other["token"])).status_code == 401
    assert api.get("account", headers=as_bearer(used["token"])).status_code == 200


def test_old_passwords_are_guessed_in_the_same_turns_as_at_the_door(quick_api: Api) -> None:
    token = make_token(quick_api, "team")["token"]
    guesses = quick_api.app.state.authenticator.guesses = Guesses(2, 0.0)
    for at in range(3):
        body = {"old_password": f"guess {at}", "password": "another long one"}
        assert quick_api.patch("account", headers=as_bearer(token), json=body).status_code == 403
    assert guesses.failures.reach(("account", "team"), 2)
