"""The run of a package's own reference solver: in the sandbox, from the package as it is stored.

- The progress of jobs, written to their rows not more often than people can read.
"""

from __future__ import annotations

import time
from contextlib import suppress

from sqlalchemy.exc import SQLAlchemyError

from app.core.db.database import Database
from app.core.faults import PackageErrors
from app.core.files.files import FileStore
from app.core.json_documents import JobResult, RunParams
from app.judging.service.programs import Programs
from app.judging.service.solver_process import Solved, SolverFailed, Summary
from app.packages.files import LARGEST
from app.packages.read import read_archive
from app.packages.tools import OUTPUT, tool_of
from app.problems.queries import pins
from app.problems.queries.packing import laid_out
from app.programs.model import ProgramFault
from app.programs.solving import Answered, Solving
from app.programs.tools import Bounds, Tool
from app.sandbox.model import SandboxFault, SandboxMissing

MIB = 2**20
# Seconds that a solver may take beyond those of its search.
START_UP = 5.0


def solve_by_package(programs: Programs, files: FileStore, params: RunParams, data: bytes, solving: Solving) -> Solved:
    """Let the package's own solver answer an input; raises SolverFailed, also where the run is killed."""
    try:
        tool = _tool(files, params)
        desk = programs.tools()
        bounds = Bounds(params["seconds"] + START_UP, params["memory"] * MIB, OUTPUT)
        options = {"JURADO_SECONDS": f"{params['seconds']:g}", "JURADO_SEED": str(params["seed"])}
        if params["method"]:
            options["JURADO_METHOD"] = params["method"]
        answered = solving.run(desk, tool, data, bounds, options)
    except (ProgramFault, SandboxMissing, SandboxFault) as fault:
        raise SolverFailed(str(fault)) from None
    except PackageErrors as faults:
        raise SolverFailed(f"the package does not read any more: {faults}") from None
    return Solved(answered.answer, answered.answer, _summary(params, tool, answered))


def _tool(files: FileStore, params: RunParams) -> Tool:
    with laid_out(files, params["package_sha256"]) as laid:
        package = read_archive(laid.archive, params["problem_id"], LARGEST, laid.spool)
        return tool_of(package, params["program"])


def _summary(params: RunParams, tool: Tool, answered: Answered) -> Summary:
    """The run as a solver of Jurado would report it; its raw score is the checker's."""
    return {
        "done": True,
        "problem": params["problem_id"],
        "method": params["method"] or params["program"],
        "seed": params["seed"],
        "seconds": round(answered.seconds, 3),
        "start_up": 0.0,
        "memory": 0.0,
        "steps": 0,
        "states": answered.report["states"],
        "raw": None,
        "max_raw": None,
        "most": None,
        "optimal": False,
        "stopped": answered.stopped,
        "message": "",
        "unsolved": False,
        "version": tool.sha256,
    }


SECONDS_BETWEEN_NOTES = 0.5


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
