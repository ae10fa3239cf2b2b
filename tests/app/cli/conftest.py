"""What the tests of the command line share: the command itself, and a home of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.cli.main import app

Jurado = Callable[..., Result]

BOARD = b"3\nooo\no..\n...\n"
"""Four pieces, three of which can be eaten at most."""


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or writes the login of whoever runs it."""
    for name in ("JURADO_URL", "JURADO_TOKEN", "JURADO_PASSWORD", "JURADO_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


@pytest.fixture
def jurado() -> Jurado:
    """Run `jurado` with these words, and this on standard input, in this process."""

    def run(*words: object, stdin: bytes | str | None = None) -> Result:
        return CliRunner().invoke(app, [str(word) for word in words], input=stdin)

    return run
