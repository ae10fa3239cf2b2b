"""HEAD is answered wherever GET is: the same status and headers, no body, and at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.builders.contests import add_contest, add_problem
from tests.builders.described import document
from tests.builders.service import Api, open_api

VARYING = {"x-request-id", "jurado-time", "date"}
"""Headers that differ from one reply to the next."""
MADE_ANEW = ("/metrics", "/api/status", "/contests/x/package.zip")
"""What is another thing each time: it counts requests or bytes, or is written with the time of day in it."""


@pytest.fixture
def running(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """An API with a running contest `x` and few places for streams."""
    with open_api(sqlite_url, tmp_path / "home", most_streams_of_one=2) as api:
        add_problem(api.service)
        add_contest(api.service, "x")
        yield api


def headers(reply: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in reply.headers.items() if name not in VARYING}


def test_every_route_with_get_answers_head_with_its_status_and_headers(running: Api) -> None:
    paths = {"/", "/docs", *(path for path, operations in document()["paths"].items() if "get" in operations)}
    assert len(paths) > 60
    for path in sorted(paths):
        address = re.sub(r"\{[^}]*\}", "x", path)
        if address.endswith(("/stream", "/event-feed")):
            address += "?stream=false"
        got, head = running.get(address, user="admin"), running.request("HEAD", address, user="admin")
        assert (head.status_code, head.content) == (got.status_code, b""), address
        if address.endswith(MADE_ANEW):
            assert headers(head).keys() == headers(got).keys(), address
        else:
            assert headers(head) == headers(got), address


def test_head_shows_nobody_what_get_does_not(running: Api) -> None:
    assert running.request("HEAD", "accounts").status_code == 401
    assert running.request("HEAD", "contests/x/teams/nobody").status_code == 404


@pytest.mark.parametrize("path", ["event-feed", "submissions/stream", "scoreboard/stream"])
def test_a_stream_answers_head_at_once_and_keeps_no_place(running: Api, path: str) -> None:
    for _ in range(running.service.settings.most_streams_of_one + 1):
        head = running.request("HEAD", f"contests/x/{path}", user="admin")
    assert head.status_code == 200
    assert "content-length" not in head.headers
    assert head.headers["cache-control"] == "no-store"


def test_head_of_what_only_takes_posts_is_refused(running: Api) -> None:
    refused = running.request("HEAD", "/api/contests/x/thaw", user="admin")
    assert (refused.status_code, refused.content) == (
        running.get("/api/contests/x/thaw", user="admin").status_code,
        b"",
    )


def test_head_is_counted_as_what_it_is(running: Api) -> None:
    running.request("HEAD", "contests/x/teams", user="admin")
    counted = running.get("/metrics", user="admin").text
    assert re.search(r'method="HEAD"[^\n]*contests/\{contest_id\}/teams', counted)
