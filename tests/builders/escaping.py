"""Runs inside the sandbox: tries what a program must not do there, and prints what it could do.

`python escaping.py SECRET PORT CALL=NUMBER...`: a file of the host, a port that listens on 127.0.0.1, system calls.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

CLONE_NEWUSER = 0x10000000
PTRACE_TRACEME = 0
BAD_ADDRESS = 1
NONE = 0
REFUSED = 1
F_SETSIG = 10
HIGH_BITS = 1 << 32
"""Bits of a system call's argument that the kernel does not read where it takes an int."""
SYSTEM = ("/etc/shadow", "/etc/passwd", "/root/.bashrc", "/var/lib/dpkg/status", "/proc/kcore", "/proc/1/mem")
PLACES = ("/", "/usr", "/etc", "/dev", "/proc", "/bin", "/usr/lib")
MACHINE = ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/1/exe", "/proc/1/oom_score_adj")


def attempts(secret: Path, port: int) -> dict[str, Callable[[], object]]:
    """What is tried with the means of Python, by name."""
    tries: dict[str, Callable[[], object]] = {f"read {path}": Path(path).read_bytes for path in SYSTEM}
    tries |= {f"read {path}": path.read_bytes for path in (secret, Path("/proc/1/root", *secret.parts[1:]))}
    tries |= {f"list {path}": lambda path=path: os.listdir(path) for path in (secret.parent, "/home", "/var", "/run")}
    tries |= {f"make a file in {path}": (Path(path) / "made").touch for path in PLACES}
    tries |= {f"open {path} to write": lambda path=path: os.open(path, os.O_WRONLY) for path in MACHINE}
    return tries | {
        "connect to a port of the machine": lambda: socket.create_connection(("127.0.0.1", port), 1),
        "connect to the network": lambda: socket.create_connection(("192.0.2.1", 80), 1),
        "open a raw socket": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
        "open a local socket": lambda: socket.socket(socket.AF_UNIX),
        "become root": lambda: os.setuid(0),
        "make a device": lambda: os.mknod("/tmp/device", 0o60666, os.makedev(8, 0)),
        "change the root": lambda: os.chroot("/tmp"),
        "signal the first process": lambda: _killed(1),
        "lift a limit": _lift,
        "take a write lease": lambda: _control(__file__, fcntl.F_SETLEASE, fcntl.F_WRLCK),
        "take a read lease": lambda: _control(__file__, fcntl.F_SETLEASE, fcntl.F_RDLCK),
        "watch a folder": lambda: _control("/usr/bin", fcntl.F_NOTIFY, fcntl.DN_ACCESS),
        "choose a signal": lambda: _control(__file__, F_SETSIG, signal.SIGURG),
    }


def calls(numbers: dict[str, int]) -> dict[str, Callable[[], object]]:
    """System calls that the filter refuses: any error but EPERM says that the kernel has looked at the call."""
    arguments = {
        "ptrace": (PTRACE_TRACEME,),
        "unshare": (CLONE_NEWUSER,),
        "clone": (CLONE_NEWUSER | signal.SIGCHLD,),
        "fcntl": (0, HIGH_BITS | fcntl.F_SETLEASE, fcntl.F_RDLCK),
    }
    return {
        name: lambda name=name, number=number: _call(number, *arguments.get(name, ()))
        for name, number in numbers.items()
    }


def _call(number: int, *arguments: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    words = [ctypes.c_long(word) for word in (*arguments, *[NONE] * 6)[:6]]
    if libc.syscall(ctypes.c_long(number), *words) == -1 and ctypes.get_errno() == REFUSED:
        raise PermissionError


def _control(path: str, command: int, argument: int) -> None:
    """Give a command of fcntl to a file; any error but EPERM says that the kernel has looked at it."""
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.fcntl(handle, command, argument)
    except OSError as error:
        if error.errno == REFUSED:
            raise
    finally:
        os.close(handle)


def _killed(pid: int) -> None:
    """Send a signal that ends a process; the first one of a namespace gets none of those it has no handler for."""
    os.kill(pid, signal.SIGKILL)
    os.kill(pid, 0)
    raise ProcessLookupError


def _lift() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _works(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, ValueError):
        return False
    return True


if __name__ == "__main__":
    named = dict(word.split("=") for word in sys.argv[3:])
    tried = attempts(Path(sys.argv[1]), int(sys.argv[2])) | calls({name: int(at) for name, at in named.items()})
    print(len(tried), "; ".join(name for name, attempt in tried.items() if _works(attempt)) or "nothing")
