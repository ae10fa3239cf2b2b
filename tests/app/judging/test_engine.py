"""The embedded engine: every submission is judged once, and a bad checker costs no one else anything."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.core.db.commits import CommitInDoubt
from app.core.db.database import Database
from app.core.db.writer import Writer
from app.core.files.open_files import LocalFiles
from app.judging.queries.judging_tasks import waiting_for_file
from app.judging.service.engine import JudgeFailed
from app.judging.service.graders import RunningGrader
from app.judging.service.messages import Failed, Validate, Warm, Warmed
from app.submissions.queries import judgements
from app.tables import AnswerRow, JudgementRow, TeamRow
from tests.builders.grading import Grading, add_rogue_contest, grading, is_stopped, submission


def test_verdicts_follow_the_answers(database_url: str, tmp_path: Path) -> None:
    """All in full is AC, something in between PC, nothing accepted WA."""
    with grading(database_url, tmp_path / "files") as found:
        for answers in ([b"10", b"10"], [b"10", b"3"], [b"10"], [b"reject", b"10"], [b"reject", b"reject"]):
            found.accept(submission(*answers))
        found.wait()
        assert found.types() == ["AC", "PC", "PC", "PC", "WA"]
        assert found.judged == ["c"] * 5


@pytest.mark.parametrize("fault", [b"raise", b"exit", b"eat", b"loop"])
def test_a_failing_checker_costs_its_own_judgement_only(sqlite_url: str, tmp_path: Path, fault: bytes) -> None:
    """Three attempts, then a judge error; what was submitted before and after is judged as ever."""
    with grading(sqlite_url, tmp_path / "files", seconds=0.5 if fault == b"loop" else 60) as found:
        for answers in ([b"10", b"10"], [fault, b"10"], [b"10", b"10"]):
            found.accept(submission(*answers))
        found.wait()
        assert found.types() == ["AC", "JE", "AC"]
        with found.database.read() as session:
            failed = session.scalars(select(JudgementRow).where(JudgementRow.type == "JE")).one()
        assert failed.failures == 3
        assert failed.error


def test_a_killed_grader_is_started_again(sqlite_url: str, tmp_path: Path) -> None:
    """kill -9 of a grader between two submissions is not even noticed."""
    with grading(sqlite_url, tmp_path / "files") as found:
        found.accept(submission(b"10", b"10"))
        found.wait()
        for pid in found.engine.pids:
            os.kill(pid, signal.SIGKILL)
        found.accept(submission(b"10", b"10"))
        found.wait()
        assert found.types() == ["AC", "AC"]


def test_a_restart_takes_up_what_waits(database_url: str, tmp_path: Path) -> None:
    """Rows are the queue: queued and half-judged submissions of a dead server are judged by the next, once."""
    database, files = Database(database_url), LocalFiles(tmp_path / "files")
    add_rogue_contest(database, files)
    dead = Grading(database, files)  # never started, as if killed
    for _ in range(5):
        dead.accept(submission(b"10", b"4"))
    with database.write() as session:
        session.get_one(JudgementRow, 2).state = "running"
        session.get_one(JudgementRow, 2).attempt = 1
    dead.writer.close()
    with_new = Grading(database, files, graders=2)
    with_new.engine.start()
    with_new.wait()
    assert with_new.types() == ["PC"] * 5
    assert with_new.scores() == 10
    with_new.close()
    database.close()


def test_many_at_once_are_each_judged_once(database_url: str, tmp_path: Path) -> None:
    """200 submissions over two graders leave 200 judgements with exactly one score a case."""
    with grading(database_url, tmp_path / "files", graders=2) as found:
        for _ in range(200):
            found.accept(submission(b"10", b"4"))
        found.wait()
        assert found.types() == ["PC"] * 200
        assert found.scores() == 400


class WithoutReply(Writer):
    """A writer that undoes the first outcome, and says of it that its commit is in doubt."""

    lost = False

    def submit(self, function: Any, argument: Any, **options: bool) -> Any:
        if function is not judgements.record_many or self.lost:
            return super().submit(function, argument, **options)
        self.lost = True
        failed: Future[bool] = Future()
        failed.set_exception(CommitInDoubt("whether transaction 7 was committed is not known"))
        return failed


class SweptBefore(set[int]):
    """What is at work, while another grader sweeps at the worst moment: before the end of each claim."""

    def __init__(self, sweep: Callable[[], None]) -> None:
        super().__init__()
        self.sweep = sweep

    def difference_update(self, *others: Iterable[object]) -> None:
        self.sweep()
        super().difference_update(*others)


def test_a_sweep_that_comes_before_a_claim_ends_leaves_its_doubt_to_the_next(database_url: str, tmp_path: Path) -> None:
    """An outcome whose commit is in doubt is judged again, whenever another grader sweeps."""
    database, files = Database(database_url), LocalFiles(tmp_path / "files")
    add_rogue_contest(database, files)
    found = Grading(database, files, writer=WithoutReply(database))
    claims = found.engine._claims
    claims.at_work = SweptBefore(claims.free)
    found.accept(submission(b"10", b"10"))
    found.engine.start()
    until(lambda: found.types() == ["AC"])
    found.close()
    database.close()


def press(writer: Writer) -> None:
    """Send the writer as many requests at once as press it."""

    async def calls() -> None:
        await asyncio.gather(*(writer.call(lambda _connection, all_: [None] * len(all_), None) for _ in range(200)))

    until(lambda: writer.pressed or bool(asyncio.run(calls())))


@pytest.mark.parametrize("in_a_rush", [True, False])
def test_outcomes_of_a_claim_are_recorded_together(sqlite_url: str, tmp_path: Path, in_a_rush: bool) -> None:
    """In a rush until all of it is judged, otherwise for a moment, which is long here: judging adds few commits."""
    database, files = Database(sqlite_url), LocalFiles(tmp_path / "files")
    add_rogue_contest(database, files)
    found = Grading(database, files, writer=Writer(database, pressed_seconds=600.0, waiting_seconds=1.0))
    for _ in range(40):
        found.accept(submission(b"10", b"4"))
    if in_a_rush:
        press(found.writer)
    commits: list[int] = []
    found.writer.on_commit = lambda writes, _seconds: commits.append(writes)
    found.engine.start()
    found.wait()
    assert found.types() == ["PC"] * 40
    assert len(commits) <= 20, commits
    found.close()
    database.close()


def test_a_repeated_key_is_one_submission(database_url: str, tmp_path: Path) -> None:
    """The same Idempotency-Key gives the first submission back and inserts nothing."""
    with grading(database_url, tmp_path / "files") as found:
        first, again = found.accept(submission(b"1", key="k")), found.accept(submission(b"2", key="k"))
        assert (again.submission_id, again.repeated) == (first.submission_id, True)
        found.wait()
        with found.database.read() as session:
            assert session.scalars(select(AnswerRow.data)).all() == [b"1"]


def test_a_test_case_is_validated_by_a_grader(sqlite_url: str, tmp_path: Path) -> None:
    """A valid one gives the answer's score, an invalid answer its faults, a failing checker an error."""
    with grading(sqlite_url, tmp_path / "files") as found:
        good = found.engine.validate(Validate("rogue", b"input", (), b"7", b"input")).result()
        assert good.score is not None
        assert (good.faults, good.score.raw) == ([], 7)
        bad = found.engine.validate(Validate("rogue", b"input", (), b"reject", b"input")).result()
        assert bad.faults[0]["text"] == "line 1: expected a number, found reject"
        with pytest.raises(JudgeFailed, match="the checker has a fault"):
            found.engine.validate(Validate("rogue", b"input", (), b"raise", b"input")).result()


def test_a_team_that_sent_many_holds_back_no_other(sqlite_url: str, tmp_path: Path) -> None:
    """Also after a restart teams have their turns: of 20 submissions of one team and one of another, that is second."""
    database, files = Database(sqlite_url), LocalFiles(tmp_path / "files")
    add_rogue_contest(database, files)
    with database.write() as session:
        session.add(TeamRow(id="late", name="Late", label="2", hidden=False))
    dead = Grading(database, files)
    for _ in range(20):
        dead.accept(submission(b"10", b"4"))
    last = dead.accept(replace(submission(b"10", b"10"), team_id="late"))
    dead.writer.close()
    with_new = Grading(database, files)
    with_new.engine.start()
    with_new.wait()
    with database.read() as session:
        ended = list(session.scalars(select(JudgementRow.id).order_by(JudgementRow.end_time)))
    assert ended.index(last.judgement_id) == 1
    with_new.close()
    database.close()


def test_a_damaged_file_keeps_what_needs_it_waiting(database_url: str, tmp_path: Path) -> None:
    """There is no judge error: the file is named, and once it is sound again the submission is judged."""
    faults: list[str] = []
    with grading(database_url, tmp_path / "files") as found:
        found.files.on_fault = lambda sha256, _error: faults.append(sha256)
        large = found.files.keep(b"10")
        path = found.files.path(large)
        path.write_bytes(path.read_bytes()[:-3])
        sent = submission(b"10", b"10")
        found.accept(replace(sent, answers=[replace(sent.answers[0], data=None, sha256=large), sent.answers[1]]))
        found.accept(submission(b"10", b"3"))
        until(lambda: found.types() == [None, "PC"] and faults == [large])
        until(lambda: waiting_for(found, large) == 1)
        found.files.keep(b"10")
        with found.database.write() as session:  # the pause before the next attempt
            session.get_one(JudgementRow, 1).not_before = None
        until(lambda: found.types() == ["AC", "PC"])
        assert waiting_for(found, large) == 0
        with found.database.read() as session:
            assert session.get_one(JudgementRow, 1).failures == 0


def test_what_a_killed_graders_thread_had_claimed_is_judged_by_others_while_it_has_no_grader(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the answer being checked goes back to the queue; that one is judged once there is a grader again."""
    database, files = Database(sqlite_url), LocalFiles(tmp_path / "files")
    add_rogue_contest(database, files)
    dead = Grading(database, files)  # never started, so that there is much to claim at once
    for answer in (b"stop", *[b"10"] * 7):
        dead.accept(submission(answer, b"10"))
    dead.writer.close()
    running = Grading(database, files, graders=2, seconds=60)
    may_start, started, warm = threading.Event(), count(), RunningGrader.warm

    def warm_late(grader: RunningGrader, request: Warm, seconds: float = 60.0) -> Warmed | Failed:
        if next(started) >= 2:
            may_start.wait(60)
        return warm(grader, request, seconds)

    monkeypatch.setattr(RunningGrader, "warm", warm_late)
    running.engine.start()
    until(lambda: len(running.engine.pids) == 2 and any(map(is_stopped, running.engine.pids)))
    os.kill(next(filter(is_stopped, running.engine.pids)), signal.SIGKILL)
    until(lambda: running.types() == [None, *["AC"] * 7])
    may_start.set()
    until(lambda: any(map(is_stopped, running.engine.pids)))
    os.kill(next(filter(is_stopped, running.engine.pids)), signal.SIGCONT)
    running.wait()
    assert running.types() == ["AC"] * 8
    assert running.scores() == 16
    running.close()
    database.close()


def test_an_answer_whose_graders_are_killed_again_and_again_ends_as_a_judge_error(
    sqlite_url: str, tmp_path: Path
) -> None:
    with grading(sqlite_url, tmp_path / "files") as running:
        running.accept(submission(b"kill", b"10"))
        while running.types()[0] is None:
            running.accept(submission(b"10", b"10"))
            until(lambda: running.types()[-1] == "AC" or running.types()[0] == "JE")
        running.wait()
        assert running.types()[0] == "JE"
        assert set(running.types()[1:]) == {"AC"}
        with running.database.read() as session:
            assert "status -9" in str(session.get_one(JudgementRow, 1).error)


def waiting_for(found: Grading, sha256: str) -> int:
    """How many judgements wait for a file."""
    with found.database.read() as session:
        return waiting_for_file(session, sha256)


def current_types(found: Grading) -> dict[int, str | None]:
    """The type of the judgement that counts, by submission."""
    with found.database.read() as session:
        rows = session.execute(select(JudgementRow.submission_id, JudgementRow.type).where(JudgementRow.current))
        return {row[0]: row[1] for row in rows}


def until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)
