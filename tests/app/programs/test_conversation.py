"""Checkers in Python: a process for each case, and nothing goes from one to the next."""

from __future__ import annotations

import psutil
import pytest

from app.programs.desk import ProgramDesk
from app.programs.model import CaseFiles, Decision, Program, ProgramFault, digest, pack

pytestmark = pytest.mark.machine("sandbox")
SECONDS = 20.0
CODE = """\
import os, time

def score(given, answer, reference):
    exec(answer, {"os": os, "time": time})
    return 1, f"{os.getpid()}"
"""
"""Runs what it is sent, as one that was taken over would."""


def program(code: str = CODE) -> Program:
    """A checker in Python."""
    files = {"checker.py": code.encode()}
    return Program(digest(pack(files)), "python", "fraction", files)


def submitted(desk: ProgramDesk, *answers: str | bytes, own: Program | None = None) -> list[str]:
    """Ask about the answers of one submission; returns the words of each."""
    ask = desk.asking(own or program(), SECONDS)
    return [words(ask(case(each))) for each in answers]


def case(answer: str | bytes) -> CaseFiles:
    """An answer to a case."""
    return CaseFiles("01", b"1\n", b"1\n", answer.encode() if isinstance(answer, str) else answer)


def words(decision: Decision | None) -> str:
    """What a decision says to the team."""
    assert decision is not None
    return decision.message.text


def test_what_an_answer_leaves_is_gone_with_its_case(desk: ProgramDesk) -> None:
    left = "open('/tmp/left', 'w'); open('/work/left', 'w')"
    submitted(desk, left, "assert not os.listdir('/tmp') + os.listdir('/work')")


def test_daemons_end_with_their_case(desk: ProgramDesk) -> None:
    before = sandboxes()
    submitted(desk, "if os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n  time.sleep(1000)\n os._exit(0)")
    assert sandboxes() == before


def test_a_process_that_dies_is_named_and_the_next_question_is_answered(desk: ProgramDesk) -> None:
    with pytest.raises(ProgramFault, match=r"expected exit code 0, found 3; standard error: oops"):
        submitted(desk, "import sys; print('oops', flush=True); os._exit(3)")
    with pytest.raises(ProgramFault, match="killed by signal 11"):
        submitted(desk, "os.kill(os.getpid(), 11)")
    ask = desk.asking(program(), SECONDS)
    with pytest.raises(ProgramFault, match="killed by signal 9"):
        ask(case("os.kill(os.getpid(), 9)"))
    assert words(ask(case("1"))).isdigit()


def sandboxes() -> set[int]:
    """The processes that hold a sandbox of this process."""
    return {each.pid for each in psutil.Process().children() if each.name() == "bwrap"}
