"""Verifying what a package's own programs promise: generators, programs as submissions, a solver, constants, notes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from app.core.faults import PackageErrors
from app.packages.model import Package
from app.packages.read import read_archive
from app.packages.tools import Workshop, local_workshop
from app.packages.trials import LocalDesk
from app.packages.verify import examine, report_of
from tests.builders.packages import JURADO, PROBLEM, zip_package

pytestmark = pytest.mark.machine("sandbox")
Changes = Mapping[str, str | bytes | None]
PLAN = """\
cases:
  - {group: sample, name: "01", file: one.txt}
  - {group: secret, name: "02", seed: 2, params: {more: 1}}
  - {group: secret, name: "03", seed: 4}
"""
PLAN_FILES = {"generators/cases.yaml": PLAN, "generators/one.txt": "1\n"}
GENERATOR = "import sys\nprint(sys.argv[2])\n"
COPY = "print(input())\n"


def read(changes: Changes) -> Package:
    return read_archive(zip_package(changes))


def verified(changes: Changes) -> list[str]:
    """What verifying a changed package says: the severity, then the fault."""
    package = read(changes)
    examined = examine(package, LocalDesk(), workshop=local_workshop())
    return [f"{fault.severity}: {fault}" for fault in examined.faults]


def test_an_input_that_its_generator_makes_otherwise_is_named_with_the_line() -> None:
    plan = {**PLAN_FILES, "generators/generate.py": GENERATOR}
    assert verified(plan) == [
        "warning: data/secret/03.in, line 1: expected '4' as generators/cases.yaml makes it, found '3'"
    ]
    right = {**plan, "generators/cases.yaml": PLAN.replace("seed: 4", "seed: 3")}
    assert verified(right) == []
    assert verified({**right, "generators/one.txt": "7\n"}) == [
        "warning: data/sample/01.in, line 1: expected '7' as generators/cases.yaml makes it, found '1'"
    ]
    assert verified({**right, "generators/generate.py": "import sys\nsys.exit('no')\n"})[0].endswith(
        "data/secret/02.in is not made: expected exit code 0, found 1; standard error: no"
    )


def test_cases_that_only_the_plan_knows_are_named() -> None:
    plan = "cases: [{group: secret, name: '02', seed: 2}, {group: secret, name: '09', seed: 9}]\n"
    assert verified({"generators/cases.yaml": plan, "generators/generate.py": GENERATOR}) == [
        "warning: generators/cases.yaml: expected data/secret/09.in, found no such file",
    ]


def test_a_plan_that_does_not_read_or_has_no_generator_is_a_warning() -> None:
    plan = "cases: [{group: secret, name: 2, sead: 2}]\n"
    assert verified({"generators/cases.yaml": plan}) == [
        "warning: generators/cases.yaml, line 1, cases.0.name: expected a string, found number 2",
        "warning: generators/cases.yaml, line 1, cases.0.sead: unknown key",
    ]
    missing = "data/secret/02.in is not made: no such file: generators/generate.py"
    assert f"warning: generators/cases.yaml: {missing}" in verified(PLAN_FILES)
    no_file = {**PLAN_FILES, "generators/generate.py": GENERATOR, "generators/one.txt": None}
    assert verified(no_file)[1].endswith("data/sample/01.in is not made: no such file: generators/one.txt")


def test_programs_as_submissions_are_run_and_held_against_their_demands() -> None:
    programs = {
        "submissions/accepted/copy.py": COPY,
        "submissions/wrong_answer/one.py": "print(1)\n",
        "submissions/run_time_error/crash.py": "n = int(input())\nprint(n // (n != 3))\n",
        "submissions/time_limit_exceeded/slow.py": "print(input())\n",
        "submissions/accepted/Copy.java": "class Copy {}\n",
        "submissions/accepted/broken.cpp": "int main( {}\n",
    }
    faults = verified(programs)
    assert [fault.partition(", found")[0] for fault in faults] == [
        "note: submissions/accepted/Copy.java: this program is not run: expected one Python file, or __main__.py or "
        "main.py among several, or C++ or C (.c, .c++, .cc, .cpp, .cxx)",
        faults[1],
        "warning: submissions/submissions.yaml, time_limit_exceeded: submissions/time_limit_exceeded/slow.py: "
        "expected TLE on at least one case",
    ]
    assert "broken.cpp: this program cannot be run: submissions/accepted/broken.cpp does not compile" in faults[1]


def test_a_program_that_is_too_slow_or_crashes_has_a_verdict_of_its_own() -> None:
    slow = "n = input()\nwhile n == '3':\n    pass\nprint(n)\n"
    limits = PROBLEM + "limits: {time_limit: 1}\n"
    package = {"problem.yaml": limits, "submissions/time_limit_exceeded/slow.py": slow}
    rules = "time_limit_exceeded/slow.py: {required: [TLE], permitted: [AC, TLE], score: 50}\n"
    assert verified({**package, "submissions/submissions.yaml": rules}) == []


def test_constants_are_put_into_programs() -> None:
    constants = PROBLEM + "constants: {least: 2}\n"
    validator = "import sys\nsys.exit(42 if int(input()) >= {{least}} else 43)\n"
    faults = verified({"problem.yaml": constants, "input_validators/validate.py": validator})
    assert [fault.partition(": validate")[0] for fault in faults[:1]] == ["warning: data/invalid_input/word.in"] or (
        "warning: data/sample/01.in: validate.py refuses this input: exit code 43" in faults
    )
    assert not any("03.in" in fault for fault in faults)


def test_validators_in_other_languages_and_by_other_protocols() -> None:
    own = '#include <cstdio>\nint main() { int n; return scanf("%d", &n) == 1 ? 0 : 3; }\n'
    files = {"input_validators/validate.py": None, "input_validators/v/v.cpp": own}
    testlib = {"jurado.yaml": JURADO + "input_validators: {protocol: testlib}\n"}
    assert verified({**files, **testlib}) == []
    assert "expected exit code 42 or 43, found 0 (validators of testlib" in verified(files)[0]
    assert verified({"input_validators/format.ctd": "INT(1, 9)\n"}) == [
        "warning: input_validators/format.ctd: this input validator is not run: expected one Python file, or "
        "__main__.py or main.py among several, or C++ or C (.c, .c++, .cc, .cpp, .cxx), found .ctd"
    ]


def test_files_that_nothing_uses_are_notes_and_make_no_package_invalid() -> None:
    unused = {
        "submissions/accepted/copy/99.out": "1\n",
    }
    package = read(unused)
    examined = examine(package, LocalDesk())
    report = report_of("echo", package, examined)
    assert (report["valid"], report["errors"], report["warnings"]) == (True, [], [])
    assert [(note["file"], note["message"], note["severity"]) for note in report["notes"]] == [
        ("submissions/accepted/copy/99.out", "no test case is called like this answer file", "note"),
    ]


def test_without_a_sandbox_nothing_runs_and_the_report_says_why() -> None:
    package = read({"submissions/accepted/copy.py": COPY})
    examined = examine(package, LocalDesk(), workshop=Workshop(None, "no sandbox: bubblewrap: not installed"))
    assert [str(fault) for fault in examined.faults] == [
        "input_validators: input validators are not run: no sandbox: bubblewrap: not installed",
        "submissions/accepted/copy.py: this program is not run: no sandbox: bubblewrap: not installed",
    ]
    assert examined.points == {"accepted/copy": 100.0}


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({}, None),
        ({"submissions/accepted/b.py": COPY, "submissions/accepted/a.java": ""}, "submissions/accepted/b.py"),
        ({"submissions/accepted/b.py": COPY, "solver/main.py": COPY}, "solver/"),
        ({"solver.py": COPY, "jurado.yaml": JURADO + "reference: {program: submissions/accepted/c.py}\n",
          "submissions/accepted/c.py": COPY}, "submissions/accepted/c.py"),
        ({"solver.py": COPY, "jurado.yaml": JURADO + "reference: {seconds: 5}\n"}, "solver.py"),
    ],
)  # fmt: skip
def test_the_reference_solver_is_the_one_named_or_the_first_program(changes: Changes, place: str | None) -> None:
    document = read(changes).settings_document().get("reference")
    assert (document or {}).get("program") == place


def test_a_reference_without_a_solver_is_refused() -> None:
    for reference, fault in (
        ("{seconds: 5}", "reference: expected a method of a solver, or a program of the package, found neither"),
        ("{program: solver.java}", "reference.program: expected a program of the package, found solver.java"),
    ):
        with pytest.raises(PackageErrors, match=fault):
            read({"jurado.yaml": JURADO + f"reference: {reference}\n"})
