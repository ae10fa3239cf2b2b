"""What a server logs: on a terminal too it tells no secrets."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import httpx
import pytest
import structlog

from app.core.clock import utc_now
from app.core.telemetry import in_logs, request_id_of
from app.tables import ContestRow, ProblemRow
from tests.builders.logged import lines_of, logged
from tests.builders.service import Idle, open_api
from tests.builders.working import working


class Terminal(io.StringIO):
    """A standard error that someone reads."""

    def isatty(self) -> bool:
        """It is a terminal."""
        return True


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """Logs as `jurado serve` configures them on a terminal; afterwards as they were."""
    with logged(Terminal()) as shown:
        yield shown


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
def lines() -> Iterator[io.StringIO]:
    """Logs as `jurado serve` writes them to a file; afterwards as they were."""
    with logged(io.StringIO(), "debug") as shown:
        yield shown


def test_facts_are_in_every_line_that_is_logged_meanwhile_also_by_libraries(lines: io.StringIO) -> None:
    """And in none after it; one within another adds to it."""
    with in_logs(request_id="a"):
        with in_logs(submission_id=7):
            logging.getLogger("a.library").info("both")
        structlog.get_logger("jurado.test").info("one")
    structlog.get_logger("jurado.test").info("none")
    ids = [(line.get("request_id"), line.get("submission_id")) for line in lines_of(lines)]
    assert ids == [("a", 7), ("a", None), (None, None)]


def test_addresses_of_webhooks_are_in_no_log(lines: io.StringIO) -> None:
    transport = httpx.MockTransport(lambda _request: httpx.Response(204))
    with httpx.Client(transport=transport) as client:
        client.post("https://chat.example/hooks/a-secret")
    assert "a-secret" not in lines.getvalue()


@pytest.mark.parametrize("sent", [None, b"", b"a b", b"a\nb", "\xe4".encode("latin-1"), b"a" * 129])
def test_a_request_without_an_id_that_may_stand_in_a_log_gets_a_new_one(sent: bytes | None) -> None:
    ids = {request_id_of(sent) for _ in range(3)}
    assert len(ids) == 3
    assert all(re.fullmatch("[0-9a-f]{16}", each) for each in ids)


def test_an_id_that_a_proxy_sends_is_kept() -> None:
    assert request_id_of(b"7b3c-0a:1") == "7b3c-0a:1"


@pytest.mark.machine("broker")
def test_a_submission_is_followed_from_its_request_through_the_broker_to_its_worker(
    lines: io.StringIO, postgresql_url: str, broker_url: str, tmp_path: Path
) -> None:
    """The request's id leads to the submission's and its judgement's, which stand in the lines of all that follows."""
    files = tmp_path / "home" / "files"
    with working(postgresql_url, broker_url, files) as worker, open_api(postgresql_url, tmp_path / "home") as api:
        cast(Idle, api.service.engine).on_wake = worker.sender.call
        with api.service.database.write() as session:
            problem = session.get_one(ProblemRow, "rogue")
            problem.settings = {**problem.settings, "answers": {"limit": 100}}
            session.get_one(ContestRow, "c").start_time = utc_now()
        form = {"data": {"problem_id": "rogue"}, "files": {"files": ("1.out", b"10")}}
        reply = api.post("contests/c/submissions", user="team", headers={"X-Request-Id": "one-of-mine"}, **form)
        assert reply.status_code == 201, reply.text
        worker.wait()
        (judgement,) = worker.rows()
    every = lines_of(lines)
    (taken,) = [line for line in every if line["event"] == "submission taken"]
    ids = (int(reply.json()["id"]), judgement.id)
    assert taken["request_id"] == "one-of-mine"
    assert (taken["submission_id"], taken["judgement_id"]) == ids
    (judged,) = [line for line in every if line["event"] == "judged"]
    assert (judged["submission_id"], judged["judgement_id"], judged["type"]) == (*ids, "PC")
