"""Rejudgings in the engine: behind those who wait, and not lost with the process."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import or_, select, update

from app.core.db.database import Database
from app.core.files.open_files import LocalFiles
from app.judging.queries import rejudging_steps, rejudgings
from app.tables import JudgementRow, RawScoreRow
from tests.builders.grading import Grading, add_rogue_contest, grading, submission


def begin(found: Grading) -> int:
    """Judge everything again."""
    with found.database.write() as session:
        return rejudging_steps.begin(session, "c", {}, "why", "a").id


def ready(database: Database, rejudging_id: int) -> bool:
    """Is all of it judged?"""
    with database.read() as session:
        progress = rejudgings.progress(session, rejudging_id)
    return progress.done == progress.total


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for something."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)


def test_a_rejudging_is_judged_beside_and_tells_nobody(database_url: str, tmp_path: Path) -> None:
    with grading(database_url, tmp_path / "files") as found:
        for answers in ([b"10", b"10"], [b"10", b"3"], [b"reject", b"reject"]):
            found.accept(submission(*answers))
        found.wait()
        told = len(found.judged)
        rejudging_id = begin(found)
        found.engine.wake(rejudging=True)
        until(lambda: ready(found.database, rejudging_id))
        assert found.types() == ["AC", "PC", "WA"] * 2
        assert len(found.judged) == told
        with found.database.read() as session:
            current = session.scalars(select(JudgementRow.id).where(JudgementRow.current)).all()
        assert sorted(current) == [1, 2, 3]
        until(lambda: found.waiting() == 0)  # counted after the commit that `ready` sees


def test_whoever_waits_for_a_verdict_is_served_before_a_rejudging_goes_on(sqlite_url: str, tmp_path: Path) -> None:
    """Of 100 that are judged again only a few are done before a submission that comes while the first one is judged."""
    with grading(sqlite_url, tmp_path / "files", seconds=60) as found:
        for _ in range(100):
            found.accept(submission(b"10", b"10"))
        found.wait()
        (grader,) = found.engine.pids
        os.kill(grader, signal.SIGSTOP)
        rejudging_id = begin(found)
        found.engine.wake(rejudging=True)
        until(lambda: _running(found))
        awaited = found.accept(submission(b"10", b"3")).judgement_id
        os.kill(grader, signal.SIGCONT)
        found.wait()
        until(lambda: ready(found.database, rejudging_id))
        with found.database.read() as session:
            ended = session.scalars(
                select(JudgementRow.id)
                .where(or_(JudgementRow.rejudging_id == rejudging_id, JudgementRow.id == awaited))
                .order_by(JudgementRow.end_time)
            ).all()
        assert len(ended) == 101
        assert 1 <= ended.index(awaited or 0) <= 16


def test_a_restart_goes_on_with_a_rejudging(database_url: str, tmp_path: Path) -> None:
    """Whatever was claimed when the server was killed is judged by the next one, once."""
    database, files = Database(database_url), LocalFiles(tmp_path / "files")
    add_rogue_contest(database, files)
    dead = Grading(database, files)  # never started, as if killed
    for _ in range(20):
        dead.accept(submission(b"10", b"4"))
    with database.write() as session:
        session.execute(update(JudgementRow).values(state="done", type="PC", end_time=JudgementRow.start_time))
    rejudging_id = begin(dead)
    with database.write() as session:
        mine = JudgementRow.rejudging_id == rejudging_id
        session.execute(update(JudgementRow).where(mine, JudgementRow.id < 30).values(state="running", attempt=1))
    dead.writer.close()
    with_new = Grading(database, files, graders=2)
    with_new.engine.start()
    until(lambda: ready(database, rejudging_id))
    with_new.close()
    with database.read() as session:
        scored = session.scalars(
            select(RawScoreRow.judgement_id).join(JudgementRow).where(JudgementRow.rejudging_id == rejudging_id)
        ).all()
    assert len(scored) == 40
    database.close()


def test_what_a_grader_is_at_when_a_rejudging_is_cancelled_is_not_recorded(sqlite_url: str, tmp_path: Path) -> None:
    with grading(sqlite_url, tmp_path / "files", seconds=1.0) as found:
        for _ in range(5):
            found.accept(submission(b"10"))
        found.wait()
        scores = found.scores()
        with found.database.write() as session:  # so that it would take long
            session.connection().exec_driver_sql("UPDATE answers SET data = CAST('loop' AS BLOB)")
        rejudging_id = begin(found)
        found.engine.wake(rejudging=True)
        until(lambda: _running(found))
        with found.database.write() as session:
            rejudging_steps.cancel(session, rejudging_steps.lock(session, rejudging_id))
        found.engine.wake(rejudging=True)
        found.accept(submission(b"10"))
        found.wait()  # the one grader is done with what it was at
        assert found.types() == ["PC"] * 6
        assert found.scores() == scores + 1


def _running(found: Grading) -> bool:
    with found.database.read() as session:
        return session.scalars(select(JudgementRow.id).where(JudgementRow.state == "running")).first() is not None
