"""What a server gives to packages' checkers: modules of its own Python, and limits that a package may set its."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from app.core.settings import Settings
from app.packages.model import program_document
from app.packages.read import assemble
from app.programs.desk import ProgramDesk
from app.programs.model import CaseFiles, OwnLimits, Program, Protocol, digest, pack
from app.programs.points import NO_MODULES, Modules, modules_of
from app.sandbox.sandbox import Sandbox
from tests.builders.packages import PROBLEM, package_files
from tests.builders.programs import own_checker

CASE = CaseFiles("01", b"1\n", b"8\n", b"4\n")
SUM = """\
import numpy

assert numpy.__file__.startswith("/jurado/modules/"), "the service's own"

def score(given, answer, reference):
    return numpy.float64(answer) / numpy.int64(reference)
"""
WANTING = "import nosuchmodule\n"
NUMPY_VALIDATOR = "import sys\nimport numpy\nsys.exit(42 if numpy.fromstring('1 2', sep=' ').sum() == 3 else 43)\n"
SLOW = "def score(*_):\n    while True: pass\n"
HOG = "def score(*_):\n    return len(bytearray(100 * 2**20)) / 10**9\n"
WRITER = "import sys\nopen(sys.argv[3] + 'big', 'wb').write(bytes(3 * 2**20))\nsys.exit(42)\n"


def program(code: str, protocol: Protocol = "python", limits: OwnLimits = OwnLimits()) -> Program:  # noqa: B008
    """A checker in Python, or a validator of Kattis."""
    files = {"checker.py" if protocol == "python" else "output_validator/check.py": code.encode()}
    return Program(digest(pack(files)), protocol, "fraction", files, limits)


def asked(sandbox: Sandbox, folder: Path, own: Program, modules: Modules = NO_MODULES) -> str:
    """The fault of a program that is asked once on a server with these modules; otherwise `worth` and what it gives."""
    desk = ProgramDesk(sandbox, folder, 2**28, most_seconds=30, modules=modules)
    (opinion,) = desk.ask_all(own, [CASE], 20.0)
    decision = opinion.decision
    return opinion.fault or f"worth {decision.score.raw if decision and decision.score else None}"


@pytest.mark.machine("sandbox")
def test_checkers_get_the_modules_that_the_server_gives_and_hear_which_where_they_want_others(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    given = modules_of("numpy")
    assert asked(sandbox, tmp_path, program(SUM), given) == "worth 1/2"
    assert asked(sandbox, tmp_path, program(NUMPY_VALIDATOR, "kattis"), given) == "worth 1"
    for own in (program(WANTING), program(WANTING, "kattis")):
        assert asked(sandbox, tmp_path, own).startswith(
            "it imports nosuchmodule; checkers get the standard library on this server (setting JURADO_CHECKER_MODULES)"
        )
        others = asked(sandbox, tmp_path, own, given)
        assert others.startswith("it imports nosuchmodule; checkers get the standard library, numpy on this server")


def test_a_setting_that_names_what_is_not_installed_is_refused() -> None:
    with pytest.raises(ValidationError, match="installed beside the service, found 'nosuchmodule'"):
        Settings(checker_modules="numpy, nosuchmodule")


def test_modules_are_those_of_the_distributions_that_are_named() -> None:
    mounts = {mount.target.rpartition("/")[2] for mount in modules_of("pydantic, pydantic-core").mounts}
    assert {"pydantic", "pydantic_core"} <= mounts
    assert "annotated_types" not in mounts


@pytest.mark.machine("sandbox")
@pytest.mark.parametrize(
    ("own", "fault"),
    [
        (program(SLOW, limits=OwnLimits(seconds=1)), " time than it may"),
        (program(HOG, limits=OwnLimits(memory=64)), "it used more memory than it may"),
        (program(HOG), "worth "),
        (program(WRITER, "kattis", OwnLimits(output=2)), "it wrote more than it may"),
        (program(WRITER, "kattis", OwnLimits(output=16)), "worth 1"),
        (program(SLOW, limits=OwnLimits(seconds=31)), "limits.validation_time: expected at most 30 s on this server"),
        (program(SLOW, limits=OwnLimits(memory=257)), "limits.validation_memory: expected at most 256 MiB"),
        (program(SLOW, limits=OwnLimits(output=65)), "limits.validation_output: expected at most 64 MiB"),
    ],
    ids=["time", "memory", "no memory of its own", "output", "more output", "long", "large", "wordy"],
)
def test_the_limits_of_a_package_hold_for_its_checker_within_those_of_the_server(
    sandbox: Sandbox, tmp_path: Path, own: Program, fault: str
) -> None:
    assert fault in asked(sandbox, tmp_path, own)


def test_the_limits_of_problem_yaml_stand_in_the_settings_and_only_where_there_are_some() -> None:
    changes = own_checker({"checker.py": SUM})
    plain = assemble("echo", package_files(changes)).program
    assert plain is not None
    assert "limits" not in program_document(plain)
    limited = {**changes, "problem.yaml": f"{PROBLEM}limits: {{validation_time: 5, validation_memory: 512}}\n"}
    own = assemble("echo", package_files(limited)).program
    assert own is not None
    assert program_document(own).get("limits") == {"seconds": 5, "memory": 512, "output": None}
