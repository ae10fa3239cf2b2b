"""The API, with people in it, on both kinds of database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.service import Api, open_api


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
