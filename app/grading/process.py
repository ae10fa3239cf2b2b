"""The server's end of one grader process: ask, wait so long, kill and start again."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from multiprocessing.connection import Connection
from pathlib import Path

from app.grading.messages import Failed, Reply, Request

STARTING_SECONDS = 60.0


class GraderProcess:
    """One warm process. `ask` never raises for what happens inside it: a dead or silent process is a Failed reply."""

    def __init__(self, files: Path, memory: int) -> None:
        self._files = files
        self._memory = memory
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._fresh = True

    @property
    def pid(self) -> int | None:
        """The process's id while it runs."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def ask(self, request: Request, seconds: float) -> Reply:
        """Send a request and wait for its reply; past `seconds` the process is killed.

        A fresh process first loads its checkers' compiled kernels, which is not the answer's fault.
        """
        with self._lock:
            pipe = self._started()
            patience = seconds + (STARTING_SECONDS if self._fresh else 0.0)
            try:
                pipe.send(request)
                if not pipe.poll(patience):
                    self._kill()
                    return Failed(f"no reply within {seconds:g} s")
                reply: Reply = pipe.recv()
            except (EOFError, OSError):
                status = self._kill()
                return Failed(f"the grader process ended with status {status}")
            self._fresh = False
            return reply

    def close(self) -> None:
        """Kill the process."""
        with self._lock:
            self._kill()

    def _started(self) -> Connection:
        if self._pipe is not None and self._process is not None and self._process.poll() is None:
            return self._pipe
        self._kill()
        ours, theirs = socket.socketpair()
        command = [
            sys.executable,
            "-m",
            "app.grading.grader",
            str(theirs.fileno()),
            str(self._files),
            str(self._memory),
        ]
        with theirs:
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self._pipe = Connection(ours.detach())
        self._fresh = True
        return self._pipe

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
