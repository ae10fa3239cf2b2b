"""What graders and solvers may not do, what the server believes of them, and whose fault the end of one is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import select

from app.core.files.open_files import LocalFiles
from app.domain.counting import CaseVerdict
from app.domain.documents import CaseAnswer, FoundScore
from app.judging.service.graders import EngineSettings, RunningGrader
from app.judging.service.messages import (
    Failed,
    Grade,
    Graded,
    Validate,
    Warm,
    Warmed,
    encoded,
    graded,
    reply_of,
    request_of,
)
from app.sandbox.child import clean_environment
from app.tables import JudgementRow, RawScoreRow
from tests.builders.grading import PROGRAM, Grading, grading, is_stopped, submission

WORDS = {"key": "k", "text": "t", "args": {"big": 2**70}}


def messages(found: Grading) -> list[str]:
    """What the checkers said, in order."""
    with found.database.read() as session:
        return [row["text"] for row in session.scalars(select(RawScoreRow.message).order_by(RawScoreRow.test_case_id))]


def wait_for(done: Callable[[], bool]) -> None:
    """Wait for other processes, as long as it takes, and leave them the processor; the suite has a time limit."""
    while not done():
        time.sleep(0.005)


def test_a_checker_that_is_taken_over_can_do_nothing_but_check(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file, no socket, no process, no secret."""
    monkeypatch.setenv("JURADO_ADMIN_PASSWORD", "a secret of the server")
    (tmp_path / "secret").write_text("x")
    with grading(sqlite_url, tmp_path / "files") as found:
        found.accept(submission(f"probe {tmp_path / 'secret'}".encode(), b"10"))
        found.wait()
        assert found.engine.graders().protections == dict.fromkeys(found.engine.graders().protections, "")
        assert "nothing" in messages(found)
    assert (tmp_path / "secret").read_text() == "x"


@pytest.mark.parametrize(
    ("forged", "error"),
    [
        ("pickle", "a reply that is none"),
        ("another case", "an unexpected reply"),
        ("another file", "a file that is not of its request"),
        ("huge", "a reply that is none"),
    ],
)
def test_what_no_checker_says_ends_its_grader(tmp_path: Path, forged: str, error: str) -> None:
    """A grader that answers for another case, asks for another file or sends no message of ours is killed."""
    grader = RunningGrader(EngineSettings(1, 2**31, 60.0, LocalFiles(tmp_path), PROGRAM))
    assert isinstance(grader.warm(Warm([])), Warmed)
    sha256 = LocalFiles(tmp_path).keep(b"input")
    answer = CaseAnswer(1, sha256, sha256, f"forge {forged}".encode(), None, None)
    failed = grader.grade(Grade("rogue", [answer]), 60)
    assert isinstance(failed, Failed)
    assert error in failed.error
    assert failed.blame
    assert not grader.alive


def test_graders_killed_from_outside_cost_an_answer_nothing(sqlite_url: str, tmp_path: Path) -> None:
    """Three kill -9 in a row, each while the answer is checked, and its fourth grader decides: accepted."""
    with grading(sqlite_url, tmp_path / "files", seconds=60) as found:
        found.accept(submission(b"stop", b"10"))
        for kill in (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGCONT):
            wait_for(lambda: any(map(is_stopped, found.engine.pids)))
            os.kill(found.engine.pids[0], kill)
        found.wait()
        assert found.types() == ["AC"]
        with found.database.read() as session:
            assert session.scalars(select(JudgementRow.failures)).one() == 0


def test_kills_while_a_test_case_is_checked_end_neither_it_nor_what_is_judged_meanwhile(
    sqlite_url: str, tmp_path: Path
) -> None:
    """The checker's reply comes from the grader that lives."""
    with grading(sqlite_url, tmp_path / "files", seconds=60) as found:
        asked = found.engine.validate(Validate("rogue", b"input", (), b"stop", b"input"))
        for kill in (signal.SIGKILL, signal.SIGKILL, signal.SIGCONT):
            wait_for(lambda: any(map(is_stopped, found.engine.pids)))
            os.kill(found.engine.pids[0], kill)
            if kill == signal.SIGKILL:
                found.accept(submission(b"10", b"10"))
        score = asked.result().score
        assert score is not None
        assert score.raw == 10
        found.wait()
        assert found.types() == ["AC", "AC"]


def test_a_killed_grader_is_replaced(sqlite_url: str, tmp_path: Path) -> None:
    with grading(sqlite_url, tmp_path / "files") as found:
        wait_for(lambda: bool(found.engine.pids))
        (worker,) = found.engine.pids
        os.kill(worker, signal.SIGKILL)
        found.accept(submission(b"10", b"10"))
        found.wait()
        assert found.engine.pids != [worker]
        assert found.engine.graders().deaths == 1


def test_a_grader_that_dies_while_it_starts_is_started_again(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warm, failures = RunningGrader.warm, count()

    def killed(grader: RunningGrader, request: Warm, seconds: float = 60.0) -> Warmed | Failed:
        if next(failures) < 2:
            grader.kill()
        return warm(grader, request, seconds)

    monkeypatch.setattr(RunningGrader, "warm", killed)
    with grading(sqlite_url, tmp_path / "files") as found:
        found.accept(submission(b"10", b"10"))
        found.wait()
        assert (found.types(), found.engine.graders().deaths) == (["AC"], 2)


def test_a_grader_starts_without_what_only_servers_need() -> None:
    """Whoever waits for a verdict after kills waits for its imports: numba comes with the first kernels."""
    dear = ("structlog", "sqlalchemy", "asyncio", "ssl", "numpy", "numba", "yaml")
    code = f"import sys, app.judging.service.grader; print([name for name in {dear} if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_messages_come_out_as_they_went_in() -> None:
    """Exact scores and the arguments of messages, also beyond 64 bits, pass the pipe."""
    score = FoundScore(7, CaseVerdict.ACCEPTED, 2**60, None, 1, WORDS, 3)
    reply = reply_of(encoded(graded(score)))
    assert isinstance(reply, Graded)
    assert reply.score == score
    asked = Grade("tokens", [CaseAnswer(1, "a" * 64, None, b"\0\xff", None, None, ["--x"])])
    assert request_of(encoded(asked)) == asked


@pytest.mark.parametrize(
    "changes",
    [
        {"run_time_ms": -1},
        {"verdict": "brilliant"},
        {"raw": "-1/2"},
        {"raw": "1/0"},
        {"multiplier": "2/1"},
        {"more": 1},
    ],
)
def test_a_score_that_cannot_be_is_no_message(changes: dict[str, object]) -> None:
    """Types, ranges and fields are checked where a reply comes in."""
    wire = {"test_case_id": 1, "verdict": "accepted", "raw": "1/1", "max_raw": None, "multiplier": "1/1"}
    wire |= {"message": json.dumps(WORDS), "run_time_ms": 0, **changes}
    with pytest.raises(ValueError):  # noqa: PT011 - each fault has words of its own
        reply_of(msgspec.msgpack.encode({"type": "Graded", "wire": wire}))


def test_the_environment_that_is_passed_on_holds_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is listed: a password or a token of whatever name stays with the server."""
    for name in ("JURADO_ADMIN_PASSWORD", "JURADO_DATABASE_URL", "PGPASSWORD", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "secret")
    assert "secret" not in clean_environment().values()


def test_a_solver_writes_below_its_folder_only(tmp_path: Path) -> None:
    """No socket, no process, no file of the server; its own folder is its to write."""
    folder, home = tmp_path / "run", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    (home / "secret").write_text("x")
    program = (Path(__file__).parents[2] / "builders/probe.py").read_text()
    (folder / "probing.py").write_text(program + "    Path(__file__).with_name('made').write_text('x')\n")
    command = [
        sys.executable,
        "-m",
        "app.sandbox.memory_limit",
        str(2**32),
        str(folder),
        "probing",
        str(home / "secret"),
    ]
    done = subprocess.run(
        command, env={**clean_environment(), "PYTHONPATH": str(folder)}, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("nothing\n", "")
    assert (folder / "made").exists()
    assert set(json.loads((folder / "protections").read_text()).values()) == {""}
