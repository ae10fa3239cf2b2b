"""The programs of a package beside its checker: its input validators, its solver, and programs as submissions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.packages.model import Package, Submission, WithConstants
from app.packages.settings import Reference
from app.programs.languages import entry
from app.programs.model import ProgramFault
from app.programs.tools import Bounds, Tool, ToolDesk, tool_at

VALIDATORS = "input_validators/"
SOLVERS = ("solver.py", "solver/")
ACCEPTED = "submissions/accepted/"
SOURCES = frozenset({
    "c", "cc", "cpp", "cxx", "java", "py", "kt", "rs", "go", "pas", "dpr", "rb", "js", "cs", "pl", "sh", "ml", "scala",
    "php", "swift", "ts", "lua", "d", "hs", "lisp",
})  # fmt: skip
"""Extensions of programs, whether anything here runs them or not."""
ANSWERS = frozenset({"out", "ans"})
DOCUMENTS = (".md", ".txt", ".pdf")
MIB = 2**20
SECONDS = 60.0
MEMORY = 2048
OUTPUT = 64 * MIB
SUBMISSION_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where programs of packages run: `desk`, or in its absence what this machine lacks."""

    desk: ToolDesk | None
    lack: str = ""


@dataclass(frozen=True, slots=True)
class NotRun:
    """A program that nothing here runs, and why."""

    place: str
    reason: str


def tool_of(package: Package, place: str, beside: tuple[str, ...] = ()) -> Tool:
    """The program at a place, with the problem's constants put into its texts."""
    return tool_at(WithConstants(package.files, package.problem.constants), place, beside)


def validators_of(package: Package) -> tuple[list[Tool], list[NotRun]]:
    """The input validators of a package, and those that cannot be run."""
    tools, unknown = [], []
    for place in places(package.files, VALIDATORS):
        if place.endswith(DOCUMENTS):
            continue
        if (reason := not_runnable(package.files, place)) is None:
            tools.append(tool_of(package, place))
        else:
            unknown.append(NotRun(place, reason))
    return tools, unknown


def solver_place(reference: Reference | None, files: Mapping[str, bytes]) -> str | None:
    """The place of a package's own reference solver; None where it has none.

    It is the one that jurado.yaml names, else `solver.py` or `solver/`, else the first program in
    `submissions/accepted/`.
    """
    if reference is not None and reference.method is not None and reference.program is None:
        return None
    if reference is not None and reference.program is not None:
        return reference.program
    own = [place for place in SOLVERS if place in files or any(name.startswith(place) for name in files)]
    accepted = [place for place in places(files, ACCEPTED) if is_program(files, place)]
    return next((place for place in [*own, *accepted] if not_runnable(files, place) is None), None)


def program_of(submission: Submission, files: Mapping[str, bytes]) -> str | None:
    """The place of an example submission that is a program; None for one of answer files."""
    path = f"submissions/{submission.path}"
    place = path if path in files else f"{path}/"
    return place if is_program(files, place) else None


def is_program(files: Mapping[str, bytes], place: str) -> bool:
    """Whether there are sources at a place of the package, and no answer files."""
    names = [place] if place in files else [name for name in files if name.startswith(place)]
    suffixes = {name.rpartition("/")[2].rpartition(".")[2] for name in names}
    return bool(suffixes & SOURCES) and not suffixes & ANSWERS


def not_runnable(files: Iterable[str], place: str) -> str | None:
    """Why nothing here runs the program at a place; None where something does."""
    try:
        entry(files, place)
    except ProgramFault as fault:
        return str(fault).removeprefix(f"{place}: ")
    return None


def places(files: Mapping[str, bytes], folder: str) -> list[str]:
    """The files and folders directly in a folder of the package; folders with `/` at the end."""
    inside = {name.removeprefix(folder).partition("/") for name in files if name.startswith(folder)}
    return sorted({f"{folder}{top}{slash}" for top, slash, _ in inside})


def validation_bounds(package: Package) -> Bounds:
    """The limits of an input validator, and of a generator, as the package has them."""
    limits = package.problem.limits
    return Bounds(limits.validation_time or SECONDS, (limits.validation_memory or MEMORY) * MIB, OUTPUT)


def submission_bounds(package: Package) -> Bounds:
    """The limits of a program as an example submission on one case."""
    limits = package.problem.limits
    return Bounds(limits.time_limit or SUBMISSION_SECONDS, (limits.memory or MEMORY) * MIB, OUTPUT)
