"""Grading on one core: answers and bytes a second through the checkers, alone and on the whole way to stored rows."""

from __future__ import annotations

import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import select

from app.core.db.database import Database
from app.core.db.writer import Writer
from app.core.files.open_files import LocalFiles
from app.domain.documents import CaseAnswer
from app.judging.service.engine import Engine
from app.judging.service.grader import Grader
from app.judging.service.graders import EngineSettings
from app.judging.service.messages import Grade
from app.packages.catalog import bundled
from app.submissions.queries import submissions
from app.submissions.queries.submissions import NewAnswer, NewSubmission
from app.tables import TestCaseRow
from bench.stage import CONTEST, prepare
from tests.builders.grading import count_waiting

PROBLEMS = ("comesolo", "rollingballs")
SECONDS = 3.0
SUBMISSIONS = 400


def main() -> int:
    """Print a row a problem for the checkers alone, then the drain of a full queue by one grader process."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        prepare(home, problems=PROBLEMS)
        database, files = Database(f"sqlite:///{home / 'jurado.db'}"), LocalFiles(home / "files")
        print(f"{'':34}{'answers/s':>10}{'MB/s':>8}{'us/answer':>11}")
        for problem in PROBLEMS:
            answers = reference_answers(database, problem)
            row(f"{problem}, checker alone", *checker_alone(Grader(files), problem, answers))
        row("comesolo, queue to rows, 1 grader", *drain(database, files, reference_answers(database, "comesolo")))
        database.close()
    return 0


def row(name: str, count: int, size: int, seconds: float) -> None:
    """Print one row."""
    print(f"{name:34}{count / seconds:10.0f}{size / seconds / 1e6:8.1f}{seconds / count * 1e6:11.1f}")


def reference_answers(database: Database, problem: str) -> list[CaseAnswer]:
    """Read the reference's answer to each case, as a grader gets it."""
    plays = {p.stem: p.read_bytes() for p in (bundled()[problem] / "submissions/accepted/reference").rglob("*.out")}
    with database.read() as session:
        rows = session.scalars(select(TestCaseRow).where(TestCaseRow.problem_id == problem)).all()
    return [
        CaseAnswer(row.id, row.input_sha256, row.answer_sha256, plays[row.name], None, None)
        for row in rows
        if row.name in plays
    ]


def checker_alone(grader: Grader, problem: str, answers: list[CaseAnswer]) -> tuple[int, int, float]:
    """Grade in this process; returns answers, bytes, seconds."""
    list(grader.grade(Grade(problem, answers)))
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        count += len(list(grader.grade(Grade(problem, answers))))
    size = sum(len(answer.data or b"") for answer in answers) * count // len(answers)
    return count, size, time.perf_counter() - began


def drain(database: Database, files: LocalFiles, answers: list[CaseAnswer]) -> tuple[int, int, float]:
    """Queue submissions of all cases, then let one grader process judge and record them all."""
    writer = Writer(database)
    new = [NewAnswer(a.test_case_id, "x.out", len(a.data or b""), None, a.data) for a in answers]
    template = NewSubmission(CONTEST, "comesolo", "team1", "team1", datetime.now(UTC), 0, new)
    for future in [writer.submit(submissions.accept, template) for _ in range(SUBMISSIONS)]:
        future.result()
    settings = EngineSettings(1, 2**31, 10.0, files)
    engine = Engine(database, writer, settings, lambda *_: None)
    engine.start()
    while count_waiting(database) == SUBMISSIONS:  # loading kernels is not grading
        time.sleep(0.02)  # a look is a query
    left, began = count_waiting(database), time.perf_counter()
    while count_waiting(database):
        time.sleep(0.02)  # a look is a query
    seconds = time.perf_counter() - began
    engine.close()
    writer.close()
    count = left * len(answers)
    return count, sum(answer.size for answer in new) * left, seconds
