"""Run programs of a package on its test cases: example submissions that are programs, and the reference solver."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from app.packages.ahead import ahead
from app.packages.model import Case, Package
from app.packages.tools import submission_bounds, tool_of
from app.packages.trials import Outcome, over_limit
from app.programs.endings import exit_code, unexpected
from app.programs.model import ProgramFault
from app.programs.tools import Tool, ToolDesk
from app.sandbox.model import Result

AT_ONCE = min(2, os.cpu_count() or 1)
TIME_LIMIT, RUN_TIME_ERROR = "TLE", "RTE"


def run_program(package: Package, place: str, desk: ToolDesk) -> Iterator[tuple[Case, bytes | Outcome]]:
    """Let a program answer every case: its answer, or the outcome of a case that it does not answer.

    Raises ProgramFault for a program that cannot be run at all.
    """
    tool = tool_of(package, place)
    desk.prepare(tool)

    def run(case: Case) -> tuple[Case, bytes | Outcome]:
        return case, _answer(package, tool, case, desk)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from ahead(pool, run, package.cases)


def _answer(package: Package, tool: Tool, case: Case, desk: ToolDesk) -> bytes | Outcome:
    environment: Mapping[str, str] = {}
    command = desk.command(tool, (), submission_bounds(package), stdin=case.input.read(), environment=environment)
    result = desk.run(command)
    if (outcome := _ended(result)) is not None:
        return outcome
    return over_limit(result.stdout, package.settings.answers.limit) or result.stdout


def _ended(result: Result) -> Outcome | None:
    """The outcome of a run that made no answer; None for one that ended well."""
    try:
        code = exit_code(result)
        if code == 0:
            return None
        fault = unexpected(code, "0", result)
    except ProgramFault as ended:
        fault = ended
    over_time = result.ending in ("cpu", "wall")
    return Outcome(rejected=str(fault), verdict=TIME_LIMIT if over_time else RUN_TIME_ERROR)
