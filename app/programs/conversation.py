"""A conversation with a checker in Python about the cases of one submission: a part of a loaded process answers."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from signal import SIGKILL, SIGXCPU, SIGXFSZ
from types import TracebackType
from typing import Self

from app.programs.endings import exit_code, fault_of, unexpected
from app.programs.model import CaseFiles, Decision, Meaning, ProgramFault
from app.programs.protocols.python import Reply, decision, reply_of, request
from app.programs.ready import Ready, Report, exactly
from app.programs.runner import LENGTH_BYTES
from app.sandbox.model import Ending, Result

MOST_REPLY = 256 * 1024
LIMITS_OF_SIGNALS: Mapping[int, Ending] = {SIGXFSZ: "output", SIGXCPU: "cpu"}


class Conversation:
    """Asks one part of a process, which `take` gives at the first question; `give` gets it back if it may go on.

    `seconds` is what a reply may take. A process whose part failed in any way is killed.
    """

    def __init__(
        self, take: Callable[[], Ready], give: Callable[[Ready], None], seconds: float, points: Meaning
    ) -> None:
        self._take, self._give = take, give
        self._seconds = seconds
        self._points = points
        self._ready: Ready | None = None
        self._part: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self._ready is None or self._part is None:
            return
        self._part.close()
        report = self._ready.settle(ended=False)
        if report is not None and report.clean:
            ready, self._ready, self._part = self._ready, None, None
            self._give(ready)
        else:
            self._drop()

    def ask(self, case: CaseFiles) -> Decision | None:
        """The checker's decision; None where it has nothing to say. Raises ProgramFault, or Unread."""
        token, data = request(case)
        part = self._begun()
        until = time.monotonic() + self._seconds
        try:
            part.settimeout(self._seconds)
            part.sendall(data)
            reply, images = self._received(part, token, until)
        except TimeoutError:
            raise self._too_slow() from None
        except (EOFError, ConnectionError):
            raise self._ended() from None
        except ProgramFault:
            self._drop()
            raise
        decided = decision(reply, case, self._points)
        return None if decided is None else replace(decided, images=images)

    def _begun(self) -> socket.socket:
        if self._part is None:
            self._ready = self._take()
            self._part = self._ready.divide()
        return self._part

    def _received(self, part: socket.socket, token: str, until: float) -> tuple[Reply, Mapping[str, bytes]]:
        size = int.from_bytes(exactly(part, LENGTH_BYTES, until), "big")
        if size > MOST_REPLY:
            raise ProgramFault(f"expected a reply of at most {MOST_REPLY} bytes, found one of {size}")
        reply = reply_of(exactly(part, size, until), token)
        return reply, {name: exactly(part, length, until) for name, length in reply.images.items()}

    def _too_slow(self) -> ProgramFault:
        """The fault of a checker that did not reply in time, with the end of what it printed."""
        assert self._ready is not None, "it has been asked"
        report = self._ready.settle(ended=False)
        self._drop()
        return fault_of("wall", "" if report is None else report.errors)

    def _ended(self) -> ProgramFault:
        """The fault of a checker that ended, or was ended by a limit, before its reply."""
        assert self._ready is not None, "it has been asked"
        report = self._ready.settle(ended=True)
        result = self._drop(ended=report is None)
        if report is not None and result.ending == "signal":  # nothing but the kill above has ended the process
            result = _end_of(report)
        if result.ending == "signal" and result.signal in (None, SIGKILL):
            return ProgramFault("it ended before its reply")
        try:
            code = exit_code(result)
        except ProgramFault as fault:
            return fault
        return unexpected(code, "none before its reply", result)

    def _drop(self, *, ended: bool = False) -> Result:
        """Kill the process: nobody's part is taken of it any more."""
        assert self._ready is not None, "it has been asked"
        if self._part is not None:
            self._part.close()
        result = self._ready.kill(ended=ended)
        self._ready = self._part = None
        return result


def _end_of(report: Report) -> Result:
    """The end of a part in the form of a run's."""
    code = None if report.status is None else os.waitstatus_to_exitcode(report.status)
    signal = SIGKILL if code is None else -code
    ending: Ending = "exit" if code is not None and code >= 0 else LIMITS_OF_SIGNALS.get(signal, "signal")
    is_exit = ending == "exit"
    return Result(ending, code if is_exit else None, None if is_exit else signal, 0, 0, 0, b"", report.errors.encode())
