"""A copied database is the same service: every row, every id still to be given, and nothing of a failed copy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, text, update

from app.archive.queries import database_copy
from app.archive.queries.database_copy import BackupError, copy_rows
from app.core.db.database import Database
from app.tables import Base, JudgementRow, TeamRow
from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.scoring import share
from tests.builders.service import Api, open_api

PATHS = ("contests", "contests/c", "contests/c/scoreboard", "contests/c/submissions", "contests/c/teams", "accounts")


def fill(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service)
    made = [add_submission(api.service, {"02": share(1), "03": share(2)}, minute=minute) for minute in (1, 2, 3)]
    with api.service.database.write() as session:
        newest = session.scalar(select(func.max(JudgementRow.id)))
        # A judgement that refers to one that comes after it, and numbers that were given and are gone.
        session.execute(text("DELETE FROM answers WHERE submission_id = :id"), {"id": made[-1]})
        session.execute(update(JudgementRow).where(JudgementRow.id == 1).values(replaced_id=2))
        session.execute(text("DELETE FROM raw_scores WHERE judgement_id = :id"), {"id": newest})
        session.execute(text("DELETE FROM judgements WHERE submission_id = :id"), {"id": made[-1]})
        session.execute(text("DELETE FROM submissions WHERE id = :id"), {"id": made[-1]})


def seen(api: Api) -> dict[str, Any]:
    shown = {path: api.get(path, user="admin").json() for path in PATHS}
    shown["contests/c/scoreboard"].pop("contest_time", None)
    return {path: rows["rows"] if path.endswith("scoreboard") else rows for path, rows in shown.items()}


@contextmanager
def opened(*urls: str) -> Iterator[list[Database]]:
    databases = [Database(url) for url in urls]
    try:
        yield databases
    finally:
        for database in databases:
            database.close()


@pytest.mark.parametrize("ways", [("sqlite", "postgresql"), ("postgresql", "sqlite")])
def test_a_copied_service_shows_the_same_and_gives_no_number_twice(
    request: pytest.FixtureRequest, tmp_path: Path, ways: tuple[str, str]
) -> None:
    before, after = (str(request.getfixturevalue(f"{way}_url")) for way in ways)
    with open_api(before, tmp_path / "home") as api:
        fill(api)
        shown = seen(api)
    steps: list[int] = []
    with opened(before, after) as (source, target):
        rows = copy_rows(source, target, lambda _what, done, _of: steps.append(done))
        assert sum(rows.values()) == steps[-1]
        assert rows["submissions"] == 2
        with target.read() as session:
            assert session.get_one(JudgementRow, 1).replaced_id == 2
    with open_api(after, tmp_path / "home", again=True) as api:
        assert seen(api) == shown
        assert add_submission(api.service, {"02": share(1)}, minute=4) == 4


def test_a_database_of_another_schema_is_not_copied(sqlite_url: str, tmp_path: Path) -> None:
    with opened(sqlite_url, f"sqlite:///{tmp_path / 'other.db'}") as (source, target):
        with source.write() as session:
            session.execute(text("UPDATE alembic_version SET version_num = 'older'"))
        with pytest.raises(BackupError, match="found older: run jurado init first"):
            copy_rows(source, target)


def test_a_copy_that_is_not_the_same_is_not_kept(
    sqlite_url: str, postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_api(sqlite_url, tmp_path / "home") as api:
        fill(api)
    whole = database_copy._copy

    def spoiled(reading: Any, writing: Any, table: Any) -> int:
        count = whole(reading, writing, table)
        if table.name == "teams":
            writing.execute(update(table).values(name="Another"))
        return count

    monkeypatch.setattr(database_copy, "_copy", spoiled)
    with opened(sqlite_url, postgresql_url) as (source, target):
        with pytest.raises(BackupError, match="table teams: expected 2 equal rows, found 2 that are not the same"):
            copy_rows(source, target)
        with target.read() as session:
            assert session.scalar(select(func.count()).select_from(TeamRow)) == 0


def test_every_table_is_copied() -> None:
    assert {table.name for table in Base.metadata.sorted_tables} == set(Base.metadata.tables)
