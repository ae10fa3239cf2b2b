"""Expected answers that a package leaves to its solution: the solution makes them in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from app.core.faults import PackageError
from app.core.steps import Steps
from app.packages.contents import File
from app.packages.model import Case, Package
from app.packages.tools import Workshop
from app.packages.trial_runs import run_program
from app.packages.trials import Outcome
from app.programs.model import ProgramFault
from app.programs.tools import ToolDesk


def complete(package: Package, workshop: Workshop | None, steps: Steps) -> tuple[Package, list[PackageError]]:
    """Let the package's solution answer the cases without an expected answer; gives the package and the faults.

    Cases stay without one where no program runs here. The upload of a package starts a reference run for them.
    """
    lacking = [case for case in package.cases if case.answer is None]
    if not lacking:
        return package, []
    reference = package.settings.reference
    place = reference.program if reference is not None else None
    if place is None or workshop is None or workshop.desk is None:
        text = f"{len(lacking)} cases have no expected answer: a reference run makes them after the upload"
        return package, [PackageError("data", "", text, "note")]
    try:
        made = _run(replace(package, cases=tuple(lacking)), place, workshop.desk, steps)
    except ProgramFault as fault:
        return package, [PackageError(place, "", f"this solution cannot be run: {fault}")]
    faults = [
        PackageError(case.input.path, "", f"{place} does not answer this input: {answer.rejected}")
        for case, answer in made.values()
        if isinstance(answer, Outcome)
    ]
    cases = tuple(_answered(case, made) for case in package.cases)
    return replace(package, cases=cases), faults


Made = Mapping[str, tuple[Case, bytes | Outcome]]


def _run(package: Package, place: str, desk: ToolDesk, steps: Steps) -> Made:
    answers = run_program(package, place, desk)
    return {case.name: (case, answer) for case, answer in steps.each("expected answers", package.cases, answers)}


def _answered(case: Case, made: Made) -> Case:
    answer = made[case.name][1] if case.name in made else None
    if not isinstance(answer, bytes):
        return case
    path = f"data/{case.path}.ans"
    return replace(case, answer=File(path, {path: answer}))
