"""What a server logs: on a terminal too it tells no secrets."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterator

import pytest
import structlog

from app.logs import configure_logs


class Terminal(io.StringIO):
    """A standard error that somebody reads."""

    def isatty(self) -> bool:
        """It is a terminal."""
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """Logs as `jurado serve` configures them on a terminal; afterwards as they were."""
    configured, level, shown = structlog.get_config(), logging.root.level, Terminal()
    monkeypatch.setattr(logging.root, "handlers", [])
    monkeypatch.setattr(sys, "stderr", shown)
    configure_logs()
    yield shown
    structlog.configure(**configured)
    logging.root.setLevel(level)


def test_a_traceback_on_a_terminal_shows_no_values_of_variables(terminal: Terminal) -> None:
    password = "hunter" + "2"
    try:
        raise LookupError(f"no account with a password of {len(password)} characters")
    except LookupError:
        structlog.get_logger("jurado.test").exception("a fault")
    assert "a password of 7 characters" in terminal.getvalue()
    assert "Traceback (most recent call last)" in terminal.getvalue()
    assert password not in terminal.getvalue()
