"""The API, with people in it, on both kinds of database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.builders.service import Api, open_api
from tests.conftest import migrated_postgresql, migrated_sqlite


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """A client of the API, on SQLite and on PostgreSQL."""
    with open_api(database_url, tmp_path / "home") as api:
        yield api


@pytest.fixture
def quick_api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A client of the API on SQLite alone: for what no database has a say in."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        yield api


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared_api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A client that the tests of a module share, once on each kind: for tests that look only at what they change."""
    folder = tmp_path_factory.mktemp("shared")
    with ExitStack() as stack:
        if request.param == "sqlite":
            url = migrated_sqlite(folder / "jurado.sqlite")
        else:
            url = stack.enter_context(migrated_postgresql())
        yield stack.enter_context(open_api(url, folder / "home"))
