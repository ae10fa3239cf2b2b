"""Real processes of `python -m MODULE` that start without their seconds of imports.

One process of each test run has imported what `jurado serve` needs, and divides itself for each request. What it starts
has a session, an environment, a folder and files of its own, can be killed, and ends as Python ends; only its imports
are those of that process. `python -m tests.forks FOLDER` is that process: it ends with the test run, whose lock on
FOLDER/alive it watches. What it has started ends with the connection of whoever asked for it, kill -9 included.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from app.sandbox.child import ONE_THREAD

ROOT = Path(__file__).resolve().parents[1]
SOCKET = "forks"
PRELOADED = (
    "app.main",
    "app.commands.main",
    "app.operations.commands.crowd",
    "app.core.telemetry",
    "alembic.autogenerate",
    "psycopg",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
)
MOST_REQUEST = 256 * 1024
SECONDS_TO_START = 60
SECONDS_BETWEEN_LOOKS = 0.5
KILLED = -signal.SIGKILL


class Forked:
    """A process of `python -m MODULE WORDS`, with those of subprocess.Popen's options and methods that tests use.

    Its standard input is empty, and its session is its own.
    """

    def __init__(
        self,
        folder: Path,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        stdout: IO[Any] | int,
        stderr: IO[Any] | int,
        cwd: Path = ROOT,
        text: bool = False,
        start_new_session: bool = True,
    ) -> None:
        assert list(command[:2]) == [sys.executable, "-m"], f"expected a module of this Python, found {command}"
        assert start_new_session, "a process that was forked has a session of its own"
        asked = {"words": list(command[2:]), "env": dict(env), "cwd": str(cwd)}
        self.returncode: int | None = None
        self.stdout: IO[Any] | None = None
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._line.connect(str(folder / SOCKET))
        with ExitStack() as files:
            if stdout == subprocess.PIPE:
                reader, writer = os.pipe()
                self.stdout = open(reader, "r" if text else "rb")  # noqa: SIM115 - as long as whoever reads it
                stdout = files.enter_context(open(writer, "wb"))
            nothing = files.enter_context(open(os.devnull, "rb"))
            given = [nothing, stdout, stdout if stderr == subprocess.STDOUT else stderr]
            numbers = [each if isinstance(each, int) else each.fileno() for each in given]
            socket.send_fds(self._line, [json.dumps(asked).encode()], numbers)
            self.pid = int(self._line.recv(100))

    def poll(self) -> int | None:
        """Its status, once it has ended."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; raises TimeoutExpired."""
        status = self._ended(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return status

    def send_signal(self, signum: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signum)

    def terminate(self) -> None:
        """SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def give_up(self) -> None:
        """Close the connection, as the kernel does for whoever dies: the process is killed."""
        self._line.close()

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._line], [], [], timeout)[0]:
            self.returncode = int(self._line.recv(100) or KILLED)
            self._line.close()
        return self.returncode


def start(folder: Path) -> None:
    """Start the process that divides itself, and wait until it may be asked; only one caller may do it."""
    log = folder / "forks.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.forks", str(folder)],
            cwd=ROOT,
            env=os.environ | ONE_THREAD,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    threading.Thread(target=process.wait, daemon=True).start()
    deadline = time.monotonic() + SECONDS_TO_START
    while not (folder / SOCKET).exists():
        if process.returncode is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the process that forks did not start:\n{log.read_text()}")
        time.sleep(0.02)


def serve(folder: Path) -> None:
    """Divide for each request until the test run is over."""
    gc.disable()
    for module in PRELOADED:
        import_module(module)
    gc.collect()
    gc.freeze()  # what was imported lives in all processes, and is not copied by their looks for garbage
    gc.enable()
    threads = len(os.listdir("/proc/self/task"))
    assert threads == 1, (
        f"{threads} threads: those of a process that divides are gone in the other, with what they hold"
    )
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel forgets those that watch
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener, (folder / "alive").open("rb") as alive:
        listener.bind(str(folder / f"{SOCKET}.new"))
        listener.listen(100)
        (folder / f"{SOCKET}.new").rename(folder / SOCKET)
        while _is_held(alive.fileno()):
            if select.select([listener], [], [], SECONDS_BETWEEN_LOOKS)[0]:
                line = listener.accept()[0]
                data, descriptors, *_ = socket.recv_fds(line, MOST_REQUEST, 3)
                if not os.fork():
                    break
                for descriptor in (*descriptors, line.detach()):
                    os.close(descriptor)
        else:
            return
    _become(line, json.loads(data), descriptors)


def _is_held(alive: int) -> bool:
    try:
        fcntl.flock(alive, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _become(line: socket.socket, asked: Mapping[str, Any], descriptors: Sequence[int]) -> None:
    """Become the process that was asked for; the other half says how it ends, and ends it if no one listens."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background ignores Ctrl-C
    if pid := os.fork():
        for descriptor in descriptors:
            os.close(descriptor)
        _watch(line, pid)
    line.close()
    os.setsid()
    os.chdir(asked["cwd"])
    for target, descriptor in enumerate(descriptors):
        os.dup2(descriptor, target)
    os.closerange(3, 1024)
    os.environ.clear()
    os.environ.update(asked["env"])
    tempfile.tempdir = None
    time.tzset()
    sys.argv = list(asked["words"])
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def _watch(line: socket.socket, pid: int) -> None:
    ended = os.pidfd_open(pid)
    line.send(str(pid).encode())
    if line in select.select([ended, line], [], [])[0]:  # nothing is ever sent: it has been closed
        os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(BrokenPipeError):
        line.send(str(status).encode())
    os._exit(0)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
