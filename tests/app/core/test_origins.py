"""Pages of other origins: they read what is public, and change nothing with a password that a browser remembers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.core.settings import Settings
from tests.builders.service import Api, open_api

OURS = "http://jurado.test"
FRIEND = "https://board.example:8443"
FOREIGN = (
    "http://evil.example",
    "null",
    "http://jurado.test:81",
    "https://jurado.test.evil.example",
    "file://",
    "[",
    "",
)


@pytest.fixture
def trusting(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A client of an API whose settings name an origin and a proxy."""
    with open_api(
        sqlite_url, tmp_path / "home", allowed_origins=f" {FRIEND}, http://b.example", trusted_proxies="127.0.0.1"
    ) as api:
        yield api


@pytest.mark.parametrize("origin", FOREIGN)
@pytest.mark.parametrize(
    ("method", "path", "more"),
    [
        ("POST", "contests/none/pause", {}),
        ("DELETE", "account/tokens", {}),
        ("POST", "account/tokens", {"json": {}}),
        ("POST", "account/tokens", {"content": b"{}", "headers": {"Content-Type": "text/plain"}}),
        ("POST", "contests/none/submissions", {"data": {"problem_id": "p"}, "files": {"files": ("1.out", b"1")}}),
        ("PUT", "teams/x", {"json": {}}),
        ("PATCH", "contests/none", {"json": {}}),
    ],
)
def test_a_page_of_another_origin_changes_nothing_with_a_password(
    quick_api: Api, origin: str, method: str, path: str, more: dict[str, Any]
) -> None:
    headers = {"Origin": origin, **more.get("headers", {})}
    refused = quick_api.request(method, path, user="admin", **{**more, "headers": headers})
    assert (refused.status_code, refused.json()["code"]) == (403, 403)
    assert "must send a token" in refused.json()["message"]


@pytest.mark.parametrize("origin", [OURS, f"{OURS}:80", "https://jurado.test", "HTTP://JURADO.TEST"])
def test_a_page_of_the_server_itself_may_change_things(quick_api: Api, origin: str) -> None:
    made = quick_api.post("account/tokens", user="team", headers={"Origin": origin}, json={})
    assert made.status_code == 201


def test_a_token_is_good_on_every_page_and_pages_may_read_without_credentials(quick_api: Api) -> None:
    token = quick_api.post("account/tokens", user="team", json={}).json()["token"]
    headers = {"Origin": FOREIGN[0], "Authorization": f"Bearer {token}"}
    assert quick_api.post("account/tokens", headers=headers, json={}).status_code == 201
    read = quick_api.get("contests", headers={"Origin": FOREIGN[0], "Cookie": "a=b"})
    assert read.status_code == 200
    assert "Access-Control-Allow-Credentials" not in read.headers, "a browser shows it to no page that sent a password"


@pytest.mark.parametrize(("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 201)])
def test_what_the_browser_says_of_the_site_counts_where_it_names_no_origin(
    quick_api: Api, site: str, status: int
) -> None:
    made = quick_api.post("account/tokens", user="team", headers={"Sec-Fetch-Site": site}, json={})
    assert made.status_code == status


def test_an_origin_of_the_settings_counts_as_the_servers_own(trusting: Api) -> None:
    for origin, status in ((FRIEND, 201), ("http://b.example", 201), ("https://board.example", 403)):
        made = trusting.post("account/tokens", user="team", headers={"Origin": origin}, json={})
        assert made.status_code == status, origin


def test_a_trusted_proxy_says_which_host_was_asked(trusting: Api) -> None:
    headers = {"Origin": "https://judge.example", "X-Forwarded-Host": "judge.example"}
    made = trusting.post("account/tokens", user="team", headers=headers, json={})
    assert made.status_code == 201


def test_nobody_else_says_which_host_was_asked(sqlite_url: str, tmp_path: Path) -> None:
    with open_api(sqlite_url, tmp_path / "home", trusted_proxies="192.0.2.1") as api:
        headers = {"Origin": FOREIGN[0], "X-Forwarded-Host": "evil.example"}
        assert api.post("account/tokens", user="team", headers=headers, json={}).status_code == 403


@pytest.mark.parametrize("origins", ["board.example", "https://board.example/", "*", "https://a b"])
def test_an_allowed_origin_is_a_scheme_a_host_and_perhaps_a_port(origins: str) -> None:
    with pytest.raises(ValueError, match="expected origins such as"):
        Settings(allowed_origins=origins)


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/zip"])
@pytest.mark.parametrize(("path", "body"), [("account/tokens", b"{}"), ("accounts", b"[]"), ("contests", b"{}")])
def test_json_is_called_json(quick_api: Api, path: str, body: bytes, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    refused = quick_api.post(path, user="admin", content=body, headers=headers)
    assert refused.status_code == 415
    assert "Content-Type: expected" in refused.json()["message"]
    assert (kind or "none") in refused.json()["message"]


def test_every_reply_keeps_out_of_frames_and_a_personal_one_out_of_caches(quick_api: Api) -> None:
    for path in ("contests", "nothing", "/health/live"):
        reply = quick_api.get(path)
        assert reply.headers["Content-Security-Policy"] == "frame-ancestors 'none'"
        assert reply.headers["Referrer-Policy"] == "same-origin"
        assert reply.headers.get("Cache-Control") != "no-store", path
    page = quick_api.get("/").headers["Content-Security-Policy"]
    assert "default-src 'self'" in page
    assert "frame-ancestors" in page
    for path in ("account", "accounts", "account/tokens"):
        assert quick_api.get(path, user="admin").headers["Cache-Control"] == "no-store"
