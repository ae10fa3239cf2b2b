"""Jobs: long work that waits in rows, one at a time in a process: reference runs and verifications.

Expected answers that came with packages are scored first, by one process of an installation.

Guarantee 7: the job watch stops a job that another process may run.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import cast

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.core.db.audit import Actor
from app.core.db.database import Database
from app.core.db.locks import Locks
from app.core.db.writer import Writer
from app.core.faults import PackageErrors
from app.core.files.files import Files, FileStore
from app.core.files.stored_bytes import UNREADABLE
from app.core.json_documents import CaseResult, JobResult, RunParams, VerificationParams
from app.core.loops import FOREVER, Loop
from app.core.settings import Settings
from app.domain.documents import FoundScore
from app.judging.service.broker import Sender
from app.judging.service.engine import Engine, NotJudged
from app.judging.service.graders import engine_settings
from app.judging.service.messages import Validate
from app.judging.service.reference_runs import DELETED, REFERENCE_RUN, Progress, ReferenceRun, cases_of
from app.judging.service.solver_process import SolverProcess
from app.judging.service.verification import Ended, verify_stored
from app.problems.queries import pins, testcases
from app.problems.queries.pins import VERIFICATION
from app.programs.tools import Solving
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.tables import JobRow, ProblemRow, TestCaseRow

log = structlog.get_logger()

REFERENCE_OPERATION = "start_reference_run"
SCORING = "expected answers"
MOST_ATTEMPTS = 3
SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_BETWEEN_JOBS = 2.0
SECONDS_BETWEEN_REPLIES = 0.1


class JobRunner:
    """The loop that works on one job at a time, so that a reference run never takes every core from the graders.

    Each job is run under a lock, so that no two workers run the same. `on_changed` is called with a problem's id, or
    empty for all, after its expected answers have changed.
    """

    def __init__(
        self,
        database: Database,
        files: FileStore,
        engine: Engine,
        on_changed: Callable[[str], None],
        locks: Locks | None = None,
        seconds: float = SECONDS_BETWEEN_JOBS,
    ) -> None:
        self._database = database
        self._files = files
        self._engine = engine
        self._on_changed = on_changed
        self._locks = locks or Locks()
        self._running: tuple[str, SolverProcess | Solving] | None = None
        self._cancelled: set[str] = set()
        self._closing = False
        self._is_scored = False
        self._loop = Loop("jobs", self._step, seconds)

    def start(self) -> None:
        """Begin with jobs that wait, or that a dead process left."""
        self._loop.start()

    def wake(self, _job_id: str = "") -> None:
        """A job has been queued (and is durable)."""
        self._loop.wake()

    def _stop(self, job_id: str) -> None:
        """Kill what a job runs, if it is this one's; its row stays as it is."""
        self._cancelled.add(job_id)
        if (running := self._running) is not None and running[0] == job_id:
            running[1].kill()

    def close(self) -> None:
        """Kill what runs and stop; its job is taken up at the next start, or by another worker."""
        self._closing = True
        if (running := self._running) is not None:
            running[1].kill("the server stops")
        self._loop.close(30)

    def _step(self) -> None:
        """Run the jobs that have not ended, one at a time; expected answers without a score come first."""
        if not self._is_scored and self._locks.take(SCORING):
            self._score()
        with self._database.read() as session:
            job_ids = list(pins.open_ids(session))
        # Also those that run elsewhere: their lock is free as soon as that process is gone.
        for job_id in job_ids:
            if not self._closing:
                self.run(job_id)

    def _score(self) -> None:
        """Score expected answers; those whose checker fails take no part in BEST until the next start."""
        try:
            self._score_expected_answers()
        except Ended:
            return
        except SQLAlchemyError:
            raise
        except Exception:
            log.exception("the expected answers could not be scored; they take no part in BEST")
        finally:
            self._locks.give_back(SCORING)
        self._is_scored = True

    def run(self, job_id: str) -> None:
        """Run a job to its end, unless it has ended or another process runs it."""
        lock = f"job {job_id}"
        if not self._locks.take(lock):
            return
        try:
            with self._database.write(quiet=True) as session:
                pins.take_up_interrupted(session, MOST_ATTEMPTS, job_id)
            with self._watched(job_id, lock):
                self._work_on(job_id)
        finally:
            self._locks.give_back(lock)

    @contextmanager
    def _watched(self, job_id: str, lock: str) -> Iterator[None]:
        """Stop the job as soon as it is cancelled, or another process may have its lock."""

        def look() -> float | None:
            if self._locks.take(lock) and not self._is_over(job_id):
                return None
            self._stop(job_id)
            return FOREVER

        watching = Loop("job watch", look, SECONDS_BETWEEN_LOOKS, delay=SECONDS_BETWEEN_LOOKS)
        watching.start()
        try:
            yield
        finally:
            watching.close()

    def _is_over(self, job_id: str) -> bool:
        with self._database.read() as session:
            job = session.get(JobRow, job_id)
            return job is None or job.state in pins.ENDED

    def _work_on(self, job_id: str) -> None:
        try:
            self._run(job_id)
        except Exception:
            log.exception("a job failed", job=job_id)
            self._end(job_id, pins.FAILED, {"error": "the server failed; its log says more"})
        finally:
            self._running = None
            self._cancelled.discard(job_id)

    def _score_expected_answers(self) -> None:
        """Find the raw scores of expected answers that came with packages, so that they can take part in BEST.

        They are written once for each problem: after every write all boards are read again.
        """
        with self._database.read() as session:
            unscored = testcases.without_score(session)
        for _, cases in groupby(unscored, key=lambda each: each[0].problem_id):
            scores = [(row, self._score_of_expected(row, settings["checker"])) for row, settings in cases]
            with self._database.write() as session:
                for row, score in scores:
                    if score is not None and score.raw is not None:
                        testcases.set_score(session, row.id, str(row.answer_sha256), score.raw, score.multiplier)
                    else:
                        log.warning("an expected answer has no score", problem=row.problem_id, case=row.name)
        if unscored:
            self._on_changed("")

    def _score_of_expected(self, row: TestCaseRow, checker: str) -> FoundScore | None:
        given, expected = self._files.load(row.input_sha256), self._files.load(str(row.answer_sha256))
        request = Validate(checker, given, tuple(row.checker_args), expected=expected)
        reply = self._engine.validate(request)
        while not wait([reply], SECONDS_BETWEEN_REPLIES).done:  # graders may be seconds from their first reply
            if self._closing:
                raise Ended
        return reply.result().score

    def _run(self, job_id: str) -> None:
        """Solve the job's cases one by one; one that fails does not stop the rest."""
        with self._database.write() as session:
            job = pins.begin(session, job_id)
            if job is None:
                return
            kind, given, by = job.kind, job.params, _actor(job)
            if kind == REFERENCE_RUN and session.get(ProblemRow, given["problem_id"]) is None:
                pins.end(job, pins.FAILED, {"error": DELETED})
                return
            cases = cases_of(session, cast(RunParams, given)) if kind == REFERENCE_RUN else []
        if kind == VERIFICATION:
            self._verify(job_id, cast(VerificationParams, given))
            return
        run = ReferenceRun(
            self._database, self._files, self._engine, job_id, cast(RunParams, given), by, partial(self._watch, job_id)
        )
        results: dict[str, CaseResult] = {}
        for at, case in enumerate(cases):
            if self._stopping(job_id):
                return
            results[case.name] = run.solve(case, at, len(cases))
            self._on_changed(given["problem_id"])
        if self._stopping(job_id):
            return
        failed = [name for name, result in results.items() if "error" in result]
        self._end(job_id, pins.FAILED if failed else pins.DONE, {"cases": results})

    def _stopping(self, job_id: str) -> bool:
        return self._closing or job_id in self._cancelled

    def _verify(self, job_id: str, params: VerificationParams) -> None:
        """Run all programs of a package; its report is the result."""
        package = params["problem_id"], params["package_sha256"]
        notes = Progress(self._database, job_id)
        try:
            report = verify_stored(self._engine, self._files, package, notes.show, lambda: self._stopping(job_id))
        except Ended:
            return
        except (PackageErrors, NotJudged, *UNREADABLE) as error:
            self._end(job_id, pins.FAILED, {"error": str(error)})
            return
        self._end(job_id, pins.DONE, {"report": report})

    def _watch(self, job_id: str, process: SolverProcess | Solving) -> None:
        """Let whoever cancels the job kill a process; it is killed here where that was asked for before."""
        self._running = (job_id, process)
        if self._stopping(job_id):  # whoever stops it notes that first: so it is seen here, or the process there
            process.kill()

    def _end(self, job_id: str, state: str, result: JobResult) -> None:
        with self._database.write() as session:
            job = session.get(JobRow, job_id)
            if job is not None:
                pins.end(job, state, result)


def _actor(job: JobRow) -> Actor:
    """Whoever the answers that a job makes are noted for in the audit log."""
    path = f"/api/jobs/{job.id}"
    problem_id = job.params["problem_id"]
    return Actor(job.account_id, "job", "", f"job {job.id}", REFERENCE_OPERATION, "", path, problem_id=problem_id)


def start_engine(
    settings: Settings, database: Database, files: Files, writer: Writer, boards: ScoreboardCache, process_id: str
) -> tuple[Engine, JobRunner]:
    """Start what grades the submissions of a server and runs its jobs, or calls workers to do so."""
    asked = replace(engine_settings(settings, files), process_id=process_id)
    sender = Sender(settings.broker_url) if settings.distributed else None
    engine = Engine(database, writer, asked, boards.changed, sender)
    engine.start()
    jobs = JobRunner(database, files, engine, lambda _problem_id: boards.all_changed())
    if not settings.distributed:
        jobs.start()
    return engine, jobs
