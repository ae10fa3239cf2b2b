"""Reference runs: a solver makes the expected answer of test cases, as a job that one can watch and cancel.

Guarantee 4: the lock lets a job be cancelled between the choice of its process and its start.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, cast

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.core.clock import utc_now
from app.core.db.audit import Actor, acting
from app.core.db.database import Database
from app.core.faults import PackageErrors
from app.core.files.files import FileStore
from app.core.files.stored_bytes import UNREADABLE
from app.core.json_documents import (
    CaseResult,
    JobResult,
    ProvenanceDocument,
    RunParams,
    TournamentParams,
    VerificationParams,
)
from app.core.loops import Loop, give
from app.domain.documents import FoundScore, ProgramDocument
from app.judging.queries import rejudging_changes, rejudgings
from app.judging.queries.rejudgings import RejudgingRefused
from app.judging.service.engine import Engine
from app.judging.service.messages import Validate
from app.judging.service.package_solver import Progress, solve_by_package
from app.judging.service.questions import JudgeFailed, NotJudged
from app.judging.service.solver_process import OnReport, Solved, SolverFailed, SolverProcess, SolverRun, Summary, solve
from app.judging.service.verification import TOURNAMENT, Ended, play_tournament, verify_stored
from app.problems.queries import pins, problems, testcases
from app.problems.queries.pins import VERIFICATION
from app.problems.queries.versions import Author
from app.programs.solving import SolverReport, Solving
from app.tables import JobRow, TestCaseRow

log = structlog.get_logger()

REFERENCE_OPERATION = "start_reference_run"
REFERENCE_RUN = "reference-run"
MOST_ATTEMPTS = 3
SECONDS_BETWEEN_SWEEPS = 10.0
DELETED = "the problem was deleted meanwhile"


class Closing(Exception):
    """The server stops."""


@dataclass(frozen=True, slots=True)
class _Case:
    """A test case about to be solved, as it will be where a rejudging changes it."""

    name: str
    input_sha256: str
    checker: str
    checker_args: tuple[str, ...]
    program: ProgramDocument | None = None
    points: tuple[int, int] | None = None


class JobRunner:
    """The loop that works on one job at a time, so that a reference run never takes every core from the graders."""

    def __init__(
        self,
        database: Database,
        files: FileStore,
        engine: Engine,
        on_changed: Callable[[str], None],
    ) -> None:
        self._database = database
        self._files = files
        self._engine = engine
        self._on_changed = on_changed
        self._changed = threading.Lock()
        self._waiting: deque[str] = deque()
        self._running: tuple[str, SolverProcess | Solving | None] | None = None
        self._cancelled: set[str] = set()
        self._closing = False
        self._closed: Future[None] = Future()
        self._is_scored = self._is_interrupted = False
        self._loop = Loop("jobs", self._work, SECONDS_BETWEEN_SWEEPS)

    def start(self) -> None:
        """Take up what an earlier process left, and begin."""
        self._queue_again()
        self._loop.start()

    def wake(self, job_id: str) -> None:
        """A job has been queued (and is durable)."""
        with self._changed:
            self._waiting.append(job_id)
        self._loop.wake()

    def cancel(self, job_id: str) -> bool:
        """Cancel a job and kill what it runs; False if it has ended already or does not exist."""
        with self._database.write() as session:
            if not pins.cancel(session, job_id):
                return False
        self.stop(job_id)
        return True

    def stop(self, job_id: str) -> None:
        """Kill what a job runs, if it is this one's; its row stays as it is."""
        with self._changed:
            self._cancelled.add(job_id)
            if self._running is not None and self._running[0] == job_id and self._running[1] is not None:
                self._running[1].kill()

    def close(self) -> None:
        """Kill what runs and stop; its job is taken up at the next start."""
        with self._changed:
            self._closing = True
            if self._running is not None and self._running[1] is not None:
                self._running[1].kill("the server stops")
        give(self._closed, None)
        self._loop.close(30)

    def _work(self) -> None:
        """Run the jobs that wait, one at a time; expected answers without a score come first."""
        if not self._is_scored:
            self._score_once()
        if self._is_interrupted:
            self._queue_again()
        while (job_id := self._next()) is not None:
            self._is_interrupted = True
            self.work_on(job_id)
            self._is_interrupted = False

    def _queue_again(self) -> None:
        """Queue the jobs again that a process or a failed step has left, as far as they have attempts left."""
        with self._database.write() as session:
            pins.take_up_interrupted(session, MOST_ATTEMPTS)
        self._is_interrupted = False

    def _score_once(self) -> None:
        """Score expected answers; those whose checker fails take no part in BEST until the next start."""
        try:
            self.score_expected_answers()
        except Closing:
            return
        except SQLAlchemyError:
            raise
        except Exception:
            log.exception("the expected answers could not be scored; they take no part in BEST")
        self._is_scored = True

    def work_on(self, job_id: str) -> None:
        """Run one job to its end, if it is queued; one at a time."""
        with self._changed:
            self._running = (job_id, None)
        try:
            self._run(job_id)
        except Exception:
            log.exception("a job failed", job=job_id)
            self._end(job_id, pins.FAILED, {"error": "the server failed; its log says more"})
        finally:
            with self._changed:
                self._running = None
                self._cancelled.discard(job_id)

    def score_expected_answers(self) -> None:
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
        either: list[Future[Any]] = [reply, self._closed]  # Any: a list of futures has one type of results
        wait(either, return_when=FIRST_COMPLETED)  # graders may be seconds from their first reply
        if self._closed.done():
            raise Closing
        return reply.result().score

    def _next(self) -> str | None:
        """The next job, also of those that another process has queued; None if none waits."""
        if not self._waiting and not self._closing:
            with self._database.read() as session:
                job_ids = list(pins.waiting(session))
            with self._changed:
                self._waiting.extend(job_ids)
        with self._changed:
            if self._closing or not self._waiting:
                return None
            job_id = self._waiting.popleft()
            self._running = (job_id, None)
            return job_id

    def _run(self, job_id: str) -> None:
        """Solve the job's cases one by one; one that fails does not stop the rest."""
        with self._database.write() as session:
            job = pins.begin(session, job_id)
            if job is None:
                return
            kind, given, by = job.kind, job.params, _actor(job)
            if kind == REFERENCE_RUN and problems.get(session, given["problem_id"]) is None:
                pins.end(job, pins.FAILED, {"error": DELETED})
                return
            cases = _cases(session, cast(RunParams, given)) if kind == REFERENCE_RUN else []
        if kind == VERIFICATION:
            self._verify(job_id, cast(VerificationParams, given))
            return
        if kind == TOURNAMENT:
            self._play(job_id, cast(TournamentParams, given))
            return
        params = cast(RunParams, given)
        results: dict[str, CaseResult] = {}
        for at, case in enumerate(cases):
            if self._stopping(job_id):
                return
            results[case.name] = self._solve(by, job_id, params, case, at, len(cases))
        if self._stopping(job_id):
            return
        failed = [name for name, result in results.items() if "error" in result]
        self._end(job_id, pins.FAILED if failed else pins.DONE, {"cases": results})

    def _stopping(self, job_id: str) -> bool:
        with self._changed:
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

    def _play(self, job_id: str, params: TournamentParams) -> None:
        """Play a tournament in a process; its cross table so far is the result while it runs."""
        process, notes = SolverProcess(), Progress(self._database, job_id)
        self._watch(job_id, process)
        try:
            table = play_tournament(process, params, notes.show)
        except SolverFailed as error:
            if not self._stopping(job_id):
                self._end(job_id, pins.FAILED, {"error": str(error)})
            return
        self._end(job_id, pins.DONE, {"tournament": table})

    def _watch(self, job_id: str, process: SolverProcess | Solving) -> None:
        """Let whoever cancels the job kill a process; it is killed here where that was asked for before."""
        with self._changed:
            self._running = (job_id, process)
            if self._closing or job_id in self._cancelled:
                process.kill()

    def _solve(self, by: Actor, job_id: str, params: RunParams, case: _Case, at: int, count: int) -> CaseResult:
        notes = Progress(self._database, job_id, (at, count))

        def on_report(report: SolverReport | Summary) -> None:
            if "fraction" in report:  # the summary is noted with the judged answer
                notes.show(report["fraction"], f"{case.name}: best {report['best']}, {report['states']} states")

        process = Solving(on_report) if "program" in params else SolverProcess()
        self._watch(job_id, process)
        how = params["method"] or params.get("program", "")
        notes.show(0.0, f"{case.name}: {how}, seed {params['seed']}, {params['seconds']:g} s", now=True)
        try:
            data = self._files.load(case.input_sha256)
            solved = self._solved(process, params, data, on_report)
            with acting(by):
                result = self._keep(params["problem_id"], case, data, solved)
        except (SolverFailed, JudgeFailed, RejudgingRefused) as error:
            notes.show(1.0, f"{case.name}: failed: {error}", now=True)
            return {"error": str(error)}
        notes.show(1.0, f"{case.name}: raw score {result['raw']}", now=True)
        self._on_changed(params["problem_id"])
        return result

    def _solved(self, process: SolverProcess | Solving, params: RunParams, data: bytes, on_report: OnReport) -> Solved:
        """The answer of the package's own solver, or of one of `solvers/`; raises SolverFailed."""
        if isinstance(process, Solving):
            return solve_by_package(self._engine.programs, self._files, params, data, process)
        run = SolverRun(params["solver"], params["method"], params["seed"], params["seconds"], params["memory"])
        return solve(process, run, data, on_report)

    def _keep(self, problem_id: str, case: _Case, data: bytes, solved: Solved) -> CaseResult:
        """Let the checker confirm the answer, then make it the expected one, with its provenance.

        Where that would change what anybody has, it becomes (a part of) a rejudging, which the result names.
        """
        request = Validate(
            case.checker,
            data,
            case.checker_args,
            solved.answer,
            solved.reference,
            program=case.program,
            case_name=case.name,
            points=case.points,
        )
        validated = self._engine.validate(request).result()
        if validated.faults or validated.score is None:
            fault = validated.faults[0]["text"] if validated.faults else "no score"
            raise SolverFailed(f"its answer is not valid: {fault}")
        facts = _facts(solved.summary)
        if facts["raw"] is None and validated.score.raw is not None:
            facts["raw"] = float(validated.score.raw) if validated.score.raw % 1 else int(validated.score.raw)
        made = {
            "from": REFERENCE_RUN,
            **facts,
            "solution_sha256": self._files.keep(solved.answer),
            "made": utc_now().isoformat(timespec="seconds"),
        }
        provenance = cast(ProvenanceDocument, made)  # a part of its keys
        sha256, score = self._files.keep(solved.reference), validated.score
        answer = testcases.FoundAnswer(sha256, len(solved.reference), score.raw, score.multiplier, provenance)
        with self._database.write() as session:
            if problems.get(session, problem_id) is None:
                raise SolverFailed(DELETED)
            change = rejudging_changes.Change(
                problem_id,
                partial(_set_answer, session, problem_id, case, answer),
                Author(None, f"a reference run has made expected answers of {problem_id}", goes_on=True),
                joins=rejudgings.open_id(session, problem_id),
            )
            row = rejudging_changes.change_problem(session, change)
            waits = None if row is None else (str(row.id), row.contest_id)
        if waits is None:
            return facts
        self._engine.take_up()
        facts["rejudging"], facts["contest"] = waits
        return facts

    def _end(self, job_id: str, state: str, result: JobResult) -> None:
        with self._database.write() as session:
            job = pins.get(session, job_id)
            if job is not None:
                pins.end(job, state, result)


def _actor(job: JobRow) -> Actor:
    """Whoever the answers that a job makes are noted for in the audit log."""
    path = f"/api/jobs/{job.id}"
    problem_id = job.params["problem_id"]
    return Actor(job.account_id, "job", "", f"job {job.id}", REFERENCE_OPERATION, "", path, problem_id=problem_id)


def _cases(session: Session, params: RunParams) -> list[_Case]:
    """The cases of a job, in order."""
    wanted = rejudging_changes.wanted(session, params["problem_id"])
    known, names = wanted["cases"], set(params["cases"])
    program = wanted["columns"]["settings"].get("program")
    return [
        _Case(
            name,
            case["input_sha256"],
            params["checker"],
            tuple(case["checker_args"] or ()),
            program,
            (case["points_num"], case["points_den"]),
        )
        for name, case in sorted(known.items(), key=lambda item: item[1]["ordinal"])
        if name in names
    ]


def _facts(summary: Summary) -> CaseResult:
    """The facts of a solver's summary that are kept; null where it gives none."""
    return {
        "method": summary.get("method"),
        "seed": summary.get("seed"),
        "seconds": summary.get("seconds"),
        "steps": summary.get("steps"),
        "states": summary.get("states"),
        "version": summary.get("version"),
        "raw": summary.get("raw"),
        "max_raw": summary.get("max_raw"),
        "optimal": summary.get("optimal"),
    }


def reference_run(session: Session, problem_id: str, names: Collection[str]) -> str | None:
    """The latest job, waiting or running, that makes the expected answer of one of these cases."""
    for job in pins.going(session, REFERENCE_RUN):
        params = cast(RunParams, job.params)
        if params["problem_id"] == problem_id and not set(names).isdisjoint(params["cases"]):
            return job.id
    return None


def _set_answer(session: Session, problem_id: str, case: _Case, answer: testcases.FoundAnswer) -> None:
    if not testcases.set_answer(session, problem_id, case.name, case.input_sha256, answer):
        raise SolverFailed("the test case was deleted or given another input meanwhile")
