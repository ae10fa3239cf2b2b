"""Input validators, generators and solvers in the real sandbox: by each protocol, and what becomes of broken ones."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.programs.desk import ProgramDesk
from app.programs.model import ProgramFault
from app.programs.points import generate
from app.programs.tools import Solving, ValidatorProtocol, tool_at, validate
from app.sandbox.model import Limits

pytestmark = pytest.mark.machine("sandbox")
ENDLESS = "while True: pass"
BOUNDS = Limits.of(20.0, 2**27, 2**20)
TESTLIB = """\
#include "lib.h"
int main() { std::string line; std::getline(std::cin, line); return line == "good" ? 0 : fail("not good"); }
"""
LIBRARY = """\
#include <iostream>
#include <string>
inline int fail(const char* text) { std::cerr << "FAIL " << text; return 3; }
"""
OF_CMS = "import sys; sys.exit(open(sys.argv[1]).read() != 'good\\n' or sys.argv[2:] != ['7'])"


def opinion(
    desk: ProgramDesk, text: str, data: bytes = b"", protocol: ValidatorProtocol = "kattis", args: Sequence[str] = ()
) -> str:
    """What a validator in Python says of an input."""
    tool = tool_at({"input_validators/v.py": text.encode()}, "input_validators/v.py")
    given = validate(desk.tools(), tool, protocol, data, args, BOUNDS)
    return given.fault or ("accepted" if given.accepted else given.text)


def test_a_validator_accepts_by_the_exit_code_of_its_protocol(desk: ProgramDesk) -> None:
    assert opinion(desk, "import sys; sys.exit(42)") == "accepted"
    assert "expected exit code 42 or 43, found 0" in opinion(desk, "pass")
    assert opinion(desk, "assert False, 'too long'").endswith("AssertionError: too long")
    assert opinion(desk, "import sys; sys.exit(43)") == "exit code 43"
    assert [opinion(desk, OF_CMS, data, "cms", ["7"]) for data in (b"good\n", b"bad\n")] == ["accepted", "exit code 1"]
    files = {"input_validators/v/main.cpp": TESTLIB.encode(), "include/lib.h": LIBRARY.encode()}
    tool = tool_at(files, "input_validators/v/")
    given = [validate(desk.tools(), tool, "testlib", data, (), BOUNDS) for data in (b"good\n", b"bad\n")]
    assert [(each.accepted, each.text, each.fault) for each in given] == [(True, "", ""), (False, "FAIL not good", "")]


def test_a_validator_that_is_slow_or_greedy_or_dies_is_named(desk: ProgramDesk) -> None:
    assert "killed by signal 6" in opinion(desk, "import os; os.abort()")
    assert "more memory than it may" in opinion(desk, "bytearray(1 << 30)")
    tool = tool_at({"input_validators/v.py": b"while True: pass"}, "input_validators/v.py")
    given = validate(desk.tools(), tool, "kattis", b"", (), Limits.of(0.2, 2**27, 2**20))
    assert given.fault.startswith(("v.py: it used more processor time", "v.py: it took more time"))


def test_a_validator_gets_the_input_and_its_own_arguments_and_no_secret(desk: ProgramDesk) -> None:
    text = "import os, sys; print(sys.argv[1:], sys.stdin.read(), sorted(os.environ), file=sys.stderr); sys.exit(43)"
    given = opinion(desk, text, b"hi", args=["a", "b"])
    assert given.startswith("['a', 'b'] hi")
    assert "JURADO" not in given
    assert "no such file" in opinion(desk, "open('/etc/passwd')").lower()


def test_a_generator_prints_an_input_or_leaves_it_as_a_file(desk: ProgramDesk) -> None:
    texts = {
        "a.py": "import sys; print(*sys.argv[1:])",
        "b.py": "open('testcase.in', 'w').write('3\\n'); print('noise')",
        "c.py": "import sys; sys.exit('no such n')",
        "d.py": "pass",
    }
    files = {f"generators/{name}": text.encode() for name, text in texts.items()}
    tools = {name: tool_at(files, f"generators/{name}") for name in texts}
    assert generate(desk.tools(), tools["a.py"], ["5", "x"], BOUNDS) == b"5 x\n"
    assert generate(desk.tools(), tools["b.py"], [], BOUNDS) == b"3\n"
    with pytest.raises(ProgramFault, match="expected exit code 0, found 1; standard error: no such n"):
        generate(desk.tools(), tools["c.py"], [], BOUNDS)
    with pytest.raises(ProgramFault, match="expected an input on standard output"):
        generate(desk.tools(), tools["d.py"], [], BOUNDS)


def solved(desk: ProgramDesk, text: str, limits: Limits = BOUNDS, solving: Solving | None = None) -> bytes:
    """The answer of a solver in Python to the input `8`."""
    tool = tool_at({"solver.py": text.encode()}, "solver.py")
    return (solving or Solving()).run(desk.tools(), tool, b"8\n", limits, {"JURADO_SEED": "5"}).stdout


def test_a_solver_answers_on_standard_output_within_its_time(desk: ProgramDesk) -> None:
    assert solved(desk, "import os; print(int(input()) + 1, os.environ['JURADO_SEED'])") == b"9 5\n"
    for text, fault in (("pass", "found nothing"), ("1 / 0", "ZeroDivisionError")):
        with pytest.raises(ProgramFault, match=fault):
            solved(desk, text)
    with pytest.raises(ProgramFault, match=r"more (processor )?time than it may"):
        solved(desk, ENDLESS, Limits.of(0.2, 2**27, 2**20))


def test_a_solver_is_ended_at_will_also_before_its_start(desk: ProgramDesk) -> None:
    solving = Solving()
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(solved, desk, ENDLESS, Limits.of(600.0, 2**27, 2**20), solving)
        while solving._kill is None:
            time.sleep(0.01)
        solving.kill()
        with pytest.raises(ProgramFault, match="it was cancelled"):
            running.result(60)
    early = Solving()
    early.kill("the server stops")
    with pytest.raises(ProgramFault, match="the server stops"):
        solved(desk, ENDLESS, solving=early)
