"""A checker in Python that has been loaded in its sandbox, and divides itself for each submission.

- A conversation with a checker in Python about the cases of one submission: a part of a loaded process answers.
- Loaded checkers in reserve, for the submissions to come.

Guarantee 6: a loaded checker is used again; the lock gives each to one thread.
"""

import os
import socket
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import replace
from signal import SIGKILL, SIGXCPU, SIGXFSZ
from types import TracebackType
from typing import Self

import msgspec

from app.programs import model, protocols, runner
from app.sandbox.model import Command, Ending, Result, SandboxFault
from app.sandbox.sandbox import Sandbox

# Killing a part takes a millisecond; a process that takes longer has been tampered with, and goes itself.
SECONDS_TO_SETTLE = 5.0
MOST_REPORT = 64 * 1024
CHUNK = 2**20
MOMENT = 1e-6


class Report(msgspec.Struct, frozen=True):
    """How the part of one submission ended, or was let go of.

    status  as of os.waitpid; None: it had not ended by itself
    errors  the end of what it printed
    clean   nothing of it is left: the process may go on with another submission
    """

    status: int | None
    errors: str
    clean: bool


_reports = msgspec.json.Decoder(Report)


class Ready:
    """The process, for one submission at a time; nothing is sent to it before somebody asks."""

    def __init__(self, sandbox: Sandbox, command: Command, seconds: float = SECONDS_TO_SETTLE) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            self._running = sandbox.start(command, theirs)
        self._control.settimeout(seconds)
        self.began = time.monotonic()
        self.parts = 0

    def divide(self) -> socket.socket:
        """Let a part begin; returns the connection to it, at its end already where the process has gone."""
        ours, theirs = socket.socketpair()
        with theirs, suppress(BrokenPipeError, ConnectionResetError):
            socket.send_fds(self._control, [runner.FORK], [theirs.fileno()])
        self.parts += 1
        return ours

    def settle(self, *, ended: bool) -> Report | None:
        """Let go of the part, or hear how it `ended` by itself; None where the process does not say."""
        try:
            self._control.sendall(runner.ENDED if ended else runner.SETTLE)
            size = int.from_bytes(exactly(self._control, runner.LENGTH_BYTES), "big")
            return _reports.decode(exactly(self._control, min(size, MOST_REPORT)))
        except (OSError, EOFError, ValueError, RecursionError):  # msgspec's faults are the last two
            return None

    def answers(self) -> bool:
        """Whether the process runs and takes commands."""
        try:
            self._control.sendall(runner.PING)
            return self._running.alive and exactly(self._control, len(runner.PING)) == runner.PING
        except (OSError, EOFError):
            return False

    def end(self) -> None:
        """Kill it where nobody asks how it ended."""
        with suppress(SandboxFault):  # it was killed from outside before
            self.kill()

    def kill(self, *, ended: bool = False) -> Result:
        """Kill it and say how it ended; `ended`: it has hung up, and may be about to."""
        self._control.close()
        return self._running.kill(ended=ended)


def exactly(connection: socket.socket, size: int, until: float | None = None) -> bytes:
    """Receive exactly so many bytes; raises EOFError at the end, and TimeoutError at the moment `until`."""
    data = bytearray()
    while len(data) < size:
        if until is not None:
            connection.settimeout(max(MOMENT, until - time.monotonic()))
        more = connection.recv(min(size - len(data), CHUNK))
        if not more:
            raise EOFError
        data += more
    return bytes(data)


MOST_REPLY = 256 * 1024
LIMITS_OF_SIGNALS: Mapping[int, Ending] = {SIGXFSZ: "output", SIGXCPU: "cpu"}


class Conversation:
    """Asks one part of a process, which `take` gives at the first question; `give` gets it back if it may go on.

    `seconds` is what a reply may take. A process whose part failed in any way is killed.
    """

    def __init__(
        self, take: Callable[[], Ready], give: Callable[[Ready], None], seconds: float, points: model.Meaning
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

    def ask(self, case: model.CaseFiles) -> model.Decision | None:
        """The checker's decision; None where it has nothing to say. Raises ProgramFault, or Unread."""
        token, data = protocols.request(case)
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
        except model.ProgramFault:
            self._drop()
            raise
        decided = protocols.decision_python(reply, case, self._points)
        return None if decided is None else replace(decided, images=images)

    def _begun(self) -> socket.socket:
        if self._part is None:
            self._ready = self._take()
            self._part = self._ready.divide()
        return self._part

    def _received(self, part: socket.socket, token: str, until: float) -> tuple[protocols.Reply, Mapping[str, bytes]]:
        size = int.from_bytes(exactly(part, runner.LENGTH_BYTES, until), "big")
        if size > MOST_REPLY:
            raise model.ProgramFault(f"expected a reply of at most {MOST_REPLY} bytes, found one of {size}")
        reply = protocols.reply_of(exactly(part, size, until), token)
        return reply, {name: exactly(part, length, until) for name, length in reply.images.items()}

    def _too_slow(self) -> model.ProgramFault:
        """The fault of a checker that did not reply in time, with the end of what it printed."""
        assert self._ready is not None, "it has been asked"
        report = self._ready.settle(ended=False)
        self._drop()
        return model.fault_of("wall", "" if report is None else report.errors)

    def _ended(self) -> model.ProgramFault:
        """The fault of a checker that ended, or was ended by a limit, before its reply."""
        assert self._ready is not None, "it has been asked"
        report = self._ready.settle(ended=True)
        result = self._drop(ended=report is None)
        if report is not None and result.ending == "signal":  # nothing but the kill above has ended the process
            result = _end_of(report)
        if result.ending == "signal" and result.signal in (None, SIGKILL):
            return model.ProgramFault("it ended before its reply")
        try:
            code = model.exit_code(result)
        except model.ProgramFault as fault:
            return fault
        return model.unexpected(code, "none before its reply", result)

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


MOST_IDLE = 4
MOST_PARTS = 2000
# An older process takes no further submission: the limits of its sandbox are those of its whole life.
MOST_SECONDS = 1200.0


class Pool:
    """A few idle processes by what they run, the longest idle first. May be used from any thread."""

    def __init__(self, most: int = MOST_IDLE) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._idle: list[tuple[Hashable, Ready]] = []
        self._is_closed = False

    def take(self, key: Hashable, start: Callable[[], Ready]) -> Ready:
        """Give an idle process of this key, else start one."""
        while (ready := self._taken(key)) is not None:
            if _may_go_on(ready):
                return ready
            ready.end()
        return start()

    def give(self, key: Hashable, ready: Ready) -> None:
        """Keep a process of which nobody's part is left; the one idle longest goes where there are too many."""
        surplus: Ready | None = ready
        with self._lock:
            if not self._is_closed:
                self._idle.append((key, ready))
                surplus = None if len(self._idle) <= self._most else self._idle.pop(0)[1]
        if surplus is not None:
            surplus.end()

    def close(self) -> None:
        """Kill all that are idle, and those that are given back later."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for _, ready in idle:
            ready.end()

    def _taken(self, key: Hashable) -> Ready | None:
        with self._lock:
            at = next((at for at in reversed(range(len(self._idle))) if self._idle[at][0] == key), None)
            return None if at is None else self._idle.pop(at)[1]


def _may_go_on(ready: Ready) -> bool:
    return ready.answers() and ready.parts < MOST_PARTS and time.monotonic() < ready.began + MOST_SECONDS
