"""A solver's process is heard to its end and can be killed at any time, by anyone."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.judging.service.solver_process import Bounds, SolverFailed, SolverProcess

ENDLESS = b"1\n1000 1000 50\n"
"""A position of lasttreat whose game tree no one sees the end of."""
QUICK = b"1\n1 1 1\n"


def started(data: bytes, *words: str, bounds: Bounds | None = None) -> SolverProcess:
    process = SolverProcess()
    with tempfile.TemporaryFile() as source:
        source.write(data)
        source.seek(0)
        process.start(["lasttreat", "--method", "tree", *words], os.environ, source=source, bounds=bounds)
    return process


def nothing(_report: dict[str, Any]) -> None:
    """Hear a report and do nothing."""


def test_a_run_ends_with_its_summary_and_no_complaint(tmp_path: Path) -> None:
    ended = started(QUICK, bounds=Bounds(512, tmp_path)).listen(nothing)
    assert (ended.status, ended.killed, ended.complaint) == (0, "", "")
    assert [summary["problem"] for summary in ended.summaries] == ["lasttreat"]


def test_a_solver_says_why_it_refuses_an_input() -> None:
    ended = started(b"nonsense").listen(nothing)
    assert (ended.status, list(ended.summaries)) == (2, [])
    assert "expected" in ended.complaint


def test_a_process_killed_before_its_start_is_never_started() -> None:
    process = SolverProcess()
    process.kill("nobody wants it")
    with pytest.raises(SolverFailed, match="nobody wants it"):
        process.start(["lasttreat"], os.environ)


def test_a_process_can_be_killed_by_another_thread() -> None:
    process = started(ENDLESS)
    threading.Thread(target=process.kill, args=["enough"]).start()
    ended = process.listen(nothing)
    assert (ended.killed, ended.status < 0, list(ended.summaries)) == ("enough", True, [])


def test_a_process_that_gives_no_summary_in_time_is_killed() -> None:
    ended = started(ENDLESS, "--seconds", "3000").listen(nothing, 0.5, "too slow")
    assert (ended.killed, ended.status < 0) == ("too slow", True)


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_an_exception_while_a_report_is_taken_ends_the_process(error: type[BaseException]) -> None:
    def fail(_report: dict[str, Any]) -> None:
        raise error

    before = psutil.Process().children()
    process = started(QUICK)
    with pytest.raises(error):
        process.listen(fail)
    assert psutil.Process().children() == before
