"""Checkers in Python that stay loaded: one process for many submissions, and nothing goes from one to the next."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from app.programs.desk import ProgramDesk
from app.programs.model import CaseFiles, Decision, Program, ProgramFault, digest, pack
from app.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.machine("sandbox")
SECONDS = 20.0
SECRET = b"the answer of another team"
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
ATTACKS = """\
import ctypes, os, resource
parent = os.getppid()
could = []
tries = {
    "read memory": lambda: open(f"/proc/{parent}/mem", "rb").read(1),
    "read descriptors": lambda: os.readlink(f"/proc/{parent}/fd/0"),
    "read variables": lambda: open(f"/proc/{parent}/environ", "rb").read(1),
    "write memory": lambda: open(f"/proc/{parent}/mem", "wb").write(b"x"),
    "open its socket": lambda: os.open(f"/proc/{parent}/fd/3", os.O_RDWR),
}
for name, attempt in tries.items():
    try:
        attempt()
    except OSError:
        continue
    could.append(name)
assert not could, could
"""


@pytest.fixture
def desk(sandbox: Sandbox, tmp_path: Path) -> Iterator[ProgramDesk]:
    """A desk of this test alone, with no process in reserve."""
    desk = ProgramDesk(sandbox, tmp_path, 2**27, settle_seconds=0.5)
    yield desk
    desk.close()


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


def test_a_process_is_loaded_once_and_each_submission_begins_as_it_was_then(desk: ProgramDesk) -> None:
    first, second = submitted(desk, "1", "2"), submitted(desk, "3")
    loaded = first[0].split()[0]
    assert first == [f"{loaded} 1", f"{loaded} 2"]
    assert second == [f"{loaded} 1"]


@pytest.mark.parametrize(
    "deed",
    [
        "open('/tmp/left', 'w')",
        "open('/work/left', 'w')",
        "import resource; resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (20, 20))",
        "os.setpriority(os.PRIO_PROCESS, os.getppid(), 15)",
        "os.kill(os.getppid(), 19)",
        "os.chmod('/work', 0o555)",
        "os.chmod('/tmp', 0o1700)",
        "os.chmod('/tmp', 0)",
    ],
    ids=[
        *("a file", "a file of work", "a limit", "a priority", "a process that is stopped"),
        *("a folder nobody may write to", "the rights of a folder", "a folder nobody may read"),
    ],
)
def test_a_process_that_a_submission_has_changed_takes_no_other(desk: ProgramDesk, deed: str) -> None:
    first = submitted(desk, deed)[0].split()[0]
    assert submitted(desk, "1")[0].split()[0] != first


def test_a_submission_that_takes_a_checker_over_cannot_reach_the_process_it_is_a_part_of(desk: ProgramDesk) -> None:
    """Else it could answer for the teams to come, or read what they send."""
    assert submitted(desk, ATTACKS)[0].endswith(" 1")


def test_nothing_of_a_submission_lives_on(desk: ProgramDesk) -> None:
    """Neither a daemon, which is killed before the next answer is sent, nor the bytes of its answer."""
    daemon = "if os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n  time.sleep(1000)\n os._exit(0)"
    loaded = submitted(desk, daemon, f"'{SECRET.decode()}'")[0].split()[0]
    search = (
        "pids = sorted(int(each) for each in os.listdir('/proc') if each.isdigit())\n"
        "assert len(pids) == 3, pids\n"
        "whole = b''\n"
        "with open('/proc/self/maps') as maps, open('/proc/self/mem', 'rb', 0) as memory:\n"
        "    for line in maps:\n"
        "        begin, end = (int(each, 16) for each in line.split()[0].split('-'))\n"
        "        if ' rw' in line:\n"
        "            memory.seek(begin)\n"
        "            whole += memory.read(end - begin)\n"
        f"assert bytes(reversed({SECRET[::-1]!r})) not in whole"
    )
    assert submitted(desk, search) == [f"{loaded} 1"]


def test_a_submission_leaves_no_bytes_in_the_times_of_folders(desk: ProgramDesk) -> None:
    """A part that is taken over would leave the next one a note of eight bytes and more."""
    first = submitted(desk, "os.utime('/tmp', (1234567, 7654321)); os.utime('/work', (1234567, 7654321))")
    look = "assert {os.stat(each).st_mtime for each in ('/tmp', '/work')} == {0.0}"
    assert submitted(desk, look)[0].split()[0] == first[0].split()[0]


def test_a_part_that_dies_takes_its_process_with_it_and_is_named(desk: ProgramDesk) -> None:
    with pytest.raises(ProgramFault, match=r"expected exit code none before its reply, found 3; standard error: oops"):
        submitted(desk, "import sys; print('oops', flush=True); os._exit(3)")
    with pytest.raises(ProgramFault, match="killed by signal 11"):
        submitted(desk, "os.kill(os.getpid(), 11)")
    with pytest.raises(ProgramFault, match="it ended before its reply"):
        submitted(desk, "os.kill(os.getppid(), 9); time.sleep(60)")
    assert submitted(desk, "1")[0].endswith(" 1")


def test_idle_processes_are_few_and_one_that_was_killed_is_replaced(desk: ProgramDesk) -> None:
    before = sandboxes()
    for number in range(6):
        submitted(desk, "1", own=program(f"# {number}\n{LOADED}"))
    idle = sandboxes() - before
    assert len(idle) == 4
    everything = [each for pid in idle for each in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True))]
    for pid in idle:
        os.kill(pid, signal.SIGKILL)
    psutil.wait_procs(everything, timeout=60)
    assert submitted(desk, "1", own=program(f"# 5\n{LOADED}"))[0].endswith(" 1")
    desk.close()
    assert sandboxes() <= before


def sandboxes() -> set[int]:
    """The processes that hold a sandbox of this process."""
    return {each.pid for each in psutil.Process().children() if each.name() == "bwrap"}
