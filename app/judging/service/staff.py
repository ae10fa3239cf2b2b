"""Settings and state of an engine's graders.

- A running grader process: started, warmed, asked, killed; its replies are checked before they are believed.
"""

import os
import signal
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.core.files.files import Files
from app.core.files.stored_bytes import FileMissing
from app.core.settings import Settings
from app.domain.documents import FoundScore
from app.judging.service.messages import (
    MOST_REPLY,
    Failed,
    Given,
    Grade,
    Graded,
    Need,
    Reply,
    Request,
    Unreadable,
    Validate,
    Warm,
    Warmed,
    encoded,
    reply_of,
)
from app.programs.desk import MOST_SECONDS
from app.programs.points import NO_MODULES, Modules, modules_of
from app.sandbox.child import AskedProcess, MessageTooLarge, PipeBroken, PipeTooSlow


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The number of graders, the limits of each, the seconds of an answer's check, and their module.

    `cache` is the folder of what is compiled of packages' own checkers; None: a temporary one. `most_seconds` bounds
    the time that a package may give its own; `modules` are those that they may import. `programs_as_root`: they run
    although the service's user is root. `process_id` is the process's, as its signs of life have it.
    """

    graders: int
    memory: int
    seconds_per_answer: float
    files: Files
    program: str = "app.judging.service.grader"
    cache: Path | None = None
    most_seconds: float = MOST_SECONDS
    modules: Modules = NO_MODULES
    programs_as_root: bool = False
    process_id: str | None = None


@dataclass(frozen=True, slots=True)
class GraderState:
    """The state of the graders: those at work, how many died, and what each protection lacks."""

    alive: int
    deaths: int
    protections: Mapping[str, str]


def grader_count(wanted: int) -> int:
    """The number of graders to run: as many as wanted, else one less than the cores, at least one."""
    return wanted or max(1, (os.cpu_count() or 2) - 1)


def engine_settings(settings: Settings, files: Files) -> EngineSettings:
    """The settings of the engine of a server or a worker."""
    return EngineSettings(
        graders=grader_count(settings.graders),
        memory=settings.grader_memory,
        seconds_per_answer=settings.check_seconds,
        files=files,
        cache=settings.home / "cache" / "programs",
        most_seconds=settings.most_check_seconds,
        modules=modules_of(settings.checker_modules),
        programs_as_root=settings.may_run_as_root,
    )


STARTING_SECONDS = 60.0
# Signals that end a grader for reasons of others: an operator, the kernel short of memory. No checker sends them.
FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})


class RunningGrader(AskedProcess):
    """A process from its start to its end. A dead or silent one gives Failed; it is killed then and stays dead."""

    def __init__(self, settings: EngineSettings) -> None:
        super().__init__(settings.program, str(settings.memory))
        self._files = settings.files
        self.used = False

    def warm(self, request: Warm, seconds: float = STARTING_SECONDS) -> Warmed | Failed:
        """Let the process load what judging needs and confine itself."""
        files = {sha256 for _, *both in request.cases for sha256 in both}
        reply = self._send(request, seconds) or self._receive(seconds, files)
        return reply if isinstance(reply, Warmed) else self._no_reply(reply)

    def ask(self, request: Validate, seconds: float) -> Reply:
        """Validate a test case within so many seconds."""
        self.used = True
        return self._send(request, seconds) or self._receive(seconds, ())

    def grade(self, request: Grade, seconds: float) -> list[FoundScore] | Failed:
        """Check the answers of a submission, each within `seconds`, until the request's slice is over."""
        self.used = True
        if (failed := self._send(request, seconds)) is not None:
            return failed
        files, scores = set(_files_of(request)), list[FoundScore]()
        for answer in request.answers:
            reply = self._receive(seconds, files)
            if not isinstance(reply, Graded) or reply.score.test_case_id != answer.test_case_id:
                return self._no_reply(reply)
            scores.append(reply.score)
            if reply.is_last:
                break
        return scores

    def _send(self, request: Request, seconds: float, descriptor: int | None = None) -> Failed | None:
        try:
            self.pipe.send(encoded(request), seconds, descriptor)
        except PipeTooSlow:
            self.end()
            return Failed(f"did not read what it was asked within {seconds:g} s")
        except PipeBroken:
            return self._ended()
        return None

    def _receive(self, seconds: float, files: Collection[str]) -> Reply:
        """Wait for the reply, and hand over files of the request meanwhile, all in so many seconds."""
        until = time.monotonic() + seconds
        while True:
            try:
                reply = reply_of(self.pipe.receive(MOST_REPLY, max(0.0, until - time.monotonic())))
            except PipeTooSlow:
                self.end()
                return Failed(f"no reply within {seconds:g} s")
            except PipeBroken:
                return self._ended()
            except (ValueError, MessageTooLarge) as error:  # msgspec's faults are ValueErrors
                self.end()
                return Failed(f"a reply that is none: {error}")
            if isinstance(reply, Unreadable) and reply.sha256 not in files:
                return Failed(f"could not read a file that is not of its request: {reply.sha256}")
            if not isinstance(reply, Need):
                return reply
            if (failed := self._hand_over(reply.sha256, files, until)) is not None:
                return failed

    def _hand_over(self, sha256: str, files: Collection[str], until: float) -> Failed | None:
        seconds = max(0.001, until - time.monotonic())
        if sha256 not in files:
            self.end()
            return Failed(f"asked for a file that is not of its request: {sha256}")
        try:
            with self._files.opened(sha256) as file:
                return self._send(Given(), seconds, file.fileno())
        except (FileMissing, OSError) as fault:
            return self._send(Given(str(fault)), seconds)

    def _no_reply(self, reply: Reply) -> Failed:
        """The failure in place of a reply; a process that sends something else is not asked again."""
        if isinstance(reply, Failed):
            return reply
        self.end()
        return Failed(f"an unexpected reply: {type(reply).__name__}")

    def _ended(self) -> Failed:
        """The process has closed its end: wait a moment for its status, which tells whose fault that is."""
        try:
            status = self.wait(1)
        except subprocess.TimeoutExpired:
            status = 0
        self.end()
        return Failed(f"the grader process ended with status {status}", blame=-status not in FROM_OUTSIDE)


def _files_of(request: Grade) -> Iterator[str]:
    for answer in request.answers:
        yield from filter(None, (answer.input_sha256, answer.answer_sha256, answer.sha256))
