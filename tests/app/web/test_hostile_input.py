"""What people send is text and never more: NUL characters, names of files, faults of packages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.organizer_routes import PLACES
from app.packages.zips import zip_bytes
from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.hostile import PAYLOADS
from tests.builders.packages import zip_package
from tests.builders.pages import PAGES, VALUES
from tests.builders.scoring import share
from tests.builders.service import Api, open_api
from tests.conftest import migrated_sqlite

ORIGIN = {"Origin": "http://jurado.test"}
QUERIES = ("find", "group", "at", "start", "a", "b", "month", "lang", "since", "done", "advice", "username", "next")
MARK, NUL = "~nul~", b"\0" * 5
"""Stands for NULs where the library that writes zips would take none."""
ELEMENT = re.compile(r"<[^>\"']*\sdata-canary")
"""A payload that has become an element."""


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """A running contest with a submission."""
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        add_submission(api.service, {"02": share(1)})
        yield api


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """The same contest for all that no database has a say in; a team may send as much as it likes."""
    folder = tmp_path_factory.mktemp("site")
    with open_api(migrated_sqlite(folder / "jurado.sqlite"), folder / "home", most_unjudged=1000) as api:
        add_problem(api.service)
        add_contest(api.service)
        yield api


def addresses_with_nul() -> Iterator[str]:
    """Each page with a NUL in each part of its address, and in each field of its query."""
    values = {**VALUES, "game_id": "1", "slug": "comesolo", "day": "2026-11-22", "kind": "optimiza", "size": "small"}
    routes = {*PAGES, *(place[1] for place in PLACES if place[0] == "GET")}
    for path in sorted(routes):
        for name in re.findall(r"\{(\w+)\}", path):
            yield path.format(**values | {name: "%00"})
            yield path.format(**values | {name: f"{values[name]}%00"})
        if "{day}" not in path:  # puzzles of days are not made here
            yield path.format(**values) + "?" + "&".join(f"{name}=%00" for name in QUERIES)


def test_a_nul_in_an_address_is_refused_and_no_fault(api: Api) -> None:
    """PostgreSQL takes no text with one."""
    for address in addresses_with_nul():
        if not address.startswith("/daily"):
            assert api.get(address, user="admin").status_code < 500, address


def test_a_nul_in_a_form_is_refused_where_its_field_is_read_and_no_fault(api: Api) -> None:
    for method, path, _, _ in PLACES:
        if method == "POST":
            fields = {"name": "a\0", "id": "\0", "text": "\0", "reason": "\0", "account": "\0", "group": "\0"}
            reply = api.post(path.format(**VALUES), user="admin", headers=ORIGIN, data=fields)
            assert reply.status_code < 500, path
    for path, fields in (("/login", {"username": "\0", "password": "x"}), ("/c/c/questions", {"text": "why\0"})):
        assert api.post(path, user="team", headers=ORIGIN, data=fields).status_code == 400, path


def test_a_nul_in_a_name_or_a_text_of_json_is_refused(api: Api) -> None:
    for path, body in (
        ("contests/c/clarifications", {"text": "why\0"}),
        ("contests/c/groups", {"id": "g", "name": "a\0"}),
        ("contests/c/commentary", {"message": "\0"}),
        ("accounts", {"id": "x", "username": "x\0", "type": "team"}),
        ("contests/c/rejudgings", {"reason": "\0", "submissions": ["1"]}),
    ):
        reply = api.post(path, user="admin", json=body)
        assert 400 <= reply.status_code < 500, (path, reply.status_code)


def test_names_of_sent_files_are_text(site: Api) -> None:
    """As files of the form, and inside a zip."""
    for name in (f"02{MARK}.out", MARK, *PAYLOADS.values()):
        inside = zip_bytes({name: b"2\n", "02.out": b"2\n"}).replace(MARK.encode(), NUL)
        for sent in ((name.replace(MARK, "\0"), b"2\n"), ("answers.zip", inside)):
            form = {"files": (*sent, "application/octet-stream")}
            reply = site.post("/c/c/answers", user="team", headers=ORIGIN, data={"problem_id": "echo"}, files=form)
            assert reply.status_code < 500, name
            assert not ELEMENT.search(reply.text), name
    last = len(site.get("contests/c/submissions", user="team").json())
    assert last >= len(PAYLOADS), "most of them are taken"
    for number in range(1, last + 1):
        assert not ELEMENT.search(site.get(f"/c/c/submissions/{number}", user="team").text), number


def test_faults_of_a_package_are_text_whatever_its_names_and_values_hold(site: Api) -> None:
    """Each text in one of four places: a value, the name of a checker, a key, the name of a file."""
    refused = 0
    for at, payload in enumerate((*PAYLOADS.values(), MARK)):
        name, quoted = payload.replace("/", "|")[:80], payload.replace("'", "''")
        places = (
            {"problem.yaml": f"problem_format_version: '{quoted}'\nname: 1\n"},
            {"jurado.yaml": f"checker: '{quoted}'\n"},
            {"jurado.yaml": f"'{quoted}': 1\n"},
            {f"data/secret/{name}.in": "1\n", "problem.yaml": ""},
        )
        package = zip_package(places[at % len(places)]).replace(MARK.encode(), NUL)
        form = {"package": ("odd.zip", package, "application/zip")}
        reply = site.post("/admin/problems", user="admin", headers=ORIGIN, files=form)
        assert 400 <= reply.status_code < 500, payload
        assert not ELEMENT.search(reply.text), payload
        refused += "faults" in reply.text
    assert refused > len(PAYLOADS) / 2, "their faults are listed"
