"""Checkers in Python: one process for the cases of a submission, and nothing goes from one to the next."""

from __future__ import annotations

import psutil
import pytest

from app.programs.desk import ProgramDesk
from app.programs.model import CaseFiles, Decision, Program, ProgramFault, digest, pack

pytestmark = pytest.mark.machine("sandbox")
SECONDS = 20.0
LOADED = """\
import os, time

loaded = time.monotonic_ns()
asked = []

def score(given, answer, reference):
    asked.append(answer)
    exec(answer, {"os": os, "time": time})
    return 1, f"{loaded} {len(asked)}"
"""
"""Says when it was loaded and how often it was asked since; runs what it is sent, as one that was taken over would."""


def program(code: str = LOADED) -> Program:
    """A checker in Python."""
    files = {"checker.py": code.encode()}
    return Program(digest(pack(files)), "python", "fraction", files)


def submitted(desk: ProgramDesk, *answers: str | bytes, own: Program | None = None) -> list[str]:
    """Ask about the answers of one submission; returns the words of each."""
    with desk.opened(own or program(), SECONDS) as ask:
        return [words(ask(case(each))) for each in answers]


def case(answer: str | bytes) -> CaseFiles:
    """An answer to a case."""
    return CaseFiles("01", b"1\n", b"1\n", answer.encode() if isinstance(answer, str) else answer)


def words(decision: Decision | None) -> str:
    """What a decision says to the team."""
    assert decision is not None
    return decision.message.text


def test_a_process_serves_the_cases_of_one_submission_and_no_other(desk: ProgramDesk) -> None:
    """What an answer leaves in the process, or in its folders, is gone with it."""
    first = submitted(desk, "open('/tmp/left', 'w'); open('/work/left', 'w')", "2")
    second = submitted(desk, "assert not os.listdir('/tmp') + os.listdir('/work')")
    loaded = first[0].split()[0]
    assert first == [f"{loaded} 1", f"{loaded} 2"]
    assert second[0].split()[0] != loaded
    assert second[0].endswith(" 1")


def test_daemons_end_with_their_submission(desk: ProgramDesk) -> None:
    before = sandboxes()
    submitted(desk, "if os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n  time.sleep(1000)\n os._exit(0)")
    assert sandboxes() == before


def test_a_process_that_dies_is_named_and_the_next_question_starts_another(desk: ProgramDesk) -> None:
    with pytest.raises(ProgramFault, match=r"expected exit code none before its reply, found 3; standard error: oops"):
        submitted(desk, "import sys; print('oops', flush=True); os._exit(3)")
    with pytest.raises(ProgramFault, match="killed by signal 11"):
        submitted(desk, "os.kill(os.getpid(), 11)")
    with pytest.raises(ProgramFault, match="it ended before its reply"):
        submitted(desk, "os.kill(os.getpid(), 9); time.sleep(60)")
    with desk.opened(program(), SECONDS) as ask:
        with pytest.raises(ProgramFault, match="it ended before its reply"):
            ask(case("os.kill(os.getpid(), 9)"))
        assert words(ask(case("1"))).endswith(" 1")


def sandboxes() -> set[int]:
    """The processes that hold a sandbox of this process."""
    return {each.pid for each in psutil.Process().children() if each.name() == "bwrap"}
