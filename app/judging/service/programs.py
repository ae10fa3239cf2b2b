"""The grader of problems whose packages bring their own checker: requests and replies as of a grader process.

A rejection is the contestant's; a fault of the program is a failed attempt, a judge error in the end; a sandbox that
cannot be had is no one's fault, and what needs it waits.

Guarantee 4: the lock lets the first of several threads open the sandbox.
"""

import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import cast

from app.core.files.stored_bytes import UNREADABLE
from app.core.images import measure
from app.domain.documents import CaseAnswer, FoundScore, ImageDocument, ProgramDocument
from app.judging.service.grader import UnreadableFile, found_score, message_json, rejected
from app.judging.service.graders import EngineSettings
from app.judging.service.messages import Failed, Grade, Held, Reply, Unreadable, Validate, validated
from app.packages.tools import Workshop
from app.programs.desk import Ask, ProgramDesk
from app.programs.model import (
    CaseFiles,
    Decision,
    Meaning,
    NoCompiler,
    OwnLimits,
    Program,
    ProgramFault,
    Protocol,
    Unread,
    unpack,
)
from app.programs.tools import ToolDesk
from app.sandbox.model import SandboxFault, SandboxMissing
from app.sandbox.sandbox import Sandbox
from checkers.doors import Message


class Programs:
    """Asks programs in the sandbox, which is opened when it is first needed. May be used from any thread."""

    def __init__(self, settings: EngineSettings, open_sandbox: Callable[[], Sandbox] | None = None) -> None:
        self.open_sandbox = open_sandbox or partial(Sandbox.open, as_root=settings.programs_as_root)
        self._settings = settings
        self._files = settings.files
        self._desk: ProgramDesk | None = None
        self._opened = ExitStack()
        self._lock = threading.Lock()

    def close(self) -> None:
        """Let go of the sandbox; nothing may run any longer."""
        with self._lock:
            self._opened.close()
            self._desk = None

    def tools(self) -> ToolDesk:
        """The desk of packages' other programs; raises SandboxMissing."""
        return self._opened_desk().tools()

    def workshop(self) -> Workshop:
        """The place for packages' other programs, or what it lacks."""
        try:
            return Workshop(self.tools())
        except SandboxMissing as missing:
            return Workshop(None, str(missing))

    def lacks(self) -> str:
        """What keeps programs from running; empty where nothing does."""
        return self.workshop().lack

    def grade(self, request: Grade, document: ProgramDocument, seconds: float) -> list[FoundScore] | Failed:
        """Check the answers of a submission, each within `seconds`, until the request's slice is over."""
        scores: list[FoundScore] = []
        try:
            program = self._program(document, None)
            ask, until = self._opened_desk().asking(program, seconds), perf_counter() + request.slice_seconds
            for answer in request.answers:
                scores.append(self._grade_one(ask, answer))
                if perf_counter() >= until:
                    break
        except Exception as error:
            return _failure(error)
        return scores

    def ask(self, request: Validate, document: ProgramDocument, seconds: float) -> Reply:
        """Say what is wrong with a test case's input and answer, as far as the program can tell."""
        try:
            program = self._program(document, request.bundle)
            decision = self._opened_desk().asking(program, seconds)(_case_of(request))
        except Unread as refused:
            return validated([("input", message_json(Message("refused", str(refused))))])
        except Exception as error:
            return _failure(error)
        if decision is None:
            return validated([])
        if decision.score is None:
            message = Message(decision.message.key, decision.words, decision.message.args)
            return validated([("answer", message_json(message))])
        return validated([], found_score(0, decision.score))

    def _opened_desk(self) -> ProgramDesk:
        with self._lock:
            if self._desk is None:
                sandbox, cache = self._opened.enter_context(closing(self.open_sandbox())), self._settings.cache
                if cache is None:
                    cache = Path(self._opened.enter_context(tempfile.TemporaryDirectory(prefix="jurado-programs-")))
                self._desk = ProgramDesk(
                    sandbox,
                    cache,
                    self._settings.memory,
                    most_seconds=self._settings.most_seconds,
                    modules=self._settings.modules,
                )
            return self._desk

    def _program(self, document: ProgramDocument, bundle: bytes | None) -> Program:
        files = unpack(self._load(document["sha256"]) if bundle is None else bundle)
        own = document.get("limits") or {"seconds": None, "memory": None, "output": None}
        limits = OwnLimits(own["seconds"], own["memory"], own["output"])
        protocol, points = cast(Protocol, document["protocol"]), cast(Meaning, document["points"])
        return Program(document["sha256"], protocol, points, files, limits)

    def _grade_one(self, ask: Ask, answer: CaseAnswer) -> FoundScore:
        if answer.refused is not None:
            return rejected(answer.test_case_id, answer.refused)
        case = CaseFiles(
            answer.case_name,
            self._load(answer.input_sha256),
            b"" if answer.answer_sha256 is None else self._load(answer.answer_sha256),
            answer.data if answer.data is not None else self._load(answer.sha256 or ""),
            tuple(answer.checker_args),
            Fraction(answer.points_num, answer.points_den),
        )
        began = perf_counter()
        try:
            decision = ask(case)
        except Unread as refused:
            raise ProgramFault(f"the checker refuses the input of case {answer.case_name}: {refused}") from None
        except ProgramFault as fault:
            raise ProgramFault(f"case {answer.case_name}: {fault}") from None
        if decision is None:
            raise ProgramFault(f"case {answer.case_name}: expected a verdict, found none")
        score = _score_of(answer.test_case_id, decision, round((perf_counter() - began) * 1000))
        return replace(score, images=[self._image(name, data) for name, data in decision.images.items()])

    def _image(self, name: str, data: bytes) -> ImageDocument:
        """Store an image before anyone reads of it; the desk has made sure that it is one."""
        image = measure(data)
        assert image is not None, "a decision has no other files"
        return {
            "name": name,
            "mime": image.mime,
            "width": image.width,
            "height": image.height,
            "size": len(data),
            "sha256": self._files.keep(data),
        }

    def _load(self, sha256: str) -> bytes:
        try:
            return self._files.load(sha256)
        except UNREADABLE as error:
            raise UnreadableFile(sha256, error) from None


def _score_of(test_case_id: int, decision: Decision, run_time_ms: int) -> FoundScore:
    """A decision in the form that scores are stored in."""
    judges = decision.judges or None
    if decision.score is None:
        score = rejected(test_case_id, message_json(decision.message), run_time_ms)
    else:
        score = found_score(test_case_id, decision.score, run_time_ms)
    return replace(score, judge_message=judges)


def _case_of(request: Validate) -> CaseFiles:
    most = None if request.points is None else Fraction(*request.points)
    args = tuple(request.checker_args)
    if request.expected is not None:
        expected = request.expected
        return CaseFiles(request.case_name, request.input, expected, expected, args, most, is_expected=True)
    return CaseFiles(request.case_name, request.input, request.reference or b"", request.answer, args, most)


def _failure(error: Exception) -> Failed:
    """The reply in place of one: whose fault it is decides what becomes of the answer."""
    match error:
        case NoCompiler():
            return Held(str(error))
        case ProgramFault():
            return Failed(str(error))
        case UnreadableFile():
            return Unreadable(str(error), sha256=error.sha256)
        case SandboxMissing() | SandboxFault() | OSError():
            return Held(str(error))
        case _:
            raise error
