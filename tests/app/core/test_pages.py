"""The pages: whole without any other host, escaped, and showing only what everyone may see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from app.core.pages.pages import IMMUTABLE, PATHS, POLICY, folders
from app.tables import ContestRow
from tests.builders.contests import add_contest
from tests.builders.service import Api, open_api

PAGES = ("/", "/docs")
HOST = "http://jurado.test"
SVG = "http://www.w3.org/2000/svg"
NOW = datetime.now(UTC)


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A client of an API with a contest."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_contest(api.service, "running", problem_id=None)
        yield api


class References(HTMLParser):
    """The addresses that a page loads or leads to, and what of it a strict policy would not run."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inline: list[str] = []
        self._script_without_address = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        loads = ("href", "src", "srcset") if names.get("method") == "post" else ("href", "src", "action", "srcset")
        self.addresses += [names[name] or "" for name in loads if name in names]
        self.inline += [f"<{tag} {name}>" for name in names if name.startswith("on") or name == "style"]
        if tag == "style" or (tag == "script" and "src" not in names):
            self.inline.append(f"<{tag}>")


@pytest.mark.parametrize("page", PAGES)
def test_everything_a_page_refers_to_is_served_here(api: Api, page: str) -> None:
    references = References(api.get(page).text)
    assert references.addresses
    for address in references.addresses:
        whole = urljoin(HOST + page, address)
        assert whole.startswith(f"{HOST}/"), address
        assert api.get(urlsplit(whole).path).status_code == 200, address


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_whole_under_a_policy_that_allows_only_files_from_here(api: Api, page: str) -> None:
    reply = api.get(page)
    assert reply.headers["Content-Security-Policy"] == POLICY
    assert POLICY.startswith("default-src 'self';")
    assert "unsafe" not in POLICY
    assert References(reply.text).inline == []


def test_the_files_of_pages_load_nothing_from_another_host() -> None:
    for sheet in (name for name in PATHS if name.endswith(".css")):
        text = PATHS[sheet].read_text()
        for address in text.split("url(")[1:]:
            name = address.lstrip("\"'")
            assert name.startswith("data:") or urljoin(sheet, name.partition('"')[0]) in PATHS, (sheet, name[:60])
        assert "@import" not in text
    for script in (name for name in PATHS if name.endswith(".js") and not name.startswith("swagger-ui/")):
        text = PATHS[script].read_text().replace(SVG, "")  # a name, which nothing is loaded from
        assert not re.search(r"[\"'`](?:\w+:)?//", text), script
    assert "validatorUrl: null" in PATHS["docs.js"].read_text()


@pytest.mark.parametrize("kind", ["static", "templates"])
def test_no_two_features_have_a_file_of_the_same_name(kind: str) -> None:
    names = [path.relative_to(folder) for folder in folders(kind) for path in folder.rglob("*") if path.is_file()]
    assert len(names) == len(set(names)) > 20


def test_the_index_leads_to_each_contest_in_its_state(api: Api) -> None:
    hour = timedelta(hours=1)
    for name, started in (("soon", -hour), ("over", 9 * hour), ("settled", 9 * hour), ("unset", hour)):
        add_contest(api.service, name, problem_id=None, started=started)
    add_contest(api.service, "frozen", problem_id=None, started=4.5 * hour, freeze=hour)
    with api.service.database.write() as session:
        row(session.get(ContestRow, "settled")).finalized = NOW
        row(session.get(ContestRow, "unset")).start_time = None
    html = api.get("/").text
    shown = {part.split('href="/c/')[1].split('"')[0]: part for part in html.split("<li>")[1:]}
    states = {name: part.split('class="state ')[1].split('"')[0] for name, part in shown.items()}
    assert states == {
        "running": "running",
        "frozen": "frozen",
        "soon": "scheduled",
        "over": "ended",
        "settled": "final",
        "unset": "scheduled",
    }
    assert "/scoreboard" in shown["running"]
    assert "/scoreboard" not in shown["soon"]


def row(contest: ContestRow | None) -> ContestRow:
    assert contest is not None
    return contest


def test_names_are_shown_as_text_whatever_they_hold(api: Api) -> None:
    with api.service.database.write() as session:
        row(session.get(ContestRow, "running")).formal_name = '<script>alert(1)</script> & "co"'
    html = api.get("/").text
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp;" in html


@pytest.mark.parametrize("user", ["admin", "team"])
def test_the_index_lists_the_same_contests_for_everybody(api: Api, user: str) -> None:
    lists = [
        re.search('<ul class="card list.*?</ul>', api.get("/", user=each).text, re.DOTALL) for each in (None, user)
    ]
    assert lists[0] is not None
    assert lists[1] is not None
    assert lists[0][0] == lists[1][0]


def test_files_that_pages_name_are_asked_for_once_and_others_are_told_when_nothing_changed(api: Api) -> None:
    named = [each for each in References(api.get("/").text).addresses if each.startswith("/static/")]
    assert len(named) > 3
    for address in named:
        path, _, version = address.partition("?v=")
        replies = [api.get(each) for each in (address, path, f"{path}?v=0", f"{path}?v={version}&v=0")]
        assert [each.headers["Cache-Control"] for each in replies] == [IMMUTABLE, *["no-cache"] * 3]
        assert {(each.content, each.headers["ETag"]) for each in replies} == {(replies[0].content, f'"{version}"')}
        known = api.get(path, headers={"If-None-Match": f'"{version}"'})
        assert (known.status_code, known.content) == (304, b"")


def test_files_are_the_same_zipped_or_not_and_by_the_long_way(api: Api) -> None:
    for path in ("/static/jurado.css", "/static/messages/ja.js", "/static/icon.svg"):
        replies = [api.get(path, headers=each) for each in ({}, {"Accept-Encoding": "identity"}, {"Origin": HOST})]
        assert len({each.content for each in replies}) == 1
        assert len({each.headers["Content-Type"] for each in replies}) == 1
        assert {each.headers["Content-Security-Policy"] for each in replies} == {POLICY}
        assert "Content-Encoding" not in replies[1].headers


@pytest.mark.parametrize("name", ["nothing.css", "../pages.py", "%2e%2e/pages.py", "swagger-ui", ""])
def test_only_the_files_of_pages_are_served(api: Api, name: str) -> None:
    assert api.get(f"/static/{name}").status_code == 404


def test_the_copied_swagger_ui_comes_with_its_version_and_licence() -> None:
    folder = PATHS["swagger-ui/README.md"].parent
    version = (folder / "README.md").read_text().partition("\n")[0].removeprefix("# Swagger UI ")
    assert version in (folder / "swagger-ui-bundle.js").read_text()
    assert "Apache License" in (folder / "LICENSE").read_text()
