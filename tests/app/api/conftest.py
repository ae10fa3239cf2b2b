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
