"""The pass over stored files names damage and collects orphans; SQLite's log does not stay as long as it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from app.storage.database import Database
from app.storage.scrub import Scrub, shorten_log
from tests.builders.contests import add_contest, add_problem
from tests.builders.service import Api, open_api


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        yield api


def test_a_pass_names_damage_to_admins_and_removes_orphans(api: Api) -> None:
    service = api.service
    orphan, needed = service.files.keep(b"orphan"), next(service.files.stored()).sha256
    os.utime(service.files.path(orphan), (0, 0))
    service.files.path(needed).write_bytes(b"")
    service.scrub.scrub()
    shown = api.get("stored-files", user="admin").json()
    assert [fault["sha256"] for fault in shown["faults"]] == [needed]
    assert (shown["orphans_removed"], shown["ended"] is not None) == (1, True)
    assert not service.files.path(orphan).exists()
    assert service.files.path(needed).exists()
    for user, status in ((None, 401), ("team", 403), ("judge", 403)):
        assert api.get("stored-files", user=user).status_code == status


def test_a_pass_that_is_stopped_ends_at_once(api: Api) -> None:
    """However slowly it reads."""
    scrub = Scrub(api.service.database, api.service.files, 1, rate=1e-9)
    scrub.start()
    scrub.close()
    assert scrub.scrub().ended is None


def test_a_long_log_is_cut_unless_somebody_reads(sqlite_url: str) -> None:
    database = Database(sqlite_url)
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    log = path.with_name(path.name + "-wal")
    with database.write() as session:
        session.execute(text("CREATE TABLE much (data BLOB)"))
    with database.read() as reading:
        reading.execute(text("SELECT count(*) FROM much")).scalar()
        with database.write() as session:
            session.execute(text("INSERT INTO much VALUES (zeroblob(200000))"))
        assert not shorten_log(database, 100_000)
        with database.write() as session:  # nobody waits for it
            session.execute(text("INSERT INTO much VALUES (zeroblob(200000))"))
    assert log.stat().st_size > 100_000
    assert shorten_log(database, 100_000)
    assert log.stat().st_size == 0
    database.close()
