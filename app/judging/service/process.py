"""A grader's place: a warm process to ask, replaced where it dies, also by a spare one; and the sandbox beside it."""

from __future__ import annotations

import threading

from app.domain.case_scores import FoundScore
from app.judging.service.messages import Failed, Grade, Reply, Validate
from app.judging.service.programs import Programs
from app.judging.service.running import RunningGrader
from app.judging.service.spares import Spares

CLOSED = Failed("the server stops", blame=False)


class GraderProcess:
    """`ask` and `grade` never raise for what happens inside the process: a dead or silent one is a Failed reply."""

    def __init__(self, spares: Spares, programs: Programs) -> None:
        self._spares = spares
        self._programs = programs
        self._lock = threading.Lock()
        self._running: RunningGrader | None = None
        self._closing = False

    @property
    def pid(self) -> int | None:
        """The process's id while it runs."""
        running = self._running
        return running.pid if running is not None and running.alive else None

    def start(self) -> None:
        """Start a warm process before there is anything to ask."""
        with self._lock:
            self._ready()

    def ask(self, request: Validate, seconds: float) -> Reply:
        """Send a request and wait for its reply; past `seconds` the process is killed."""
        if request.program is not None:
            return self._programs.ask(request, request.program, seconds)
        with self._lock:
            running = self._ready()
            return CLOSED if running is None else running.ask(request, seconds)

    def grade(self, request: Grade, seconds: float, *, fresh: bool = False) -> list[FoundScore] | Failed:
        """Check answers of a submission, each within `seconds`, until the request's slice is over.

        `fresh`: by a process that checked none.
        """
        if request.program is not None:
            return self._programs.grade(request, request.program, seconds)
        with self._lock:
            running = self._ready(fresh=fresh)
            return CLOSED if running is None else running.grade(request, seconds)

    def close(self) -> None:
        """Kill the process, also while somebody waits for its reply."""
        self._closing = True
        running = self._running
        if running is not None:
            running.stop()
        with self._lock:
            if self._running is not None:
                self._running.kill()
                self._running = None

    def _ready(self, *, fresh: bool = False) -> RunningGrader | None:
        running = self._running
        if running is not None and running.alive and not (fresh and running.used):
            return running
        if running is not None:
            if not running.alive:
                self._spares.died()
            running.kill()
            self._running = None
        if not self._closing:
            self._running = self._spares.take()
        return self._running
