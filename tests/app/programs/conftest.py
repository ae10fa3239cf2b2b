"""One sandbox and one cache of compiled programs for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from app.programs.desk import ProgramDesk
from app.sandbox.sandbox import Sandbox

MEMORY = 2**27


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The sandbox of this test process."""
    with closing(Sandbox.open(as_root=True)) as opened:
        yield opened


@pytest.fixture(scope="session")
def desk(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> ProgramDesk:
    """A desk that asks programs for real."""
    return ProgramDesk(sandbox, tmp_path_factory.mktemp("programs"), MEMORY)
