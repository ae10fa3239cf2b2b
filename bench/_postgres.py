"""A PostgreSQL server of a measurement's own, which waits for the disk at each commit."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import postgres

DATABASE = "jurado_bench"


@contextmanager
def durable_postgres() -> Iterator[str]:
    """Start a server on a socket in a temporary folder; yields the address of an empty database, and stops it all."""
    folder = Path(tempfile.mkdtemp(prefix="jurado-bench-pg-"))
    alive = postgres.hold(folder)
    try:
        postgres.start(folder, durable=True)
        postgres.administer(folder, f"CREATE DATABASE {DATABASE}")
        yield postgres.url(folder, DATABASE)
    finally:
        os.close(alive)
        if not postgres.wait_until_gone(folder):
            shutil.rmtree(folder, ignore_errors=True)
