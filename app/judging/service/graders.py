"""The graders of an engine: their settings, a running grader process, and its replacement when it dies.

Guarantee 4: a grader process may be taken over by an answer. Its replies are checked before they are believed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

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

if TYPE_CHECKING:
    from app.judging.service.programs import Programs

log = structlog.get_logger()

STARTING_SECONDS = 60.0
# Signals that end a grader for reasons of others: an operator, the kernel short of memory. No checker sends them.
FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
NO_GRADER = Failed("no grader runs", blame=False)


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
    """The number of graders to run: as many as wanted, otherwise one less than the cores, at least one."""
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
        """Wait for the reply, and hand over files of the request in the meantime, all in so many seconds."""
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


class GraderProcess:
    """A grader's place, for one thread; `stop_starting` and `close` are for any.

    `ask` and `grade` never raise for what happens inside the process: a dead or silent one is a Failed reply.
    """

    def __init__(self, settings: EngineSettings, warm_up: Callable[[], Warm], programs: Programs) -> None:
        self._settings = settings
        self._warm_up = warm_up
        self._programs = programs
        self._running: RunningGrader | None = None
        self._starting: RunningGrader | None = None
        self._closing = False
        self.deaths = 0
        self.pause = 0.0
        self.protections: dict[str, str] = {}

    @property
    def pid(self) -> int | None:
        """The process's id while it runs and is warm."""
        running = self._running
        return running.pid if running is not None and running.alive else None

    def start(self) -> bool:
        """Have a warm process before there is anything to ask; False where it should be tried after `pause` seconds."""
        return self._ready() is not None

    def ask(self, request: Validate, seconds: float) -> Reply:
        """Send a request and wait for its reply; past `seconds` the process is killed."""
        if request.program is not None:
            return self._programs.ask(request, request.program, seconds)
        running = self._ready()
        return NO_GRADER if running is None else running.ask(request, seconds)

    def grade(self, request: Grade, seconds: float, *, fresh: bool = False) -> list[FoundScore] | Failed:
        """Check answers of a submission, each within `seconds`, until the request's slice is over.

        `fresh`: by a process that checked none.
        """
        if request.program is not None:
            return self._programs.grade(request, request.program, seconds)
        running = self._ready(fresh=fresh)
        return NO_GRADER if running is None else running.grade(request, seconds)

    def stop_starting(self) -> None:
        """Start no further process, and end one that is not warm yet."""
        self._closing = True
        if (starting := self._starting) is not None:
            starting.kill()

    def close(self) -> None:
        """Kill the process, also while someone waits for its reply."""
        self._closing = True
        if self._running is not None:
            self._running.end()

    def _ready(self, *, fresh: bool = False) -> RunningGrader | None:
        """The warm process, or another one started now; None where it does not start, or all is closed."""
        running = self._running
        if running is not None and running.alive and not (fresh and running.used):
            return running
        if running is not None:
            self.deaths += not running.alive
            running.end()
        self._running = None if self._closing else self._started()
        return self._running

    def _started(self) -> RunningGrader | None:
        """Start a process and let it load what judging needs; one that dies in the meantime is no one's fault."""
        grader = None
        try:
            request = self._warm_up()
            grader = self._starting = RunningGrader(self._settings)
            warmed = grader.warm(request)
        except Exception:  # a database that is away, no process left to start, a pipe that breaks
            log.exception("a grader could not be started; it is tried again")
        else:
            if isinstance(warmed, Failed):
                self.deaths += 1
                log.warning("a grader died while it started; another is tried", error=warmed.error)
            elif not self._closing:
                self._look_at(warmed)
                self.pause = 0.0
                return grader
        finally:
            self._starting = None
        if grader is not None:
            grader.end()
        self.pause = min(LONGEST_PAUSE, 2 * self.pause or FIRST_PAUSE)
        return None

    def _look_at(self, warmed: Warmed) -> None:
        if warmed.error:
            log.warning("a grader could not load its checkers", error=warmed.error)
        missing = {name: lack for name, lack in warmed.protections.items() if lack}
        if missing and warmed.protections != self.protections:
            log.warning("graders lack protections that this system does not give", **missing)
        self.protections = warmed.protections
