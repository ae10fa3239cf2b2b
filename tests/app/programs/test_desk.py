"""Programs of each protocol and language in the real sandbox: those that do well, those that lie, those that fail."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest

from app.programs import places
from app.programs.desk import Opinion, ProgramDesk
from app.programs.model import CaseFiles, Meaning, NoCompiler, Program, Protocol, digest, pack, program_files, unpack
from app.programs.tools import tool_at
from tests.builders.pictures import png

pytestmark = pytest.mark.machine("sandbox")
SECONDS = 20.0
TESTLIB = """\
#include "verdict.h"
#include <fstream>

int main(int, char** arguments) {
    std::ifstream output(arguments[2]), answer(arguments[3]);
    long mine = 0, theirs = 0;
    answer >> theirs;
    if (!(output >> mine)) return verdict("wrong output format", "expected a number", 2);
    if (mine > theirs) return verdict("wrong answer", "too large", 1);
    return verdict("points", std::to_string(double(mine) / theirs), 7);
}
"""
HEADER = """\
#include <iostream>
#include <string>

inline int verdict(const std::string& word, const std::string& comment, int code) {
    std::cerr << word << ' ' << comment << '\\n';
    return code;
}
"""
SHARE = "import sys\nprint(min(1, int(sys.stdin.read()) / int(open('data.out').read())))\n"
OF_CMS = """\
import sys

_, given, correct, own = sys.argv
share = int(open(own).read()) / int(open(correct).read())
print(share)
print("translate:success" if share == 1 else "a part", file=sys.stderr)
"""
FUNCTION = """\
from checkers.doors import Rejected

def score(given, answer, reference):
    print("noise that is no reply")
    if not answer.strip().isdigit():
        raise Rejected.at("line 1", expected="a number", found=repr(answer))
    return int(answer) / int(reference), f"{int(answer)} of {int(reference)}"
"""
DOORS = """\
from checkers.doors import Rejected, Score

def read_instance(data):
    if data != b"1\\n":
        raise Rejected("line 1: expected 1")
    return int(data)

def read_answer(data, instance):
    return int(data)

def score_answer(instance, answer, reference=None):
    return Score(answer, 10, answer if answer < 2 else 1)
"""


def program(files: Mapping[str, str], protocol: Protocol = "kattis", points: Meaning = "fraction") -> Program:
    """A program of these files."""
    own = {name: text.encode() for name, text in files.items()}
    return Program(digest(pack(own)), protocol, points, own)


def case(output: bytes | None, *, given: bytes = b"1\n", expected: bool = False) -> CaseFiles:
    """An answer to a case whose `.ans` is 8."""
    return CaseFiles("01", given, b"8\n", output, (), Fraction(100), is_expected=expected)


def seen(opinion: Opinion) -> object:
    """A multiplier, the words of a rejection, or the fault."""
    if opinion.decision is None:
        return opinion.fault or opinion.unread
    score = opinion.decision.score
    return opinion.decision.message.text if score is None else score.multiplier


@pytest.mark.parametrize(
    ("own", "refusal"),
    [
        (program({"output_validator/check.py": SHARE}, "omegaup"), None),
        (program({"output_validator/check.py": OF_CMS}, "cms"), None),
        (program({"checker.py": FUNCTION}, "python"), "line 1: expected a number, found 'x'"),
        (
            program({"output_validator/check.cpp": TESTLIB, "include/verdict.h": HEADER}, "testlib"),
            "wrong output format",
        ),
    ],
    ids=lambda own: own.protocol if isinstance(own, Program) else "",
)
def test_programs_of_each_protocol_score_what_is_right(desk: ProgramDesk, own: Program, refusal: str | None) -> None:
    opinions = desk.ask_all(own, [case(b"8\n"), case(b"2\n"), case(b"x")], SECONDS)
    assert [seen(each) for each in opinions[:2]] == [1, Fraction(1, 4)]
    assert seen(opinions[2]) == refusal or (refusal is None and "exit code 0, found 1" in opinions[2].fault)


def test_doors_of_a_package_read_the_input_and_score_with_their_own_multiplier(desk: ProgramDesk) -> None:
    own = program({"checker.py": DOORS}, "python")
    asked = [case(b"1"), case(b"5"), case(b"5", given=b"2\n"), case(None), case(None, given=b"3\n"), case(b"x")]
    opinions = desk.ask_all(own, asked, SECONDS)
    assert [seen(each) for each in opinions[:5]] == [1, 1, "line 1: expected 1", "", "line 1: expected 1"]
    assert "ValueError: invalid literal" in opinions[5].fault


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os\nos._exit(0)", "before its reply"),
        ("def score(*_):\n    import os\n    os._exit(0)", "before its reply"),
        ("def score(*_):\n    raise SystemExit(0)", "SystemExit: 0"),
        ("def score(*_):\n    while True: pass", " time than it may"),
        ("def score(*_):\n    while True: print('x' * 10**6)", "wrote more than it may"),
        ("def score(*_):\n    return 'x' * 2**34", "more memory than it may"),
        ("def score(*_):\n    return float('nan')", "expected a finite number, found nan"),
        ("def score(*_):\n    return -1", "expected a number of at least 0"),
        ("def score(*_):\n    return None", "expected a finite number, found None"),
        ("points = 3", "expected a function `score`"),
        ("def score(:", "SyntaxError"),
    ],
)
def test_a_checker_in_python_that_fails_is_named_with_its_reason(desk: ProgramDesk, code: str, reason: str) -> None:
    opinions = desk.ask_all(program({"checker.py": code}, "python"), [case(b"8")], 2.0)
    assert reason in opinions[0].fault


def test_a_reply_beside_another_one_is_no_reply(desk: ProgramDesk) -> None:
    """The checker writes a reply of its own on the descriptor that leads out."""
    code = """\
import os

def score(given, answer, reference):
    for descriptor in range(3, 10):
        try:
            os.write(descriptor, b'{"number": "1/1"}')
        except OSError:
            pass
    return 0.5
"""
    (opinion,) = desk.ask_all(program({"checker.py": code}, "python"), [case(b"1")], SECONDS)
    assert "a reply that is none" in opinion.fault


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise SystemExit(0)", "expected exit code 42 or 43, found 0"),
        ("while True: print('x' * 10**6)", "wrote more than it may"),
        ("import os; os.kill(os.getpid(), 11)", "killed by signal 11"),
        ("import sys; open(sys.argv[3] + 'score.txt', 'w').write('2'); sys.exit(42)", "at most 1, found 2"),
        ("import os, sys; os.symlink('/etc/passwd', sys.argv[3] + 'score.txt'); sys.exit(42)", None),
        ("import sys; open('/program/output_validator/check.py', 'w')", "Read-only file system"),
    ],
)
def test_a_validator_that_lies_or_fails_judges_nothing(desk: ProgramDesk, code: str, reason: str | None) -> None:
    """A link in place of `score.txt` is no file: the answer is accepted without a score."""
    (opinion,) = desk.ask_all(program({"output_validator/check.py": code}), [case(b"8")], 2.0)
    assert seen(opinion) == 1 if reason is None else reason in opinion.fault


def test_what_does_not_compile_is_told_in_the_compilers_first_lines(desk: ProgramDesk) -> None:
    own = program({"output_validator/check.cpp": "int main() { return vedrict(); }\n"})
    (opinion,) = desk.ask_all(own, [case(b"8")], SECONDS)
    assert opinion.fault.startswith("output_validator/check.cpp does not compile:\noutput_validator/check.cpp:")
    assert "vedrict" in opinion.fault


@pytest.mark.parametrize(("language", "name"), [("c++", "check.cpp"), ("c", "check.c")])
def test_a_missing_compiler_is_named_with_the_package_that_brings_it(
    tmp_path: Path, desk: ProgramDesk, monkeypatch: pytest.MonkeyPatch, language: str, name: str
) -> None:
    monkeypatch.setitem(places.COMPILERS, language, ("/nowhere/compiler",))
    other = ProgramDesk(desk._sandbox, tmp_path, 2**27)
    (opinion,) = other.ask_all(program({f"output_validator/{name}": "int main() {}\n"}), [case(b"8")], SECONDS)
    assert opinion.fault == (
        f"output_validator/{name}: expected a compiler at /nowhere/compiler, found none on this server "
        f"(Debian: apt-get install {'g++' if language == 'c++' else 'gcc'})"
    )
    tool = tool_at({f"input_validators/{name}": b"int main() {}\n"}, f"input_validators/{name}")
    with pytest.raises(NoCompiler, match="found none on this server"):
        other.tools().prepare(tool)


def test_a_program_is_compiled_once(tmp_path: Path, desk: ProgramDesk) -> None:
    own = program({"output_validator/check.cpp": f"// once\n{TESTLIB}", "include/verdict.h": HEADER}, "testlib")
    other = ProgramDesk(desk._sandbox, tmp_path, 2**30)
    assert seen(other.ask_all(own, [case(b"8")], SECONDS)[0]) == 1
    (built,) = tmp_path.glob("*/build/program")
    before = built.stat().st_mtime_ns
    assert seen(other.ask_all(own, [case(b"8")], SECONDS)[0]) == 1
    assert [path.stat().st_mtime_ns for path in tmp_path.glob("*/build/program")] == [before]


def test_two_programs_of_one_folder_are_no_program(desk: ProgramDesk) -> None:
    own = program({"output_validator/one.py": "", "output_validator/two.py": ""})
    (opinion,) = desk.ask_all(own, [case(b"8")], SECONDS)
    assert "expected one Python file, or __main__.py or main.py among several" in opinion.fault


def test_a_bundle_holds_the_program_alone_and_its_bytes_depend_on_nothing_else() -> None:
    files = {"output_validator/b.py": b"b", "include/a.h": b"a", "problem.yaml": b"p", "data/sample/1.in": b"1"}
    own = program_files(files)
    assert list(own) == ["include/a.h", "output_validator/b.py"]
    assert unpack(pack(own)) == own
    code = (
        "from app.programs.model import digest, pack\n"
        "print(digest(pack({'output_validator/b.py': b'b', 'include/a.h': b'a'})))"
    )
    again = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert again.stdout.strip() == digest(pack(own))


DRAWING = f"""\
def score(given, answer, reference):
    for name in answer.split():
        with open(name, "wb") as file:
            file.write({png()!r} if name.endswith(".png") else bytes(2**21))
    return 1
"""


def test_images_of_a_checker_in_python_are_those_of_its_working_folder_and_of_one_case(desk: ProgramDesk) -> None:
    """What is too large, or none, is left out with a remark for judges."""
    own = program({"checker.py": DRAWING}, "python")
    asked = [case(b"teamimage.png judgeimage-07.png"), case(b"teamimage.svg teamimage.gif"), case(b"")]
    first, second, third = (each.decision for each in desk.ask_all(own, asked, SECONDS))
    assert first is not None
    assert second is not None
    assert third is not None
    assert first.images == {"judgeimage-07.png": png(), "teamimage.png": png()}
    assert second.images == third.images == {}
    assert second.judges.splitlines() == [
        "teamimage.gif is not kept: expected teamimage or judgeimage, perhaps -ID, and .png, .jpg, .jpeg or .svg",
        "teamimage.svg is not kept: expected at most 1048576 bytes, found more",
    ]


def test_images_of_an_answer_are_bounded_in_number_and_in_all(tmp_path: Path, desk: ProgramDesk) -> None:
    own = program({"checker.py": DRAWING}, "python")
    many = " ".join(f"teamimage-{at:02}.png" for at in range(12)).encode()
    small = ProgramDesk(desk._sandbox, tmp_path, 2**27, image_bytes=2 * len(png()))
    decisions = [each.ask_all(own, [case(many)], SECONDS)[0].decision for each in (desk, small)]
    assert [len(each.images) for each in decisions if each is not None] == [8, 2]
    assert decisions[1] is not None
    assert f"expected at most {2 * len(png())} bytes of images of an answer, found more" in decisions[1].judges
