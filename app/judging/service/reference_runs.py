"""Reference runs: a solver makes the expected answer of test cases, one of `solvers/` or the package's own.

- The progress of jobs, written to their rows not more often than people can read.
"""

import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import cast

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.core.clock import utc_now
from app.core.db.audit import Actor, acting
from app.core.db.database import Database
from app.core.faults import PackageErrors
from app.core.files.files import FileStore
from app.core.json_documents import CaseDocument, CaseResult, JobResult, ProvenanceDocument, RunParams
from app.domain.documents import ProgramDocument
from app.judging.queries import rejudging_changes
from app.judging.queries.rejudgings import RejudgingRefused
from app.judging.service.engine import Engine, JudgeFailed
from app.judging.service.messages import Validate
from app.judging.service.programs import Programs
from app.judging.service.solver_process import (
    OnReport,
    Solved,
    SolverFailed,
    SolverProcess,
    SolverReport,
    Summary,
    solve,
)
from app.packages.tools import OUTPUT, tool_of
from app.problems.queries import pins, testcases
from app.problems.queries.packing import stored_package
from app.problems.queries.versions import Author
from app.programs.model import ProgramFault, Tool
from app.programs.tools import Solving
from app.sandbox.model import Limits, SandboxFault, SandboxMissing
from app.tables import ProblemRow

REFERENCE_RUN = "reference-run"
DELETED = "the problem was deleted meanwhile"
MIB = 2**20
# Seconds that a package's solver may take beyond those of its search.
START_UP = 5.0
SECONDS_BETWEEN_NOTES = 0.5


@dataclass(frozen=True, slots=True)
class Case:
    """A test case about to be solved, as it will be where a rejudging changes it."""

    name: str
    document: CaseDocument
    program: ProgramDocument | None


@dataclass(frozen=True, slots=True)
class ReferenceRun:
    """The run of a job: whose answers it makes, and who may `watch` (and kill) the process of each case."""

    database: Database
    files: FileStore
    engine: Engine
    job_id: str
    params: RunParams
    by: Actor
    watch: Callable[[SolverProcess | Solving], None]

    def solve(self, case: Case, at: int, count: int) -> CaseResult:
        """Let a solver answer a case, number `at` of `count`, and keep its answer."""
        params, notes = self.params, Progress(self.database, self.job_id, (at, count))

        def on_report(report: SolverReport | Summary) -> None:
            if "fraction" in report:  # the summary is noted with the judged answer
                notes.show(report["fraction"], f"{case.name}: best {report['best']}, {report['states']} states")

        process = Solving() if "program" in params else SolverProcess()
        self.watch(process)
        how = params["method"] or params.get("program", "")
        notes.show(0.0, f"{case.name}: {how}, seed {params['seed']}, {params['seconds']:g} s", now=True)
        try:
            data = self.files.load(case.document["input_sha256"])
            solved = self._solved(process, data, on_report)
            with acting(self.by):
                result = self._keep(case, data, solved)
        except (SolverFailed, JudgeFailed, RejudgingRefused) as error:
            notes.show(1.0, f"{case.name}: failed: {error}", now=True)
            return {"error": str(error)}
        notes.show(1.0, f"{case.name}: raw score {result['raw']}", now=True)
        return result

    def _solved(self, process: SolverProcess | Solving, data: bytes, on_report: OnReport) -> Solved:
        """The answer of the package's own solver, or of one of `solvers/`; raises SolverFailed."""
        if isinstance(process, Solving):
            return solve_by_package(self.engine.programs, self.files, self.params, data, process)
        return solve(process, self.params, data, on_report)

    def _keep(self, case: Case, data: bytes, solved: Solved) -> CaseResult:
        """Let the checker confirm the answer, then make it the expected one, with its provenance.

        Where that would change what anyone has, it becomes (a part of) a rejudging, which the result names.
        """
        problem_id = self.params["problem_id"]
        request = Validate(
            self.params["checker"],
            data,
            case.document["checker_args"] or (),
            solved.answer,
            solved.reference,
            program=case.program,
            case_name=case.name,
            points=(case.document["points_num"], case.document["points_den"]),
        )
        validated = self.engine.validate(request).result()
        if validated.faults or validated.score is None:
            fault = validated.faults[0]["text"] if validated.faults else "no score"
            raise SolverFailed(f"its answer is not valid: {fault}")
        facts = solved.facts
        if facts["raw"] is None and validated.score.raw is not None:
            facts["raw"] = float(validated.score.raw) if validated.score.raw % 1 else int(validated.score.raw)
        made = {
            "from": REFERENCE_RUN,
            **facts,
            "solution_sha256": self.files.keep(solved.answer),
            "made": utc_now().isoformat(timespec="seconds"),
        }
        provenance = cast(ProvenanceDocument, made)  # a part of its keys
        stored = testcases.keep(self.files, solved.reference)
        answer = testcases.FoundAnswer(stored, validated.score, provenance)
        with self.database.write() as session:
            if session.get(ProblemRow, problem_id) is None:
                raise SolverFailed(DELETED)
            change = rejudging_changes.Change(
                problem_id,
                partial(_set_answer, session, problem_id, case, answer),
                Author(None, f"a reference run has made expected answers of {problem_id}", goes_on=True),
            )
            row = rejudging_changes.change_problem(session, change)
            waits = None if row is None else (str(row.id), row.contest_id)
        if waits is None:
            return facts
        self.engine.wake(rejudging=True)
        facts["rejudging"], facts["contest"] = waits
        return facts


def cases_of(session: Session, params: RunParams) -> list[Case]:
    """The cases of a job, in order."""
    wanted = rejudging_changes.wanted(session, params["problem_id"])
    program = wanted["columns"]["settings"].get("program")
    cases = sorted(wanted["cases"].items(), key=lambda item: item[1]["ordinal"])
    return [Case(name, case, program) for name, case in cases if name in params["cases"]]


def _set_answer(session: Session, problem_id: str, case: Case, answer: testcases.FoundAnswer) -> None:
    if not testcases.set_answer(session, problem_id, case.name, case.document["input_sha256"], answer):
        raise SolverFailed("the test case was deleted or given another input meanwhile")


def solve_by_package(programs: Programs, files: FileStore, params: RunParams, data: bytes, solving: Solving) -> Solved:
    """Let the package's own solver answer an input; raises SolverFailed, also where the run is killed."""
    try:
        tool = _tool(files, params)
        desk = programs.tools()
        limits = Limits.of(params["seconds"] + START_UP, params["memory"] * MIB, OUTPUT)
        options = {"JURADO_SECONDS": f"{params['seconds']:g}", "JURADO_SEED": str(params["seed"])}
        if params["method"]:
            options["JURADO_METHOD"] = params["method"]
        result = solving.run(desk, tool, data, limits, options)
    except (ProgramFault, SandboxMissing, SandboxFault) as fault:
        raise SolverFailed(str(fault)) from None
    except PackageErrors as faults:
        raise SolverFailed(f"the package does not read any more: {faults}") from None
    return Solved(result.stdout, result.stdout, _facts(params, tool, result.wall_seconds))


def _tool(files: FileStore, params: RunParams) -> Tool:
    with stored_package(files, params["problem_id"], params["package_sha256"]) as package:
        return tool_of(package, params["program"])


def _facts(params: RunParams, tool: Tool, seconds: float) -> CaseResult:
    """The run as a solver of Jurado would report it; its raw score is the checker's."""
    return {
        "method": params["method"] or params["program"],
        "seed": params["seed"],
        "seconds": round(seconds, 3),
        "steps": 0,
        "states": 0,
        "version": tool.sha256,
        "raw": None,
        "max_raw": None,
        "optimal": False,
    }


def reference_run(session: Session, problem_id: str, names: Collection[str]) -> str | None:
    """The latest job, waiting or running, that makes the expected answer of one of these cases."""
    for job in pins.jobs(session, REFERENCE_RUN, is_open=True):
        params = cast(RunParams, job.params)
        if params["problem_id"] == problem_id and not set(names).isdisjoint(params["cases"]):
            return job.id
    return None


class Progress:
    """Writes a job's progress to its row, not more often than people can read; a note that is lost costs nothing.

    `part` is the share of the job that this is about: which one of how many.
    """

    def __init__(self, database: Database, job_id: str, part: tuple[int, int] = (0, 1)) -> None:
        self._database = database
        self._job_id = job_id
        self._at, self._count = part
        self._noted = 0.0

    def show(self, fraction: float, line: str, result: JobResult | None = None, *, now: bool = False) -> None:
        """Note a line and the result so far, unless one was noted a moment ago; `now`: in any case."""
        if not now and time.monotonic() - self._noted < SECONDS_BETWEEN_NOTES:
            return
        self._noted = time.monotonic()
        with suppress(SQLAlchemyError), self._database.write() as session:
            pins.report(session, self._job_id, (self._at + fraction) / self._count, line, result)
