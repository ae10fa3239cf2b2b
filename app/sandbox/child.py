"""Processes of Python modules: started, asked over a pipe or read line by line, and killed.

Guarantee 4: what a checker, a package or a solver does ends with its process. A confined process ends with the server,
as the kernel kills it together with the thread that started it. Guarantee 3: their environment is a list of what is
passed on, so that no secret of the server is.

- A private pipe between the server and one grader: whole messages, bounded in size and time, and open files. A
  message is its length in 8 bytes and as many bytes. Nothing of it is unpickled, and half a message holds no one
  longer than the time given.
- Our own modules as processes: their command lines and their environment.
"""

import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO

import app

# Before the words of `python -m app.commands`: the process is killed when the thread that started it ends.
WITH_PARENT = "--with-parent"
ROOT = Path(app.__file__).resolve().parents[1]


def module_command(module: str, *arguments: str) -> list[str]:
    """Give the command line of one of our own modules."""
    return [sys.executable, "-m", module, *arguments]


def environment() -> dict[str, str]:
    """Let the process find our modules, wherever it was started."""
    return os.environ | {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}


def last_line(text: str) -> str:
    """Take the last line that says something."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


LENGTH = struct.Struct("!Q")
MOST_DESCRIPTORS = 1


class PipeTooSlow(Exception):
    """No whole message came, or went, in the time given."""


class PipeBroken(Exception):
    """The other end is closed, or what it sent is no message."""


class MessageTooLarge(Exception):
    """The other end announces more bytes than it may."""


class Pipe:
    """One end of a pipe. Seconds are those until the whole message has passed; None: as long as it takes."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def close(self) -> None:
        """Close this end."""
        self._end.close()

    def send(self, message: bytes, seconds: float | None = None, descriptor: int | None = None) -> None:
        """Send a message, and with it an open file."""
        until = _until(seconds)
        try:
            self._wait(until)
            header = LENGTH.pack(len(message))
            if descriptor is None:
                self._end.sendall(header + message)
                return
            socket.send_fds(self._end, [header], [descriptor])
            self._wait(until)
            self._end.sendall(message)
        except TimeoutError:
            raise PipeTooSlow from None
        except OSError as error:
            raise PipeBroken(str(error)) from None

    def receive(self, most: int, seconds: float | None = None) -> bytes:
        """Receive a message of at most so many bytes; open files that come with it are closed by the kernel."""
        until = _until(seconds)
        (length,) = LENGTH.unpack(self._exactly(LENGTH.size, until))
        if length > most:
            raise MessageTooLarge(f"expected a message of at most {most} bytes, found {length}")
        return self._exactly(length, until)

    def receive_file(self, most: int) -> tuple[bytes, int | None]:
        """Receive a message and the open file that came with it, if one did."""
        try:
            header, descriptors, _, _ = socket.recv_fds(self._end, LENGTH.size, MOST_DESCRIPTORS)
        except OSError as error:
            raise PipeBroken(str(error)) from None
        if len(header) < LENGTH.size:
            header += self._exactly(LENGTH.size - len(header), None)
        (length,) = LENGTH.unpack(header)
        if length > most:
            for descriptor in descriptors:
                os.close(descriptor)
            raise MessageTooLarge(f"expected a message of at most {most} bytes, found {length}")
        return self._exactly(length, None), descriptors[0] if descriptors else None

    def _exactly(self, size: int, until: float | None) -> bytes:
        data = bytearray(size)
        view, at = memoryview(data), 0
        try:
            while at < size:
                self._wait(until)
                count = self._end.recv_into(view[at:])
                if count == 0:
                    raise PipeBroken("the other end is closed")
                at += count
        except TimeoutError:
            raise PipeTooSlow from None
        except OSError as error:
            raise PipeBroken(str(error)) from None
        return bytes(data)

    def _wait(self, until: float | None) -> None:
        """Let the next call wait until then, and no longer."""
        if until is None:
            self._end.settimeout(None)
            return
        left = until - time.monotonic()
        if left <= 0:
            raise PipeTooSlow
        self._end.settimeout(left)


def _until(seconds: float | None) -> float | None:
    return None if seconds is None else time.monotonic() + seconds


# Variables that graders get: paths of Python, its libraries and compiled kernels, and the language; no JURADO_.
PASSED = frozenset({
    "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ", "XDG_CACHE_HOME",
    "NUMBA_CACHE_DIR", "NUMBA_CPU_FEATURES", "NUMBA_CPU_NAME", "NUMBA_DISABLE_JIT",
    "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONHOME", "PYTHONPATH", "PYTHONPYCACHEPREFIX", "PYTHONSAFEPATH",
})  # fmt: skip

# Filters hold for the thread that sets them and for those it starts: there must be no other one. Libraries of numbers
# would start one for each core, more than a checker may have on a large machine.
ONE_THREAD = dict.fromkeys(("MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def clean_environment() -> dict[str, str]:
    """The variables a grader or a solver is started with."""
    return {name: value for name, value in os.environ.items() if name in PASSED} | ONE_THREAD


CHUNK = 65536
# Threads that serve requests come and go: this one starts all processes, and lives as long as the server.
_STARTER = ThreadPoolExecutor(1, "starter")


def started(start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """Start a process in the thread that lives as long as this process."""
    return _STARTER.submit(start).result()


class ChildProcess:
    """`python -m WORDS` in its own session, with nothing but the given environment. `kill` is for any thread."""

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        *,
        source: IO[bytes] | int = subprocess.DEVNULL,
        target: IO[bytes] | int = subprocess.DEVNULL,
        errors: int | None = None,
        passed: Sequence[int] = (),
    ) -> None:
        self._text = bytearray()
        self._process = started(
            lambda: subprocess.Popen(
                [sys.executable, "-m", *words],
                stdin=source,
                stdout=target,
                stderr=errors,
                pass_fds=passed,
                start_new_session=True,
                env=environment,
            )
        )

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def line(self, until: float | None) -> bytes | None:
        """Read a line of its standard error; b"" at the end, and None once the moment `until` has passed."""
        stream = self._process.stderr
        assert stream is not None, "it was started with a pipe for errors"
        poll = select.poll()
        poll.register(stream, select.POLLIN)
        while (end := self._text.find(b"\n") + 1) == 0:
            left = None if until is None else 1000 * (until - time.monotonic())
            if left is not None and (left <= 0 or not poll.poll(left)):
                return None
            if not (data := os.read(stream.fileno(), CHUNK)):
                end = len(self._text)
                break
            self._text += data
        line = bytes(self._text[:end])
        del self._text[:end]
        return line

    def wait(self, seconds: float | None = None) -> int:
        """Wait for its end and return its status, or minus the signal that ended it; raises TimeoutExpired."""
        return self._process.wait(seconds)

    def send_signal(self, signum: int) -> None:
        """Send a signal; a handler of signals may call it."""
        self._process.send_signal(signum)

    def kill(self) -> None:
        """Kill the process with all that it started in its session."""
        if self.alive:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def end(self) -> int:
        """Kill the process, wait for its end and close its pipe; returns its status."""
        self.kill()
        status = self.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
        return status


class AskedProcess(ChildProcess):
    """A process that answers on `pipe`: its module's first argument is the descriptor of the other end."""

    def __init__(self, module: str, *words: str) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            handle = theirs.fileno()
            super().__init__([module, str(handle), *words], clean_environment(), passed=[handle])
        self.pipe = Pipe(ours)

    def end(self) -> int:
        """Kill the process, wait for its end and close the pipe; returns its status."""
        status = super().end()
        self.pipe.close()
        return status
