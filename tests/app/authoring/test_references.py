"""Reference runs: real solver processes make expected answers, and can be watched, cancelled and interrupted."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from app.core.db.database import Database
from app.core.db.locks import Locks
from app.core.db.writer import Writer
from app.core.files.open_files import LocalFiles
from app.judging.queries import rejudging_changes, rejudging_steps, rejudgings
from app.judging.service.engine import Engine
from app.judging.service.graders import EngineSettings
from app.judging.service.jobs import JobRunner
from app.judging.service.messages import Validate, Validated
from app.judging.service.reference_runs import REFERENCE_RUN
from app.packages.catalog import bundled
from app.packages.read import read_package
from app.problems.queries import pins, problems, testcases, testdata
from app.problems.queries.versions import Author
from app.tables import AccountRow, ContestProblemRow, ContestRow, JobRow, JudgementRow, SubmissionRow, TestCaseRow
from tests.builders.service import Idle

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
CASE = "101-n05-p70"


class Bench:
    """A service's engine and job runner over a database with the problem comesolo."""

    def __init__(self, url: str, folder: Path) -> None:
        self.database, self.files = Database(url), LocalFiles(folder)
        with self.database.write() as session:
            problems.import_package(session, self.files, read_package(bundled()["comesolo"]))
        self.writer = Writer(self.database)
        settings = EngineSettings(1, 2**31, 10.0, self.files)
        self.engine = Engine(self.database, self.writer, settings, lambda *_: None)
        self.engine.start()
        self.runner = self.new_runner()

    def new_runner(self, locks: Locks | None = None) -> JobRunner:
        """A job runner, as a server makes one when it starts."""
        return JobRunner(self.database, self.files, self.engine, lambda *_: None, locks)

    def queue(self, *, method: str = "greedy", seconds: float = 0.2, cases: tuple[str, ...] = (CASE,)) -> str:
        """Queue a reference run."""
        params = {"problem_id": "comesolo", "checker": "comesolo", "solver": "comesolo", "cases": list(cases)}
        how = {"method": method, "seed": 1, "seconds": seconds, "memory": 1024}
        with self.database.write() as session:
            return pins.add(session, REFERENCE_RUN, params | how, None).id

    def job(self, job_id: str) -> JobRow:
        """The job as it is now."""
        with self.database.read() as session:
            return session.get_one(JobRow, job_id)

    def case(self, name: str = CASE) -> TestCaseRow:
        """A test case as it is now."""
        with self.database.read() as session:
            row = problems.test_case(session, "comesolo", name)
        assert row is not None
        return row

    def judged_again(self, rejudging_id: int) -> bool:
        """Whether every judgement of a rejudging is done."""
        with self.database.read() as session:
            progress = rejudgings.progress(session, rejudging_id)
        return progress.done == progress.total

    def forget_answer(self) -> None:
        """Make the case one without an expected answer."""
        with self.database.write() as session:
            row = problems.test_case(session, "comesolo", CASE)
            assert row is not None
            row.answer_sha256 = row.answer_size = row.reference_raw_num = row.reference_raw_den = None

    def close(self) -> None:
        """Stop everything."""
        self.runner.close()
        self.engine.close()
        self.writer.close()
        self.database.close()


@pytest.fixture
def bench(sqlite_url: str, tmp_path: Path) -> Iterator[Bench]:
    """One bench, closed afterwards."""
    found = Bench(sqlite_url, tmp_path / "files")
    yield found
    found.close()


def until(true: Callable[[], bool], seconds: float = 90.0) -> None:
    """Wait for something."""
    limit = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < limit, "it did not happen"
        time.sleep(0.02)


def solvers() -> list[psutil.Process]:
    """The solver processes below this one."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if "solvers" in process.cmdline():
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


def test_where_there_are_submissions_the_answers_of_a_run_wait_as_one_rejudging(bench: Bench) -> None:
    """Two cases open with it, and no one is told until it is applied."""
    with bench.database.write() as session:
        names = [case.name for case in problems.test_cases(session, "comesolo") if case.name != CASE]
        other = names[0]
        for name in (CASE, other):
            row = problems.test_case(session, "comesolo", name)
            assert row is not None
            row.answer_sha256 = row.answer_size = row.reference_raw_num = row.reference_raw_den = None
        session.add(ContestRow(id="c", name="C", start_time=NOW, duration_ms=10**9, open_to_all=True))
        session.add(AccountRow(id="a", username="a", type="admin", created=NOW))
        session.flush()
        session.add(ContestProblemRow(contest_id="c", problem_id="comesolo", label="A", ordinal=1, rule={}))
        sent = SubmissionRow(contest_id="c", problem_id="comesolo", account_id="a", time=NOW, contest_time_ms=0)
        session.add(sent)
        session.flush()
        session.add(JudgementRow(submission_id=sent.id, state="done", type="CE", start_time=NOW, end_time=NOW))
    job_id = bench.queue(cases=(CASE, other))
    bench.runner.start()
    until(lambda: bench.job(job_id).state in pins.ENDED)
    results = (bench.job(job_id).result or {})["cases"]
    assert {name: result.get("rejudging") for name, result in results.items()} == {CASE: "1", other: "1"}
    assert (bench.case().answer_sha256, bench.case(other).answer_sha256) == (None, None)
    until(lambda: bench.judged_again(1))
    with bench.database.write() as session:
        rejudging_steps.apply(session, rejudging_steps.lock(session, 1))
    assert None not in {bench.case().answer_sha256, bench.case(other).answer_sha256}


def test_a_case_whose_new_input_waits_in_a_rejudging_is_solved_as_it_will_be(bench: Bench) -> None:
    """The run solves the new input, and its answer becomes a part of the rejudging, which can then be applied."""
    with bench.database.write() as session:
        session.add(ContestRow(id="c", name="C", start_time=NOW, duration_ms=10**9, open_to_all=True))
        session.add(AccountRow(id="a", username="a", type="admin", created=NOW))
        session.flush()
        session.add(ContestProblemRow(contest_id="c", problem_id="comesolo", label="A", ordinal=1, rule={}))
        sent = SubmissionRow(contest_id="c", problem_id="comesolo", account_id="a", time=NOW, contest_time_ms=0)
        session.add(sent)
        session.flush()
        session.add(JudgementRow(submission_id=sent.id, state="done", type="CE", start_time=NOW, end_time=NOW))
    given = bench.files.load(bench.case("105-n12-p30").input_sha256)

    def put() -> None:
        new = testcases.NewCase("secret", CASE, testcases.keep(bench.files, given))
        testdata.write(session, testdata.DataChange("comesolo", [new]))

    with bench.database.write() as session:
        change = rejudging_changes.Change("comesolo", put, Author(None, "why"))
        row = rejudging_changes.change_problem(session, change)
        assert row is not None
        assert rejudgings.unanswered(session, row) == [CASE]
    job_id = bench.queue()
    bench.runner.start()
    until(lambda: bench.job(job_id).state in pins.ENDED)
    assert (bench.job(job_id).result or {})["cases"][CASE]["rejudging"] == "1"
    until(lambda: bench.judged_again(1))
    with bench.database.write() as session:
        rejudging_steps.apply(session, rejudging_steps.lock(session, 1))
    assert bench.files.load(bench.case().input_sha256) == given
    assert bench.case().answer_sha256 is not None


def test_a_run_makes_the_expected_answer_and_says_how(bench: Bench) -> None:
    """The answer is checked, kept with its raw score, method, seed, seconds and version, and the case is open again."""
    bench.forget_answer()
    job_id = bench.queue()
    bench.runner.start()
    until(lambda: bench.job(job_id).state in pins.ENDED)
    job, case = bench.job(job_id), bench.case()
    assert (job.state, job.progress) == ("done", 1.0), job.log
    assert case.answer_sha256 is not None
    assert bench.files.load(case.answer_sha256).startswith(b"par ")
    assert case.reference_raw_num == case.provenance["raw"]
    assert {"method": "greedy", "seed": 1}.items() <= case.provenance.items()
    assert case.provenance["version"]
    assert bench.files.load(case.provenance["solution_sha256"]).split()[0] == str(case.provenance["raw"]).encode()
    assert case.points_num / case.points_den == 5


def test_a_cancelled_run_dies_with_its_whole_tree_and_changes_nothing(bench: Bench) -> None:
    """Cancelling kills what runs within a second; the answer stays the old one."""
    before = bench.case().answer_sha256
    job_id = bench.queue(method="beam", seconds=300, cases=("105-n12-p30",))
    bench.runner.start()
    until(lambda: bool(solvers()))
    with bench.database.write() as session:
        assert pins.cancel(session, job_id)
    until(lambda: not solvers())
    assert bench.job(job_id).state == "cancelled"
    with bench.database.write() as session:
        assert not pins.cancel(session, job_id)
    assert bench.case().answer_sha256 == before


def test_a_run_whose_problem_is_deleted_before_or_while_it_solves_says_so(bench: Bench) -> None:
    """It is no fault of the server: nothing is logged as one."""
    solving, waiting = bench.queue(seconds=2), bench.queue()

    def delete() -> None:
        until(lambda: bool(solvers()))
        with bench.database.write() as session:
            assert problems.remove(session, "comesolo")

    deleting = threading.Thread(target=delete)
    deleting.start()
    bench.runner.run(solving)
    deleting.join()
    bench.runner.run(waiting)
    assert bench.job(solving).result == {"cases": {CASE: {"error": "the problem was deleted meanwhile"}}}
    assert bench.job(waiting).result == {"error": "the problem was deleted meanwhile"}


def test_workers_run_a_job_one_at_a_time_under_its_lock_and_take_up_what_a_dead_one_left(
    postgresql_url: str, tmp_path: Path
) -> None:
    bench = Bench(postgresql_url, tmp_path / "files")
    locks = [Locks(postgresql_url), Locks(postgresql_url)]
    one, other = (bench.new_runner(each) for each in locks)
    left, given_up, long = bench.queue(), bench.queue(), bench.queue(method="beam", seconds=300, cases=("105-n12-p30",))
    with bench.database.write() as session:
        for job_id, attempt in ((left, 1), (given_up, 3)):
            row = session.get_one(JobRow, job_id)
            row.state, row.attempt = "running", attempt
    for job_id in (left, given_up):
        other.run(job_id)
    assert (bench.job(left).state, bench.job(left).attempt) == ("done", 2)
    assert bench.job(given_up).state == "failed"
    running = threading.Thread(target=one.run, args=(long,))
    running.start()
    until(lambda: bool(solvers()))
    other.run(long)  # returns at once: the first worker has it
    assert (bench.job(long).state, bench.job(long).attempt) == ("running", 1)
    with bench.database.write() as session:
        assert pins.cancel(session, long)  # by a server, which runs nothing
    until(lambda: not running.is_alive())
    assert not solvers()
    assert bench.job(long).state == "cancelled"
    for each in locks:
        each.close()
    bench.close()


def test_an_interrupted_run_is_taken_up_but_not_for_ever(bench: Bench) -> None:
    """What a dead server was working on is queued again; after three attempts it has failed."""
    taken_up, given_up = bench.queue(), bench.queue()
    with bench.database.write() as session:
        for job_id, attempt in ((taken_up, 1), (given_up, 3)):
            row = session.get_one(JobRow, job_id)
            row.state, row.attempt = "running", attempt
    bench.runner.start()
    until(lambda: bench.job(taken_up).state == "done")
    assert bench.job(taken_up).attempt == 2
    until(lambda: bench.job(given_up).state == "failed")  # it comes after the other one
    assert bench.job(given_up).result == {"error": "interrupted 3 times"}


def test_a_run_that_fails_says_why(bench: Bench) -> None:
    """A method that does not exist, and too little memory, end the job with the solver's own words."""
    job_id = bench.queue(method="magic")
    bench.runner.start()
    until(lambda: bench.job(job_id).state in pins.ENDED)
    job = bench.job(job_id)
    assert job.state == "failed"
    assert job.result is not None
    assert "magic" in job.result["cases"][CASE]["error"]


class Silent(Idle):
    """An engine whose graders never reply."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    def validate(self, _request: Validate) -> Future[Validated]:
        """Take the request."""
        self.asked.set()
        return Future()


def test_a_server_that_stops_does_not_wait_for_the_scores_of_expected_answers(bench: Bench) -> None:
    """Each takes a grader, and after a start these are still warming up."""
    engine = Silent()
    runner = JobRunner(bench.database, bench.files, engine, lambda *_: None)
    runner.start()
    assert engine.asked.wait(60)
    runner.close()
    assert "jobs" not in {thread.name for thread in threading.enumerate()}


def test_expected_answers_of_packages_get_their_raw_scores(bench: Bench) -> None:
    """So that they can take part in BEST; comesolo's from the anchors of its reference files."""
    assert bench.case().reference_raw_num is None
    bench.runner.start()
    until(lambda: bench.case("120-n20-p30").reference_raw_num is not None)
    assert bench.case().reference_raw_num == 16
