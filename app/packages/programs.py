"""The checker and the solver that a package brings along, with the settings that they are asked by."""

from __future__ import annotations

from collections.abc import Mapping

from app.core.faults import Faults
from app.packages.metadata import Problem
from app.packages.settings import JuradoSettings, ProgramSettings, Reference
from app.packages.tools import not_runnable, solver_place
from app.programs.bundle import SINGLE, VALIDATOR, digest, pack, program_files
from app.programs.languages import entry, is_compiled
from app.programs.model import PROGRAM, Meaning, OwnLimits, Program, ProgramFault, Protocol

FILE = "jurado.yaml"
SHARES = frozenset({"python", "omegaup", "cms"})
"""Protocols whose numbers are shares of 1 by themselves; others give points of the case."""


def resolve(
    settings: JuradoSettings, files: Mapping[str, bytes], faults: Faults
) -> tuple[JuradoSettings, Program | None]:
    """The settings with their defaults for the package's own checker, and that checker; notes what does not fit."""
    names = sorted(name for name in files if name == SINGLE or name.startswith(VALIDATOR))
    if not names:
        _expect_none(settings, faults)
        return settings, None
    if names[0] == SINGLE and len(names) > 1:
        faults.expect(SINGLE, "", expected=f"one checker, either this file or {VALIDATOR}", found="both")
        return settings, None
    if settings.checker not in ("", PROGRAM):
        return settings, None  # a fault of `app.packages.rules`
    own = program_files(files)
    asked = _asked(settings, is_single=SINGLE in own)
    try:
        main, compiled = entry(own), is_compiled(own)
    except ProgramFault as fault:
        faults.add(names[0], str(fault))
        return settings, None
    if asked[0] == "python" and compiled:
        faults.expect(FILE, "program.protocol", expected="a checker in Python for this protocol", found=main)
    if asked[1] == "raw" and settings.scoring.kind == "absolute":
        expected = "fraction, percent or absolute, as absolute scoring needs shares of points"
        faults.expect(FILE, "program.points", expected=expected, found="raw")
    known = settings.model_copy(
        update={"checker": PROGRAM, "program": ProgramSettings(protocol=asked[0], points=asked[1])}
    )
    return known, Program(digest(pack(own)), *asked, own)


def resolve_solver(settings: JuradoSettings, files: Mapping[str, bytes], faults: Faults) -> JuradoSettings:
    """The settings with the place of the package's own reference solver, where it has one; notes what does not fit."""
    reference = settings.reference
    place = solver_place(reference, files)
    if place is None and reference is not None and reference.method is None:
        faults.add(FILE, "expected a method of a solver, or a program of the package, found neither", "reference")
    if place is None:
        return settings
    if (reason := not_runnable(files, place)) is not None:
        faults.add(FILE, f"expected a program of the package, found {place}: {reason}", "reference.program")
    known = (reference or Reference()).model_copy(update={"program": place})
    return settings.model_copy(update={"reference": known})


def own_limits(problem: Problem) -> OwnLimits:
    """The limits that problem.yaml sets for the package's checker."""
    limits = problem.limits
    return OwnLimits(limits.validation_time, limits.validation_memory, limits.validation_output)


def _expect_none(settings: JuradoSettings, faults: Faults) -> None:
    """Note a package without its own checker that names none, or says how its own is asked."""
    if settings.program is not None:
        faults.expect(FILE, "program", expected=f"a checker in {VALIDATOR} or {SINGLE}", found="neither")
    elif not settings.checker:
        faults.add(
            FILE, f"missing key: expected a checker, its name here or its program in {VALIDATOR} or {SINGLE}", "checker"
        )


def _asked(settings: JuradoSettings, *, is_single: bool) -> tuple[Protocol, Meaning]:
    """The protocol and the meaning of its numbers; without a word of the package those that go with it."""
    given = settings.program or ProgramSettings()
    protocol: Protocol = given.protocol or ("python" if is_single else "kattis")
    own: Meaning = "fraction" if protocol in SHARES else "absolute"
    return protocol, given.points or (own if settings.scoring.kind == "absolute" else "raw")
