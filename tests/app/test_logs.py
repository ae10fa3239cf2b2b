"""What a server logs: on a terminal too it tells no secrets."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from collections.abc import Iterator

import pytest
import structlog

from app.logs import configure_logs, in_logs, request_id_of


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


def test_what_anybody_may_send_steers_no_terminal(terminal: Terminal) -> None:
    structlog.get_logger("jurado.test").info("request", path="/\x1b]0;a title\x07\x9b2J")
    logging.getLogger("a.library").warning("of %s", "\x1b[2J")
    shown = terminal.getvalue()
    assert "x1b]0;a title" in shown
    assert "of \\x1b[2J" in shown
    assert [sign for sign in ("\x1b]", "\x1b[2J", "\x07", "\x9b") if sign in shown] == []


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Logs as `jurado serve` writes them to a file; afterwards as they were."""
    configured, level, shown = structlog.get_config(), logging.root.level, io.StringIO()
    monkeypatch.setattr(logging.root, "handlers", [])
    monkeypatch.setattr(sys, "stderr", shown)
    configure_logs("debug")
    yield shown
    structlog.configure(**configured)
    logging.root.setLevel(level)


def test_facts_are_in_every_line_that_is_logged_meanwhile_also_by_libraries(lines: io.StringIO) -> None:
    """And in none after it; one within another adds to it."""
    with in_logs(request_id="a"):
        with in_logs(submission_id=7):
            logging.getLogger("a.library").info("both")
        structlog.get_logger("jurado.test").info("one")
    structlog.get_logger("jurado.test").info("none")
    told = [json.loads(line) for line in lines.getvalue().splitlines()]
    ids = [(line.get("request_id"), line.get("submission_id")) for line in told]
    assert ids == [("a", 7), ("a", None), (None, None)]


@pytest.mark.parametrize("sent", [None, b"", b"a b", b"a\nb", "\xe4".encode("latin-1"), b"a" * 129])
def test_a_request_without_an_id_that_may_stand_in_a_log_gets_a_new_one(sent: bytes | None) -> None:
    ids = {request_id_of(sent) for _ in range(3)}
    assert len(ids) == 3
    assert all(re.fullmatch("[0-9a-f]{16}", each) for each in ids)


def test_an_id_that_a_proxy_sends_is_kept() -> None:
    assert request_id_of(b"7b3c-0a:1") == "7b3c-0a:1"
