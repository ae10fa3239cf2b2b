"""Behind a proxy: every address that the service gives out keeps the path prefix under which it is seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest
from anyio import run
from pydantic import ValidationError

from app.core.settings import Settings
from app.main import create_app
from tests.builders.contests import add_problem
from tests.builders.lively import CONTEST, begin, picture
from tests.builders.service import Api, open_api

PREFIX = "/judge/one"
ORIGIN = "http://jurado.test"
STREAMS = "https://streams.example/"
"""Where the teams' streams lie: on another host."""


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A client of an API that is seen under PREFIX, as its settings say."""
    with open_api(sqlite_url, tmp_path / "home", root_path=f"{PREFIX}/") as api:
        yield api


@pytest.mark.parametrize("path", ["/", "/docs", "/static/jurado.css", "/openapi.json", "/api/contests", "/health/live"])
def test_it_answers_whether_or_not_the_proxy_takes_the_prefix_off(api: Api, path: str) -> None:
    assert api.get(path).status_code == 200
    assert api.get(PREFIX + path).content == api.get(path).content


def test_what_is_made_is_found_at_its_location(api: Api) -> None:
    made = api.post("contests", user="admin", json={"name": "Finals", "duration": "1:00:00"})
    assert made.headers["Location"] == f"{PREFIX}/api/contests/finals"
    assert api.get(made.headers["Location"]).json()["id"] == "finals"


def test_redirects_stay_under_the_prefix(api: Api) -> None:
    bare_address = api.get(PREFIX)
    assert (bare_address.status_code, bare_address.headers["Location"]) == (307, f"{PREFIX}/")
    slash = api.get(f"{PREFIX}/api/contests/")
    assert (slash.status_code, slash.headers["Location"]) == (307, f"{ORIGIN}{PREFIX}/api/contests")
    page = api.get(f"{PREFIX}/account")
    assert (page.status_code, page.headers["Location"]) == (303, f"{PREFIX}/login?next=/account")
    kept = api.post(f"{PREFIX}/preferences", data={"theme": "dark", "next": "/c/c"}, headers={"Origin": ORIGIN})
    assert kept.headers["Location"] == f"{PREFIX}/c/c"


def test_the_description_names_the_prefix_as_its_server(api: Api) -> None:
    assert api.get(f"{PREFIX}/openapi.json").json()["servers"] == [{"url": PREFIX}]


def test_the_index_says_where_to_log_in(api: Api) -> None:
    assert f"jurado login {ORIGIN}{PREFIX} USERNAME" in api.get(f"{PREFIX}/").text


def test_every_href_of_the_api_leads_somewhere_below_the_prefix(api: Api) -> None:
    def ask(method: str, path: str, *, user: str | None = None, json: Any = None) -> httpx.Response:
        return api.request(method, f"{PREFIX}/api/{path}", user=user, json=json)

    add_problem(api.service)
    begin(ask)
    ask("PATCH", f"contests/{CONTEST}", user="admin", json={"banner": picture(8, 4)}).raise_for_status()
    feed = ask("GET", f"contests/{CONTEST}/event-feed?stream=false", user="admin")
    found = set(hrefs([json.loads(line) for line in feed.text.splitlines() if line]))
    assert any("/banner/" in href for href in found)
    assert any("/statement" in href for href in found)
    for href in found:
        if href.startswith(STREAMS):
            continue
        address = urljoin(f"{ORIGIN}{PREFIX}/api/", href)
        assert address.startswith(f"{ORIGIN}{PREFIX}/api/"), href
        assert api.get(address.removeprefix(ORIGIN), user="admin").status_code == 200, href


def hrefs(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            if name == "href" and isinstance(each, str):
                yield each
            else:
                yield from hrefs(each)
    elif isinstance(value, list):
        for each in value:
            yield from hrefs(each)


def test_a_trusted_proxy_names_the_scheme_of_each_request_and_nobody_else_does(api: Api) -> None:
    headers = {"X-Forwarded-Proto": "https"}

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(api.app, client=("192.0.2.7", 4711))
        async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as client:
            return await client.get(f"{PREFIX}/", headers=headers)

    assert f"jurado login https://jurado.test{PREFIX} USERNAME" in api.get(f"{PREFIX}/", headers=headers).text
    assert f"jurado login {ORIGIN}{PREFIX} USERNAME" in api.portal.call(ask).text


@pytest.mark.parametrize("prefix", ["//evil.example", "evil", "/a?b", "/a b", "/../x", "/api", "http://evil.example"])
def test_a_prefix_that_is_none_is_refused(prefix: str) -> None:
    with pytest.raises(ValidationError, match=r"root_path\n.*expected a path"):
        Settings(root_path=prefix)


@pytest.mark.parametrize("proxies", ["localhost", "10.0.0.0/33", "127.0.0.1,x"])
def test_a_trusted_proxy_is_an_address_or_a_network(proxies: str) -> None:
    with pytest.raises(ValidationError, match=r"trusted_proxies\n.*expected addresses or networks"):
        Settings(trusted_proxies=proxies)


def test_the_proxies_that_are_trusted_are_a_setting(tmp_path: Path) -> None:
    app = create_app(Settings(home=tmp_path, trusted_proxies="192.0.2.0/24"))
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/api/contests/",
        "query_string": b"",
        "headers": [(b"x-forwarded-proto", b"https"), (b"host", b"here")],
        "client": ("192.0.2.9", 1),
        "server": ("here", 80),
        "scheme": "http",
    }
    run(app, scope, receive, send)
    assert dict(sent[0]["headers"])[b"location"] == b"https://here/api/contests"
