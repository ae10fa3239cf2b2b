"""A checker in Python that has been loaded in its sandbox, and divides itself for each submission."""

from __future__ import annotations

import socket
import time
from contextlib import suppress

import msgspec
from msgspec import Struct

from app.programs.runner import ENDED, FORK, LENGTH_BYTES, PING, SETTLE
from app.sandbox.model import Command, Result, SandboxFault
from app.sandbox.sandbox import Sandbox

SECONDS_TO_SETTLE = 5.0
"""Killing a part takes a millisecond; a process that takes longer has been tampered with, and goes itself."""
MOST_REPORT = 64 * 1024
CHUNK = 2**20
MOMENT = 1e-6


class Report(Struct, frozen=True):
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

    def __init__(self, sandbox: Sandbox, command: Command) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            self._running = sandbox.start(command, theirs)
        self._control.settimeout(SECONDS_TO_SETTLE)
        self.began = time.monotonic()
        self.parts = 0

    def divide(self) -> socket.socket:
        """Let a part begin; returns the connection to it, at its end already where the process has gone."""
        ours, theirs = socket.socketpair()
        with theirs, suppress(BrokenPipeError, ConnectionResetError):
            socket.send_fds(self._control, [FORK], [theirs.fileno()])
        self.parts += 1
        return ours

    def settle(self, *, ended: bool) -> Report | None:
        """Let go of the part, or hear how it `ended` by itself; None where the process does not say."""
        try:
            self._control.sendall(ENDED if ended else SETTLE)
            size = int.from_bytes(exactly(self._control, LENGTH_BYTES), "big")
            return _reports.decode(exactly(self._control, min(size, MOST_REPORT)))
        except (OSError, EOFError, ValueError, RecursionError):  # msgspec's faults are the last two
            return None

    def answers(self) -> bool:
        """Whether the process runs and takes commands."""
        try:
            self._control.sendall(PING)
            return self._running.alive and exactly(self._control, len(PING)) == PING
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
