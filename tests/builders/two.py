"""Two servers on one database, in this process: each with caches, feeds and notices of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import text

from app.core.db.database import Database
from tests.builders.service import Api, open_api

BROKER = "amqp://jurado:jurado@127.0.0.1:1"
"""A setting that makes an installation distributed; nothing here judges by it."""
LOCK_WAITS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)
SECRET_KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="


@contextmanager
def two_apis(database_url: str, home: Path, **settings: Any) -> Iterator[tuple[Api, Api]]:
    """Open two APIs on a migrated PostgreSQL database, with the same files."""
    files = f"file://{home / 'files'}"
    shared = {"broker_url": BROKER, "files_url": files, "secret_key": SECRET_KEY, **settings}
    with ExitStack() as stack:
        one = stack.enter_context(open_api(database_url, home / "one", **shared))
        yield one, stack.enter_context(open_api(database_url, home / "two", again=True, **shared))


def waits_for_a_lock(database: Database) -> bool:
    """Whether someone waits for a lock that another transaction on the database has."""
    return waiting_for_locks(database) > 0


def waiting_for_locks(database: Database) -> int:
    """The number of connections that wait for a lock that another transaction on the database has."""
    with database.read() as session:
        return session.scalar(LOCK_WAITS) or 0
