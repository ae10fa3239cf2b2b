"""A contest whose one problem has a checker that misbehaves on demand, run by real grader processes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
from sqlalchemy import func, select

from app.core.db.database import Database
from app.core.db.writer import Writer
from app.core.files.open_files import LocalFiles
from app.judging.service.engine import Engine
from app.judging.service.graders import EngineSettings
from app.submissions.queries import submissions
from app.submissions.queries.submissions import Accepted, NewAnswer, NewSubmission
from app.submissions.tables import DONE
from app.tables import (
    AccountRow,
    ContestProblemRow,
    ContestRow,
    JudgementRow,
    ProblemRow,
    RawScoreRow,
    TeamRow,
    TestCaseRow,
    TestGroupRow,
)

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
PROGRAM = "tests.builders.rogue_grader"


def add_rogue_contest(database: Database, files: LocalFiles, *, cases: int = 2) -> None:
    """Contest `c`, team `t`, account `a`, and the problem `rogue` with cases 1, 2, ..."""
    with database.write() as session:
        session.add(TeamRow(id="t", name="Team", label="1", hidden=False))
        session.flush()
        session.add(AccountRow(id="a", username="a", type="team", team_id="t", created=NOW))
        start = NOW - timedelta(hours=1)
        session.add(ContestRow(id="c", name="C", start_time=start, duration_ms=10**8, open_to_all=True))
        settings = {"checker": "rogue", "scoring": {"kind": "absolute", "direction": "maximise"}}
        facts = {"uuid": "u", "names": {"en": "Rogue"}, "metadata_": {}, "statements": {}, "package_sha256": ""}
        session.add(ProblemRow(id="rogue", settings=settings, created=NOW, updated=NOW, **facts))
        session.flush()
        group = {"problem_id": "rogue", "name": "secret", "ordinal": 1, "kind": "provisional"}
        session.add(TestGroupRow(**group, max_points_num=100, max_points_den=1, aggregation="sum", require_pass=[]))
        session.add(ContestProblemRow(contest_id="c", problem_id="rogue", label="A", ordinal=1, rule={}))
        sha256 = files.keep(b"input")
        for at in range(1, cases + 1):
            row = TestCaseRow(problem_id="rogue", group_name="secret", name=str(at), ordinal=at, id=at)
            row.points_num, row.points_den = 100, cases
            row.input_sha256, row.input_size, row.answer_sha256, row.answer_size = sha256, 5, sha256, 5
            session.add(row)


def add_second_contest(database: Database) -> None:
    """Contest `d` with the same problem, for team `u` with account `b`."""
    with database.write() as session:
        session.add(TeamRow(id="u", name="Other team", label="2", hidden=False))
        session.flush()
        session.add(AccountRow(id="b", username="b", type="team", team_id="u", created=NOW))
        session.add(ContestRow(id="d", name="D", start_time=NOW - timedelta(hours=1), duration_ms=10**8))
        session.flush()
        session.add(ContestProblemRow(contest_id="d", problem_id="rogue", label="A", ordinal=1, rule={}))


def limit_seconds(database: Database, seconds: float) -> None:
    """Limit the grading time of a submission to the problem `rogue`."""
    with database.write() as session:
        row = session.get_one(ProblemRow, "rogue")
        row.settings = {**row.settings, "submission_seconds": seconds}
        row.updated += timedelta(seconds=1)


def count_waiting(database: Database) -> int:
    """How many live judgements are not done."""
    query = select(func.count()).where(JudgementRow.state != DONE, JudgementRow.rejudging_id.is_(None))
    with database.read() as session:
        return session.scalar(query) or 0


def submission(*answers: bytes, key: str | None = None) -> NewSubmission:
    """A submission of team `t` with these answers for cases 1, 2, ..."""
    files = [NewAnswer(at, f"{at}.out", len(data), None, data) for at, data in enumerate(answers, start=1)]
    return NewSubmission("c", "rogue", "t", "a", NOW, 3_600_000, files, idempotency_key=key)


class Grading:
    """An engine over one database, with what tests ask of it."""

    def __init__(
        self,
        database: Database,
        files: LocalFiles,
        *,
        graders: int = 1,
        seconds: float = 60.0,
        writer: Writer | None = None,
    ) -> None:
        self.database = database
        self.files = files
        self.writer = writer or Writer(database)
        self.judged: list[str] = []
        settings = EngineSettings(graders, 2**31, seconds, files, PROGRAM)
        self.engine = Engine(database, self.writer, settings, lambda contest_id, _: self.judged.append(contest_id))

    def accept(self, new: NewSubmission, *, tell: bool = True) -> Accepted:
        """Make a submission durable and tell the engine of it."""
        accepted = self.writer.submit(submissions.accept, new).result()
        assert isinstance(accepted, Accepted)
        if tell and accepted.judgement_id is not None:
            self.engine.wake()
        return accepted

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until nothing waits to be judged."""
        until = time.monotonic() + seconds
        while waiting := self.waiting():
            assert time.monotonic() < until, f"{waiting} judgements still wait"
            time.sleep(0.005)

    def waiting(self) -> int:
        """How many live judgements are not done."""
        return count_waiting(self.database) or self.engine.at_work

    def types(self) -> list[str | None]:
        """Every judgement's type, in order."""
        with self.database.read() as session:
            return list(session.scalars(select(JudgementRow.type).order_by(JudgementRow.id)))

    def scores(self) -> int:
        """How many raw scores there are."""
        with self.database.read() as session:
            return session.scalar(select(func.count()).select_from(RawScoreRow)) or 0

    def close(self) -> None:
        """Stop."""
        self.engine.close()
        self.writer.close()


@contextmanager
def grading(
    url: str,
    folder: Path,
    *,
    graders: int = 1,
    seconds: float = 60.0,
    cases: int = 2,
) -> Iterator[Grading]:
    """A running engine over the rogue contest."""
    database, files = Database(url), LocalFiles(folder)
    add_rogue_contest(database, files, cases=cases)
    grading = Grading(database, files, graders=graders, seconds=seconds)
    grading.engine.start()
    try:
        yield grading
    finally:  # else it continues judging in a database that the next test is given
        grading.close()
        database.close()


def is_stopped(pid: int) -> bool:
    """Has the process halted itself?"""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_STOPPED
    except psutil.NoSuchProcess:
        return False
