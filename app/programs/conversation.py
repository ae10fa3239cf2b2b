"""A conversation with a checker in Python: one process in the sandbox, asked about case after case."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from signal import SIGKILL
from types import TracebackType
from typing import Self

from app.programs.endings import exit_code, unexpected
from app.programs.model import CaseFiles, Decision, Meaning, ProgramFault
from app.programs.places import PROGRAM_FOLDER
from app.programs.protocols.python import LENGTH_BYTES, decision, request
from app.sandbox.bubblewrap import python
from app.sandbox.model import Command, Limits, Mount, Result
from app.sandbox.running import ProgramEnded, Running
from app.sandbox.sandbox import Sandbox
from checkers import doors

HOME = "/jurado"
SCRIPT = f"{HOME}/runner.py"
MOST_REPLY = 256 * 1024
LONGEST = 3600.0
"""Seconds of a whole conversation; each reply has its own limit."""
MOUNTS = (
    Mount(Path(__file__).with_name("runner.py"), SCRIPT),
    Mount(Path(doors.__file__), f"{HOME}/checkers/doors.py"),
)


class Conversation:
    """Asks one running checker; started with the first case, ended with the `with` block."""

    def __init__(self, sandbox: Sandbox, main: str, mounts: tuple[Mount, ...], limits: Limits, points: Meaning) -> None:
        self._sandbox = sandbox
        self._points = points
        self._seconds = limits.wall_seconds
        self._command = Command(
            (python(), "-s", "-B", SCRIPT, f"{PROGRAM_FOLDER}/{main}"),
            mounts=(*MOUNTS, *mounts),
            limits=replace(limits, cpu_seconds=LONGEST, wall_seconds=LONGEST),
        )
        self._running: Running | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._end()

    def ask(self, case: CaseFiles) -> Decision | None:
        """The checker's decision; None where it has nothing to say. Raises ProgramFault, or Unread."""
        if self._running is None:
            self._running = self._sandbox.start(self._command)
        until = time.monotonic() + self._seconds
        token, data = request(case)
        try:
            self._running.send(data, self._seconds)
            size = int.from_bytes(self._receive(LENGTH_BYTES, until), "big")
            if size > MOST_REPLY:
                raise ProgramFault(f"expected a reply of at most {MOST_REPLY} bytes, found one of {size}")
            reply = self._receive(size, until)
        except ProgramEnded:
            raise self._ended() from None
        except ProgramFault:
            self._end()
            raise
        return decision(reply, token, case, self._points)

    def _receive(self, count: int, until: float) -> bytes:
        assert self._running is not None, "it has been asked something"
        return self._running.receive(count, max(0.0, until - time.monotonic()))

    def _ended(self) -> ProgramFault:
        """The fault of a checker that ended, or was ended by a limit, before its reply."""
        result = self._end()
        if result is None or (result.ending == "signal" and result.signal in (None, SIGKILL)):
            return ProgramFault("it ended before its reply")
        try:
            code = exit_code(result)
        except ProgramFault as fault:
            return fault
        return unexpected(code, "none before its reply", result)

    def _end(self) -> Result | None:
        running, self._running = self._running, None
        return None if running is None else running.kill()
