"""Rows of `python -m bench sandbox`: checkers of packages beside those of Jurado, on the same answers."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

from app.core.files.open_files import LocalFiles
from app.domain.documents import CaseAnswer, ProgramDocument
from app.judging.service.grade import Grader
from app.judging.service.messages import Failed, Grade
from app.judging.service.programs import Programs
from app.packages import skeletons
from app.programs.desk import ProgramDesk
from app.programs.model import CaseFiles, Program, digest, pack
from app.programs.places import prepared
from app.sandbox.sandbox import Sandbox
from checkers.doors import open_checker

MIB = 2**20
NUMBERS = 10_000_000 // 7
"""Of six digits and a blank: 10 MB."""
RUNS = 5
ANSWERS = 1000
TOGETHER = 100
SECONDS = 60.0
SMALL_TESTLIB = Path(skeletons.__file__).parent / "templates/tour/include/testlib.h"
WITH_TESTLIB = """\
#include "testlib.h"

int main(int argc, char* argv[]) {
    registerTestlibCmd(argc, argv);
    int count = 0;
    while (!ans.seekEof()) {
        int expected = ans.readInt(), found = ouf.readInt();
        count++;
        if (expected != found) quitf(_wa, "number %d: expected %d, found %d", count, expected, found);
    }
    if (!ouf.seekEof()) quitf(_pe, "expected %d numbers, found more", count);
    quitf(_ok, "%d numbers", count);
}
"""
IN_PYTHON = b"def score(given, answer, reference):\n    return int(answer.split() == reference.split())\n"
Row = tuple[str, str]


def rows(sandbox: Sandbox, testlib: Path | None) -> list[Row]:
    """Measure; each row is a name and its figure. `testlib`: the testlib.h to use, None: the small one of Jurado's."""
    with tempfile.TemporaryDirectory() as name:
        return [*_large_answer(sandbox, Path(name), testlib or SMALL_TESTLIB), *_many_answers(Path(name))]


def _large_answer(sandbox: Sandbox, folder: Path, header: Path) -> list[Row]:
    """An answer of 10 MB, by a checker of testlib in the sandbox and as a plain process, and by `tokens`."""
    files = {"output_validator/check.cpp": WITH_TESTLIB.encode(), "include/testlib.h": header.read_bytes()}
    program = Program(digest(pack(files)), "testlib", "fraction", files)
    data = " ".join(str(100_000 + at % 900_000) for at in range(NUMBERS)).encode() + b"\n"
    desk = ProgramDesk(sandbox, folder / "programs", 2**30)
    answer = data.replace(b" ", b"\n")
    case = CaseFiles("01", b"1\n", data, answer)

    def ask() -> None:
        (opinion,) = desk.ask_all(program, [case], SECONDS)
        assert opinion.decision is not None, opinion
        assert opinion.decision.score is not None, opinion

    ask()  # compiles
    built = prepared(program, folder / "programs", sandbox.run).mounts[1].source / "program"
    (folder / "answer").write_bytes(answer)
    (folder / "expected").write_bytes(data)
    words = (str(built), "/dev/null", str(folder / "answer"), str(folder / "expected"))
    tokens = open_checker("tokens")
    instance = tokens.read_instance(b"1\n")
    times = {
        f"testlib ({header.stat().st_size // 1024} KiB of header), 10 MB, sandbox": _best(ask),
        "the same, plain process": _best(lambda: subprocess.run(words, check=True, capture_output=True)),
        "`tokens`, 10 MB, in process": _best(
            lambda: tokens.score_answer(instance, tokens.read_answer(answer, instance), data)
        ),
    }
    desk.close()
    return [(name, f"{seconds * 1e3:.0f} ms") for name, seconds in times.items()]


def _many_answers(folder: Path) -> list[Row]:
    """A thousand answers of 2 KB by a checker in Python, and by `tokens` as a grader runs it."""
    files = LocalFiles(folder / "files")
    data = b"12345 " * 340 + b"\n"
    given, expected = files.keep(b"1\n"), files.keep(data)
    answers = [CaseAnswer(at, given, expected, data, None, None, (), 1, 1, f"{at}") for at in range(ANSWERS)]
    program: ProgramDocument = {
        "protocol": "python",
        "points": "fraction",
        "sha256": files.keep(pack({"checker.py": IN_PYTHON})),
    }
    programs, grader = Programs(files, None, 2**28, partial(Sandbox.open, as_root=True)), Grader(files)

    def in_sandbox(some: Sequence[CaseAnswer]) -> None:
        scores = programs.grade(Grade("program", some, program), program, SECONDS)
        assert not isinstance(scores, Failed), scores

    def bundled(some: Sequence[CaseAnswer]) -> None:
        assert len(list(grader.grade(Grade("tokens", some)))) == len(some)

    measured = []
    for size in (1, TOGETHER):
        for name, judge in (("`checker.py` in the sandbox", in_sandbox), ("`tokens`, bundled", bundled)):
            judge(answers[:1])  # loads
            began = perf_counter()
            for at in range(0, ANSWERS, size):
                judge(answers[at : at + size])
            rate = ANSWERS / (perf_counter() - began)
            measured.append((f"{ANSWERS} answers, {size} a submission, {name}", f"{rate:,.0f} answers/s"))
    programs.close()
    return measured


def _best(call: Callable[[], object]) -> float:
    """The seconds of the run that other programs have disturbed least."""
    times = []
    for _ in range(RUNS):
        began = perf_counter()
        call()
        times.append(perf_counter() - began)
    return min(times)
