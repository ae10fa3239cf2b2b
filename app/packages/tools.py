"""The programs of a package beside its checker: its input validators, its solver, and programs as submissions.

- Packages' own programs on this machine, without a server: for `jurado check` and `jurado package verify`. A command
  opens one sandbox and keeps it (guarantee 4).
- The checker and the solver that a package brings along, with the settings that they are asked by.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.core.faults import BOTH, NEITHER, Faults
from app.packages.metadata import Problem
from app.packages.model import Package, Submission, with_constants
from app.packages.settings import JuradoSettings, ProgramSettings, Reference
from app.programs import model, points
from app.programs.desk import Opinion, ProgramDesk
from app.programs.places import PYTHON, entry
from app.programs.tools import ToolDesk, tool_at
from app.sandbox.model import ALLOWED, AS_ROOT, Limits, SandboxMissing
from app.sandbox.sandbox import Sandbox
from checkers.doors import N_, Phrase

VALIDATORS = "input_validators/"
SOLVERS = ("solver.py", "solver/")
ACCEPTED = "submissions/accepted/"
# Extensions of programs, whether anything here runs them or not.
SOURCES = frozenset({
    "c", "cc", "cpp", "cxx", "java", "py", "kt", "rs", "go", "pas", "dpr", "rb", "js", "cs", "pl", "sh", "ml", "scala",
    "php", "swift", "ts", "lua", "d", "hs", "lisp",
})  # fmt: skip
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


def tool_of(package: Package, place: str) -> model.Tool:
    """The program at a place, with the problem's constants put into its texts."""
    return tool_at(with_constants(package.files, package.problem.constants), place)


def validators_of(package: Package) -> tuple[list[model.Tool], dict[str, str]]:
    """The input validators of a package, and why others cannot be run, by their places."""
    tools, unknown = [], {}
    for place in places(package.files, VALIDATORS):
        if place.endswith(DOCUMENTS):
            continue
        if (reason := not_runnable(package.files, place)) is None:
            tools.append(tool_of(package, place))
        else:
            unknown[place] = reason
    return tools, unknown


def solver_place(reference: Reference | None, files: Mapping[str, bytes]) -> str | None:
    """The place of a package's own reference solver; None where it has none.

    It is the one that jurado.yaml names, otherwise `solver.py` or `solver/`, otherwise the first program in
    `submissions/accepted/`.
    """
    if reference is not None and (reference.program is not None or reference.method is not None):
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
    except model.ProgramFault as fault:
        return str(fault).removeprefix(f"{place}: ")
    return None


def places(files: Mapping[str, bytes], folder: str) -> list[str]:
    """The files and folders directly in a folder of the package; folders with `/` at the end."""
    inside = {name.removeprefix(folder).partition("/") for name in files if name.startswith(folder)}
    return sorted({f"{folder}{top}{slash}" for top, slash, _ in inside})


def validation_bounds(package: Package) -> Limits:
    """The limits of an input validator, and of a generator, as the package has them."""
    limits = package.problem.limits
    return Limits.of(limits.validation_time or SECONDS, (limits.validation_memory or MEMORY) * MIB, OUTPUT)


def submission_bounds(package: Package) -> Limits:
    """The limits of a program as an example submission on one case."""
    limits = package.problem.limits
    return Limits.of(limits.time_limit or SUBMISSION_SECONDS, (limits.memory or MEMORY) * MIB, OUTPUT)


LOCAL_PROGRAMS_SECONDS = 10.0
MODULES = "numpy"
LOCAL_PROGRAMS_MEMORY = 2 * 2**30


def ask_here(program: model.Program, cases: Sequence[model.CaseFiles]) -> list[Opinion]:
    """Ask a program about every case, in order; never raises for what it does."""
    desk = _desk()
    if isinstance(desk, ProgramDesk):
        return desk.ask_all(program, cases, LOCAL_PROGRAMS_SECONDS)
    return [Opinion(fault=str(desk))] * len(cases)


def local_workshop() -> Workshop:
    """The place for packages' other programs on this machine."""
    desk = _desk()
    return Workshop(desk.tools()) if isinstance(desk, ProgramDesk) else Workshop(None, str(desk))


@cache
def _desk() -> ProgramDesk | SandboxMissing:
    """The sandbox of this process, opened at the first question."""
    try:
        sandbox = Sandbox.open(as_root=os.environ.get(AS_ROOT) == ALLOWED)
    except SandboxMissing as missing:
        return missing
    atexit.register(sandbox.close)
    folder = tempfile.mkdtemp(prefix="jurado-programs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    names = os.environ.get("JURADO_CHECKER_MODULES", MODULES)
    return ProgramDesk(sandbox, Path(folder), LOCAL_PROGRAMS_MEMORY, modules=points.modules_of(names))


FILE = "jurado.yaml"
# Protocols whose numbers are shares of 1 by themselves; others give points of the case.
SHARES = frozenset({"python", "omegaup", "cms"})


def resolve(
    settings: JuradoSettings, files: Mapping[str, bytes], faults: Faults
) -> tuple[JuradoSettings, model.Program | None]:
    """The settings with their defaults for the package's own checker, and that checker; notes what does not fit."""
    names = sorted(name for name in files if name == model.SINGLE or name.startswith(model.VALIDATOR))
    if not names:
        _expect_none(settings, faults)
        return settings, None
    if names[0] == model.SINGLE and len(names) > 1:
        faults.expect(
            model.SINGLE, "", N_("one checker, either this file or %(validator)s"), BOTH, validator=model.VALIDATOR
        )
        return settings, None
    if settings.checker not in ("", model.PROGRAM):
        return settings, None  # a fault of `app.packages.arrivals`
    own = model.program_files(files)
    asked = _asked(settings, is_single=model.SINGLE in own)
    try:
        main = entry(own)
    except model.ProgramFault as fault:
        faults.add(names[0], str(fault))
        return settings, None
    if asked[0] == "python" and not main.endswith(PYTHON):
        faults.expect(FILE, "program.protocol", N_("a checker in Python for this protocol"), main)
    if asked[1] == "raw" and settings.scoring.kind == "absolute":
        expected = N_("fraction, percent or absolute, as absolute scoring needs shares of points")
        faults.expect(FILE, "program.points", expected, "raw")
    known = settings.model_copy(
        update={"checker": model.PROGRAM, "program": ProgramSettings(protocol=asked[0], points=asked[1])}
    )
    return known, model.Program(model.digest(model.pack(own)), *asked, own)


def resolve_solver(settings: JuradoSettings, files: Mapping[str, bytes], faults: Faults) -> JuradoSettings:
    """The settings with the place of the package's own reference solver, where it has one; notes what does not fit."""
    reference = settings.reference
    place = solver_place(reference, files)
    if place is None and reference is not None and reference.method is None:
        faults.expect(FILE, "reference", N_("a method of a solver, or a program of the package"), NEITHER)
    if place is None:
        return settings
    if (reason := not_runnable(files, place)) is not None:
        lack = Phrase(N_("%(place)s: %(reason)s"), place=place, reason=reason)
        faults.expect(FILE, "reference.program", N_("a program of the package"), lack)
    known = (reference or Reference()).model_copy(update={"program": place})
    return settings.model_copy(update={"reference": known})


def own_limits(problem: Problem) -> model.OwnLimits:
    """The limits that problem.yaml sets for the package's checker."""
    limits = problem.limits
    return model.OwnLimits(limits.validation_time, limits.validation_memory, limits.validation_output)


def _expect_none(settings: JuradoSettings, faults: Faults) -> None:
    """Note a package without its own checker that names none, or says how its own is asked."""
    validator, single = model.VALIDATOR, model.SINGLE
    if settings.program is not None:
        expected = N_("a checker in %(validator)s or %(single)s")
        faults.expect(FILE, "program", expected, NEITHER, validator=validator, single=single)
    elif not settings.checker:
        missing = N_("missing key: expected a checker, its name here or its program in %(validator)s or %(single)s")
        faults.add(FILE, missing, "checker", validator=validator, single=single)


def _asked(settings: JuradoSettings, *, is_single: bool) -> tuple[model.Protocol, model.Meaning]:
    """The protocol and the meaning of its numbers; without a word of the package those that go with it."""
    given = settings.program or ProgramSettings()
    protocol: model.Protocol = given.protocol or ("python" if is_single else "kattis")
    own: model.Meaning = "fraction" if protocol in SHARES else "absolute"
    return protocol, given.points or (own if settings.scoring.kind == "absolute" else "raw")
