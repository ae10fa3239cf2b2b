"""A check names every file that is missing, damaged or needed by no one; mending collects those and spares the rest."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from app.archive.queries import references
from app.archive.queries.references import read_references
from app.core.files.open_files import LocalFiles
from app.core.service import Service
from app.submissions.queries.submissions import INLINE_LIMIT
from tests.builders.contests import add_contest, add_problem
from tests.builders.service import Api, open_api

LARGE = b"1 2\n" * INLINE_LIMIT


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        for data in (LARGE, b"small\n"):
            reply = api.post(
                "contests/c/submissions",
                user="team",
                data={"problem_id": "echo"},
                files=[("files", ("02.out", data)), ("sources", ("a.py", data + b"#"))],
            )
            assert reply.status_code == 201, reply.text
        yield api


def age(files: LocalFiles) -> None:
    """Make all files as old as can be."""
    for each in list(files.stored()):
        os.utime(files.path(each.sha256), (0, 0))


def test_a_sound_store_has_no_faults_and_loses_nothing(api: Api) -> None:
    """Test data, statements, samples, answers, sources and images are all needed."""
    service = api.service
    age(service.files)
    checked = references.check(service.database, service.files)
    assert (checked.faults, checked.orphans) == ([], 0)
    stored = {each.sha256 for each in service.files.stored()}
    references.repair(service.database, service.files, checked)
    assert {each.sha256 for each in service.files.stored()} == stored


def spoil(service: Service, name: str) -> None:
    path = service.files.path(name)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_missing_and_damaged_files_are_named_and_restored(api: Api, tmp_path: Path) -> None:
    service = api.service
    with service.database.snapshot() as connection:
        needed = read_references(connection).needed
    (large,) = (name for name, places in needed.items() if any(place.startswith("answers") for place in places))
    other = next(name for name, places in needed.items() if any(place.startswith("test_cases") for place in places))
    spare = LocalFiles(tmp_path / "spare")
    for name in (large, other):
        spare.keep(service.files.load(name))
    spoil(service, large)
    service.files.path(other).unlink()
    checked = references.check(service.database, service.files)
    assert {(fault.kind, fault.name) for fault in checked.faults} == {("damaged", large), ("missing", other)}
    assert all(fault.places for fault in checked.faults)
    assert references.repair(service.database, service.files, checked).restored == []
    assert set(references.repair(service.database, service.files, checked, spare).restored) == {large, other}
    assert references.check(service.database, service.files).faults == []


def test_answers_in_their_rows_are_verified_too(api: Api) -> None:
    with api.service.database.write() as session:
        session.execute(text("UPDATE answers SET sha256 = :other WHERE data IS NOT NULL"), {"other": "0" * 64})
    (fault,) = references.check(api.service.database, api.service.files).faults
    assert (fault.kind, "other bytes" in fault.why) == ("rows", True)


def test_rows_whose_parents_are_gone_are_named(sqlite_url: str, tmp_path: Path) -> None:
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        sent = {"files": ("02.out", b"2\n")}
        assert api.post("contests/c/submissions", user="team", data={"problem_id": "echo"}, files=sent).is_success
        database = api.service.database
        with closing(sqlite3.connect(str(database.engine.url.database))) as plain:
            plain.execute("DELETE FROM submissions")
            plain.commit()
        faults = references.check(database, api.service.files).faults
    assert {(fault.kind, fault.name.split()[0]) for fault in faults} >= {("rows", "answers"), ("rows", "judgements")}
    assert all("a row of submissions that there is not" in fault.why for fault in faults)


def test_only_orphans_that_nobody_sent_lately_are_collected(api: Api) -> None:
    service = api.service
    old, sent_again = service.files.keep(b"old"), service.files.keep(b"sent again")
    age(service.files)
    new = service.files.keep(b"new")
    checked = references.check(service.database, service.files)
    assert (checked.orphans, {each.sha256 for each in checked.old}) == (3, {old, sent_again})
    service.files.keep(b"sent again")
    assert references.repair(service.database, service.files, checked).removed == 1
    left = {each.sha256 for each in service.files.stored()}
    assert old not in left
    assert {new, sent_again} <= left
