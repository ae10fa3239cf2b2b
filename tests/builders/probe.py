"""Tries what a program that judges or solves never needs, and names what it could do."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

F_SETSIG = 10
"""The module fcntl does not name it."""


def probe(secret: str) -> list[str]:
    """What this process can do; `secret` is a file of the server's, whose folder it tries to write to as well."""
    tries: dict[str, Callable[[], object]] = {
        "read a file of the server": lambda: Path(secret).read_bytes(),
        "list a folder of the server": lambda: os.listdir(Path(secret).parent),
        "write a file": lambda: (Path(secret).parent / "probe").write_text("x"),
        "empty a file": lambda: os.truncate(secret, 0),
        "remove a file": lambda: os.unlink(secret),
        "read the server's environment": lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
        "open a socket": socket.socket,
        "fork": _fork,
        "start a program": lambda: os.execv("/bin/true", ["true"]),
        "signal the server": lambda: os.kill(os.getppid(), 0),
        "signal a group": lambda: os.kill(0, signal.SIGCONT),
        "take a lease": lambda: _control(os.__file__, fcntl.F_SETLEASE, fcntl.F_WRLCK),
        "watch a folder": lambda: _control(os.path.dirname(os.__file__), fcntl.F_NOTIFY, fcntl.DN_ACCESS),
        "choose a signal": lambda: _control(os.__file__, F_SETSIG, signal.SIGURG),
    }
    done = [name for name, attempt in tries.items() if _works(attempt)]
    done += [name for name in os.environ if name.startswith("JURADO_")]
    return done


def _control(path: str, command: int, argument: int) -> None:
    """Give a command of fcntl to a file that this process may only read."""
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.fcntl(handle, command, argument)
    finally:
        os.close(handle)


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _works(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    print("; ".join(probe(sys.argv[1])) or "nothing")
