"""Packages' own checkers in place of a grader process: what waits, what fails, and what is no one's fault."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select, update

from app.core.clock import utc_now
from app.core.files.open_files import LocalFiles
from app.core.service import Service
from app.domain.documents import CaseAnswer, ProgramDocument
from app.judging.service.engine import Engine
from app.judging.service.graders import EngineSettings
from app.judging.service.judging import SANDBOX
from app.judging.service.messages import Failed, Grade, Held, Unreadable, Validate, Validated
from app.judging.service.programs import Programs
from app.programs import places
from app.programs.model import pack
from app.sandbox.model import SandboxMissing
from app.sandbox.sandbox import Sandbox
from app.tables import JudgementRow
from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.programs import ABSOLUTE, own_checker
from tests.builders.service import open_service

MEMORY = 2**28
SECONDS = 20.0
CHECKER = b"def score(given, answer, reference):\n    return int(answer) / int(reference)\n"


def as_root() -> Sandbox:
    """The sandbox of this machine, whoever runs the tests."""
    return Sandbox.open(as_root=True)


def missing() -> Sandbox:
    """A machine without bubblewrap."""
    raise SandboxMissing({"bubblewrap": "bwrap is not installed"})


def stored(files: LocalFiles, checker: bytes = CHECKER) -> ProgramDocument:
    """A stored program as settings name it."""
    return {"protocol": "python", "points": "fraction", "sha256": files.keep(pack({"checker.py": checker}))}


def answer(files: LocalFiles, data: bytes) -> CaseAnswer:
    """An answer to a case whose `.ans` is 8."""
    return CaseAnswer(1, files.keep(b"1\n"), files.keep(b"8\n"), data, None, None, (), 50, 1, "01")


def test_without_a_sandbox_what_needs_a_program_is_held_back_and_nobody_is_blamed(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path)
    program = stored(files)
    programs = Programs(EngineSettings(1, MEMORY, SECONDS, LocalFiles(tmp_path)), missing)
    assert programs.lacks() == "no sandbox: bubblewrap: bwrap is not installed"
    replies = [
        programs.grade(Grade("program", [answer(files, b"8")], program), program, SECONDS),
        programs.ask(Validate("program", b"1\n", program=program), program, SECONDS),
    ]
    assert replies == [Held("no sandbox: bubblewrap: bwrap is not installed")] * 2


@pytest.mark.machine("sandbox")
def test_a_submission_waits_for_the_sandbox_and_is_judged_once_it_is_there(sqlite_url: str, tmp_path: Path) -> None:
    with open_service(sqlite_url, tmp_path / "home") as service:
        add_problem(service, own_checker({"checker.py": CHECKER}, ABSOLUTE))
        add_contest(service)
        add_submission(service, None, files={"02": b"2\n", "03": b"3\n"})
        settings = EngineSettings(1, 2**31, SECONDS, service.files)
        engine = Engine(service.database, service.writer, settings, lambda *_: None)
        engine.programs.open_sandbox = missing
        try:
            engine.start()
            wait(lambda: waits_for(service) == SANDBOX)
            assert types(service) == [None]
            engine.programs.open_sandbox = as_root
            with service.database.write() as session:
                assert session.execute(update(JudgementRow).values(not_before=utc_now())).rowcount == 1
            wait(lambda: types(service) != [None])
            assert types(service) == ["AC"]
        finally:
            engine.close()


@pytest.mark.machine("sandbox")
def test_without_a_compiler_what_needs_one_is_held_back_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(places.COMPILERS, "c++", ("/nowhere/g++",))
    files = LocalFiles(tmp_path)
    bundle = pack({"output_validator/check.cpp": b"int main() {}\n"})
    program: ProgramDocument = {"protocol": "kattis", "points": "fraction", "sha256": files.keep(bundle)}
    programs = Programs(EngineSettings(1, MEMORY, SECONDS, LocalFiles(tmp_path)), as_root)
    try:
        reply = programs.grade(Grade("program", [answer(files, b"8")], program), program, SECONDS)
    finally:
        programs.close()
    assert isinstance(reply, Held)
    assert "apt-get install g++" in reply.error


def types(service: Service) -> list[str | None]:
    """Every judgement's type."""
    with service.database.read() as session:
        return list(session.scalars(select(JudgementRow.type)))


def wait(ready: Callable[[], bool]) -> None:
    """Wait for what other threads do."""
    until = time.monotonic() + 60
    while not ready():
        assert time.monotonic() < until
        time.sleep(0.01)


def waits_for(service: Service) -> str | None:
    """What the only judgement waits for."""
    with service.database.read() as session:
        return session.scalars(select(JudgementRow.waits_for)).one()


@pytest.mark.machine("sandbox")
def test_a_program_stops_after_the_case_that_ends_its_slice(tmp_path: Path) -> None:
    """A package's own checker gives way between two cases as well, however slow it is."""
    files = LocalFiles(tmp_path)
    program = stored(files, b"import time\n\n" + CHECKER.replace(b"    return", b"    time.sleep(0.3)\n    return"))
    programs = Programs(EngineSettings(1, MEMORY, SECONDS, files), as_root)
    try:
        request = Grade("program", [answer(files, b"4")] * 5, program)
        scores = programs.grade(request, program, SECONDS)
    finally:
        programs.close()
    assert not isinstance(scores, Failed)
    assert 1 <= len(scores) <= 2


@pytest.mark.machine("sandbox")
def test_a_program_scores_answers_and_a_fault_of_its_own_is_blamed_on_the_attempt(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path)
    program = stored(files)
    programs = Programs(EngineSettings(1, MEMORY, SECONDS, LocalFiles(tmp_path)), as_root)
    try:
        (score,) = programs.grade(Grade("program", [answer(files, b"4")], program), program, SECONDS)
        assert (score.verdict, score.multiplier) == ("accepted", score.raw)
        failed = programs.grade(Grade("program", [answer(files, b"four")], program), program, SECONDS)
        assert isinstance(failed, Failed)
        assert failed.blame
        assert failed.error.startswith("case 01: Traceback")
        expected = programs.ask(Validate("program", b"1\n", expected=b"8\n", program=program), program, SECONDS)
        assert isinstance(expected, Validated)
        assert expected.score is not None
        gone: ProgramDocument = {**program, "sha256": "0" * 64}
        unreadable = programs.grade(Grade("program", [answer(files, b"4")], gone), gone, SECONDS)
        assert isinstance(unreadable, Unreadable)
        assert unreadable.sha256 == "0" * 64
    finally:
        programs.close()
