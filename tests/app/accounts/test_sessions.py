"""Sessions of browsers: a login on a page, what it may do, and how it ends."""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.accounts.service.tokens import MOST_SESSIONS
from tests.builders.contests import add_contest, add_problem
from tests.builders.examples import rule_cases, sqlite_first
from tests.builders.service import PASSWORD, Api, open_api

COOKIE = "jurado_session"


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """A running contest, and people who can log in."""
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        yield api


def log_in(api: Api, username: str = "team", password: str = PASSWORD, **more: str) -> httpx.Response:
    return api.post("/login", data={"username": username, "password": password, **more})


def session_of(reply: httpx.Response) -> dict[str, Any]:
    return {"headers": {"Cookie": f"{COOKIE}={reply.cookies[COOKIE]}"}}


@sqlite_first
def test_a_login_leads_back_and_the_cookie_is_kept_from_scripts_and_foreign_requests(api: Api) -> None:
    reply = log_in(api, next="/c/c/answers")
    assert (reply.status_code, reply.headers["Location"]) == (303, "/c/c/answers")
    attributes = reply.headers["Set-Cookie"].lower()
    assert "httponly" in attributes
    assert "samesite=lax" in attributes
    api.client.cookies.clear()
    assert api.get("/c/c/answers", **session_of(reply)).status_code == 200
    assert api.get("account", **session_of(reply)).json()["username"] == "team"


@rule_cases(
    "address",
    [
        "https://evil.test/",
        "//evil.test/",
        "/\\evil.test",
        "javascript:alert(1)",
        "http:evil",
        "/a\r\nSet-Cookie: x=y",
        "",
    ],
)
def test_a_login_never_leads_to_another_site(api: Api, address: str) -> None:
    reply = log_in(api, next=address)
    assert reply.headers["Location"] == "/"


@sqlite_first
def test_a_wrong_password_shows_the_form_again_with_the_username_and_no_password(api: Api) -> None:
    reply = log_in(api, password="not this one")
    assert reply.status_code == 401
    assert 'value="team"' in reply.text
    assert "not this one" not in reply.text
    assert COOKIE not in reply.cookies


@sqlite_first
def test_a_login_leads_back_to_the_page_with_its_query_string(api: Api) -> None:
    asked = "/c/c/answers?problem=echo&note=50%25%20%26%20more"
    redirect = api.get(asked)
    assert redirect.status_code == 303
    form = api.get(redirect.headers["Location"])
    next_ = re.search(r'name="next" value="([^"]*)"', form.text)
    assert next_ is not None
    assert log_in(api, next=html.unescape(next_[1])).headers["Location"] == asked


@sqlite_first
def test_a_logout_ends_the_session_on_the_server(api: Api) -> None:
    session = session_of(log_in(api))
    api.client.cookies.clear()
    assert api.post("/logout", **session).status_code == 303
    api.client.cookies.clear()
    assert api.get("account", **session).status_code == 401
    assert api.get("/c/c/answers", **session).status_code == 303
    assert api.get("/c/c/scoreboard", **session).status_code == 200, "an ended session reads as everybody does"


@sqlite_first
def test_pages_of_other_sites_change_nothing_with_the_cookie(api: Api) -> None:
    session = session_of(log_in(api))
    api.client.cookies.clear()
    for sent in ({"Origin": "https://evil.test"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        headers = {**session["headers"], **sent}
        assert api.post("/logout", headers=headers).status_code == 403
        assert api.post("/c/c/answers", headers=headers).status_code == 403
        assert api.post("contests/c/clarifications", headers=headers, json={"text": "hi"}).status_code == 403
    assert api.get("account", **session).status_code == 200
    ours = {**session["headers"], "Origin": "http://jurado.test"}
    assert api.post("/logout", headers=ours).status_code == 303


@sqlite_first
def test_a_header_goes_before_the_cookie(api: Api) -> None:
    session = session_of(log_in(api))
    api.client.cookies.clear()
    assert api.get("account", user="admin", **session).json()["username"] == "admin"


@rule_cases("cookie", ["", "nothing", "a" * 5000, "\xe4", '"', "x; jurado_session=y"])
def test_a_strange_cookie_is_nobodys(api: Api, cookie: str) -> None:
    headers = {b"Cookie": f"{COOKIE}={cookie}".encode("latin-1")}
    assert api.get("/c/c", headers=headers).status_code == 200
    assert api.get("/c/c/answers", headers=headers).status_code == 303


@sqlite_first
def test_old_sessions_of_an_account_end_when_there_are_too_many(api: Api) -> None:
    first = session_of(log_in(api))
    for _ in range(MOST_SESSIONS):
        last = session_of(log_in(api))
    api.client.cookies.clear()
    assert api.get("account", **first).status_code == 401
    assert api.get("account", **last).status_code == 200
    labels = [token["label"] for token in api.get("account/tokens", **last).json()]
    assert labels == ["browser"] * MOST_SESSIONS


@rule_cases("body", [b"\xff=1", b"username=%00&password=x", b"a" * 200_000])
def test_a_damaged_form_is_refused_with_a_page(api: Api, body: bytes) -> None:
    reply = api.post("/login", content=body, headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert reply.status_code in {400, 413}
    assert "<h1>" in reply.text


@sqlite_first
def test_answers_sent_from_the_page_are_stored_and_lead_to_their_report(api: Api) -> None:
    session = session_of(log_in(api))
    api.client.cookies.clear()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("02.out", "2\n")
        written.writestr("notes.md", "nothing")
    files = {"files": ("answers.zip", archive.getvalue())}
    reply = api.post("/c/c/answers", data={"problem_id": "echo"}, files=files, **session)
    assert reply.status_code == 303
    report = api.get(reply.headers["Location"], **session).text
    assert "Waiting to be judged" in report
    assert "notes.md" in report
    refused = api.post("/c/c/answers", data={"problem_id": "nothing"}, files=files, **session)
    assert refused.status_code == 404
    assert "<h1>" in refused.text
    assert api.post("/c/c/answers", data={"problem_id": "echo"}, files=files).status_code == 303


@sqlite_first
def test_a_change_of_the_password_on_the_page_ends_all_other_sessions(api: Api) -> None:
    one, other = session_of(log_in(api)), session_of(log_in(api))
    api.client.cookies.clear()
    assert "browser" in api.get("/account", **one).text
    fields = {"old_password": PASSWORD, "password": "larch-wood-ferry", "again": "larch-wood-ferry"}
    for wrong in (
        {"old_password": "not it at all"},
        {"again": "larch-wood-ferri"},
        {"password": "team", "again": "team"},
    ):
        assert api.post("/account", data={**fields, **wrong}, **one).status_code in {400, 403}
    reply = api.post("/account", data=fields, **one)
    assert (reply.status_code, reply.headers["Location"]) == (303, "/account?done=password")
    assert "Password changed" in api.get("/account?done=password", **one).text
    assert api.get("/account", **other).status_code == 303
    assert api.get("account", **one).status_code == 200


ORIGIN = {"Origin": "http://jurado.test"}


@sqlite_first
def test_a_token_is_made_on_the_page_shown_once_and_taken_back(api: Api) -> None:
    made = api.post("/account/tokens", user="team", data={"label": "bot <b>", "days": "30"}, headers=ORIGIN)
    assert (made.status_code, made.headers["Cache-Control"]) == (200, "private, no-store")
    token = re.search(r'<code class="wrapped">([\w-]{40,})</code>', made.text)
    assert token is not None
    bearer = {"Authorization": f"Bearer {token[1]}"}
    assert api.get("account", headers=bearer).json()["username"] == "team"
    account = api.get("/account", user="team").text
    assert "bot &lt;b&gt;" in account
    assert token[1] not in account
    (known,) = api.get("account/tokens", user="team").json()
    assert known["expires"] is not None
    place, sure = f"/account/tokens/{known['id']}/revoke", {"sure": "yes"}
    assert api.post(place, user="other", headers=ORIGIN, data=sure).status_code == 404
    assert api.post(place, user="team", headers={"Origin": "https://evil.test"}).status_code == 403
    assert api.post(place, user="team", headers=ORIGIN, data=sure).headers["Location"] == "/account"
    assert api.get("account", headers=bearer).status_code == 401


@sqlite_first
@pytest.mark.parametrize(
    ("fields", "fault"),
    [({}, "label"), ({"label": "browser"}, "label"), ({"label": "x", "days": "soon"}, "days")],
)
def test_a_token_without_a_purpose_or_with_an_odd_end_is_refused_and_nobody_makes_one_without_a_login(
    api: Api, fields: dict[str, str], fault: str
) -> None:
    refused = api.post("/account/tokens", user="team", data=fields, headers=ORIGIN)
    assert (refused.status_code, f'id="wrong-{fault}">Expected' in refused.text or "Required" in refused.text) == (
        400,
        True,
    )
    assert api.get("account/tokens", user="team").json() == []
    assert api.post("/account/tokens", data={"label": "x"}).headers["Location"].startswith("/login")
