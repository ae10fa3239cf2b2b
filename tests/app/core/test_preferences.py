"""Theme and zone are kept in cookies, for readers with and without an account."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.contests import HOUR, add_contest, add_problem
from tests.builders.service import Api, open_api

ORIGIN = {"Origin": "http://jurado.test"}


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A contest to come."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service, started=-HOUR)
        yield api


def test_a_theme_is_kept_and_leads_back_to_the_page(api: Api) -> None:
    assert "data-theme" not in api.get("/c/c").text
    reply = api.post("/preferences", data={"theme": "dark", "next": "/c/c?x=1"}, headers=ORIGIN)
    assert (reply.status_code, reply.headers["Location"]) == (303, "/c/c?x=1")
    assert reply.cookies["jurado_theme"] == "dark"
    assert 'data-theme="dark"' in api.get("/c/c").text
    assert 'data-theme="dark"' in api.get("/c/c", user="team").text
    api.post("/preferences", data={"theme": "system"}, headers=ORIGIN)
    assert "data-theme" not in api.get("/c/c").text


@pytest.mark.parametrize("path", ["/", "/c/c"])
def test_times_are_in_the_readers_zone_which_is_named_beside_them(api: Api, path: str) -> None:
    assert " UTC</time>" in api.get(path).text
    api.post("/preferences", data={"zone": "Asia/Tokyo"}, headers=ORIGIN)
    html = api.get(path).text
    assert " Asia/Tokyo</time>" in html
    assert ' UTC">' in html, "and in UTC as their title"


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd"])
def test_what_is_no_zone_is_refused(api: Api, zone: str) -> None:
    reply = api.post("/preferences", data={"zone": zone}, headers=ORIGIN)
    assert reply.status_code == 400
    assert "expected" in reply.text


@pytest.mark.parametrize("address", ["https://evil.test/", "//evil.test", "/\\evil"])
def test_preferences_lead_to_no_other_host(api: Api, address: str) -> None:
    reply = api.post("/preferences", data={"theme": "dark", "next": address}, headers=ORIGIN)
    assert reply.headers["Location"] == "/"


def test_cookies_that_somebody_has_made_up_change_nothing(api: Api) -> None:
    headers = {"Cookie": 'jurado_theme="><script>; jurado_zone=Nowhere'}
    assert "<script>;" not in api.get("/c/c", headers=headers).text
    assert " UTC</time>" in api.get("/c/c", headers=headers).text
