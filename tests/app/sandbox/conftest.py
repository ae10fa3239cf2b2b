"""One sandbox for all tests of a process: runs leave nothing in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from app.sandbox.sandbox import Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The sandbox of this test process."""
    with closing(Sandbox.open(as_root=True)) as opened:
        yield opened
