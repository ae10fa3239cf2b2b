"""The server's end of one grader process: ask, wait so long, kill and start again."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import structlog

from app.grading.messages import Failed, Grade, Graded, Reply, Request, Validate, Warm
from app.storage.judgements import FoundScore

log = structlog.get_logger()

STARTING_SECONDS = 60.0
MOST_STARTS = 3


class GraderProcess:
    """One warm process. `ask` never raises for what happens inside it: a dead or silent process is a Failed reply.

    A new process is first asked `warm_up()`, with time of its own: loading kernels is not the fault of an answer.
    """

    def __init__(
        self, files: Path, memory: int, warm_up: Callable[[], Request], program: str = "app.grading.grader"
    ) -> None:
        self._warm_up = warm_up
        self._files = files
        self._program = program
        self._memory = memory
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None

    @property
    def pid(self) -> int | None:
        """The process's id while it runs."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def ask(self, request: Validate | Warm, seconds: float) -> Reply:
        """Send a request and wait for its reply; past `seconds` the process is killed."""
        with self._lock:
            self._ensure_started()
            return self._send(request) or self._receive(seconds)

    def grade(self, request: Grade, seconds: float) -> list[FoundScore] | Failed:
        """Have every answer of a submission checked, each within `seconds`."""
        with self._lock:
            self._ensure_started()
            if (failed := self._send(request)) is not None:
                return failed
            scores = []
            for _ in request.answers:
                reply = self._receive(seconds)
                if not isinstance(reply, Graded):
                    return reply if isinstance(reply, Failed) else Failed("an unexpected reply")
                scores.append(reply.score)
            return scores

    def start(self) -> None:
        """Start and warm the process before there is anything to ask."""
        with self._lock:
            self._ensure_started()

    def _ensure_started(self) -> None:
        """Have a warm process; one that is killed while it starts is no answer's fault, so another is started."""
        for _ in range(MOST_STARTS):
            if self._process is not None and self._process.poll() is None:
                return
            self._start()
            warmed = self._send(self._warm_up()) or self._receive(STARTING_SECONDS)
            if isinstance(warmed, Failed):
                log.warning("a grader could not load its checkers", error=warmed.error)

    def _send(self, request: Request) -> Failed | None:
        if self._pipe is None:
            return Failed("the grader process did not start")
        try:
            self._pipe.send(request)
        except OSError:
            return self._ended()
        return None

    def _receive(self, seconds: float) -> Reply:
        if self._pipe is None:
            return Failed("the grader process did not start")
        try:
            if not self._pipe.poll(seconds):
                self._kill()
                return Failed(f"no reply within {seconds:g} s")
            reply: Reply = self._pipe.recv()
        except (EOFError, OSError):
            return self._ended()
        return reply

    def _ended(self) -> Failed:
        return Failed(f"the grader process ended with status {self._kill()}")

    def close(self) -> None:
        """Kill the process, also while somebody waits for its reply."""
        if self._process is not None:
            self._process.kill()
        with self._lock:
            self._kill()

    def _start(self) -> None:
        self._kill()
        ours, theirs = socket.socketpair()
        command = [
            sys.executable,
            "-m",
            self._program,
            str(theirs.fileno()),
            str(self._files),
            str(self._memory),
        ]
        with theirs:
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self._pipe = Connection(ours.detach())

    def _kill(self) -> int | None:
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        if self._process is None:
            return None
        self._process.kill()
        status = self._process.wait()
        self._process = None
        return status
