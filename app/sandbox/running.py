"""A program that stays in its sandbox and is asked many times over its standard input and output."""

from __future__ import annotations

import os
import select
import threading
import time
from types import TracebackType
from typing import IO

from app.sandbox.launch import Launched
from app.sandbox.model import Result, SandboxFault
from app.sandbox.streams import CHUNK
from app.sandbox.watch import Watch

SECONDS_TO_END = 1.0
"""A program that has closed its output has most likely ended, and its exit code is on its way."""


class ProgramEnded(Exception):
    """The program has ended, or was ended by a limit, before it replied; `Running.kill` tells by what."""


class Running:
    """A program that runs. Its limits hold for the whole of its life; what it prints and nobody receives blocks it."""

    def __init__(self, launched: Launched, watch: Watch) -> None:
        self._watch = watch
        self._stdin, self._stdout = _own(launched.process.stdin), _own(launched.process.stdout)
        if self._stdin is not None:
            os.set_blocking(self._stdin, False)
        self._result: Result | None = None
        self._fault: BaseException | None = None
        self._closed = self._hung_up = False
        self._thread = threading.Thread(target=self._run, name="sandbox-watch", daemon=True)
        self._thread.start()

    def send(self, data: bytes, seconds: float = 60.0) -> None:
        """Send bytes; a program that has not taken them in time is killed (`wall`). Raises ProgramEnded."""
        assert self._stdin is not None, "a program with a socket is asked over that"
        until = time.monotonic() + seconds
        view = memoryview(data)
        while view:
            self._wait(self._stdin, select.POLLOUT, until)
            try:
                view = view[os.write(self._stdin, view[:CHUNK]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                self._hung_up = True
                raise ProgramEnded from None

    def receive(self, size: int, seconds: float) -> bytes:
        """Receive exactly so many bytes; a program that has not sent them in time is killed. Raises ProgramEnded."""
        assert self._stdout is not None, "it is a pipe"
        until = time.monotonic() + seconds
        data = bytearray()
        while len(data) < size:
            self._wait(self._stdout, select.POLLIN, until)
            more = os.read(self._stdout, min(size - len(data), CHUNK))
            if not more:
                self._hung_up = True
                raise ProgramEnded
            data += more
        return bytes(data)

    def cpu_seconds(self) -> float:
        """Processor time so far; 0 once the program has ended."""
        return self._watch.cpu_seconds()

    @property
    def alive(self) -> bool:
        """Whether the program runs."""
        return self._thread.is_alive()

    def kill(self, *, ended: bool = False) -> Result:
        """Kill the program and return how it ended: `signal` 9 if it was alive. Further calls return the same.

        `ended`: it has hung up by other ways than these pipes, and its own end is on its way.
        """
        if self._hung_up or ended:
            self._thread.join(SECONDS_TO_END)
        self._watch.kill()
        self._thread.join()
        if not self._closed:
            self._closed = True
            for pipe in (self._stdin, self._stdout):
                if pipe is not None:
                    os.close(pipe)
        if self._result is None:
            raise SandboxFault("the run could not be watched") from self._fault
        return self._result

    def __enter__(self) -> Running:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.kill()

    def _wait(self, pipe: int, event: int, until: float) -> None:
        """Wait until the pipe takes or has bytes; past `until` the program is killed."""
        left = until - time.monotonic()
        poll = select.poll()
        poll.register(pipe, event)
        if left <= 0 or not poll.poll(left * 1000):
            self._watch.stop("wall")
            raise ProgramEnded

    def _run(self) -> None:
        try:
            self._result = self._watch.run()
        except BaseException as error:  # raised by `kill`, in the thread that asks
            self._fault = error


def _own(stream: IO[bytes] | None) -> int | None:
    """A descriptor of one's own for a pipe, which the watch closes once the program has ended."""
    return None if stream is None else os.dup(stream.fileno())
