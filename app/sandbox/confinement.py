"""Confinement of processes that run checkers or solvers: no privileges, network, other processes or files.

A grader gives up in two steps. Before it reads anything: privileges, other processes, the network. Once it is warm (it
has imported and compiled what judging needs, with test cases of packages and no contestant's answer): to write at all,
and to read but what Python needs. Whatever the system lacks is told, and never a reason not to judge.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path

from app.sandbox import filters, landlock

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
MOST_DESCRIPTORS = 64
SYSTEM = tuple(map(Path, ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache")))
PROJECT = Path(__file__).resolve().parents[2]

LIMITS = "limits"
PRIVILEGES = "no new privileges"
CALLS = "system calls"
WRITES = "read only"
FOLDERS = "folders"

Report = dict[str, str]
"""Each protection by its name, with what is missing; empty where it is on."""


def give_up_others(memory: int) -> Report:
    """Give up privileges, the network, other programs and processes, and bound memory (bytes of address space)."""
    return {
        LIMITS: _tried(lambda: _limit(memory)),
        PRIVILEGES: _tried(no_new_privileges),
        CALLS: _tried(filters.refuse_foreign),
    }


def give_up_files() -> Report:
    """Give up to write, to start threads, and to read but Python, its libraries, checkers and games."""
    return {
        WRITES: _tried(_write_nothing),
        FOLDERS: _tried(lambda: landlock.restrict(readable("app", "checkers", "games"))),
    }


def give_up_folders(writable: Iterable[Path], others: Iterable[Path] = ()) -> Report:
    """Give up all files but what a solver needs and `others`, which it reads, and to write below a few folders."""
    devices = (Path("/dev/null"), Path("/dev/urandom"))
    read = [*readable("app", "checkers", "games", "solvers"), *devices, *others]
    return {FOLDERS: _tried(lambda: landlock.restrict(read, writable))}


def readable(*packages: str) -> list[Path]:
    """The folders that Python, its libraries, compiled kernels and these packages of the project lie in."""
    paths = sysconfig.get_paths()
    python = {Path(paths[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    base = Path(sysconfig.get_config_var("LIBDIR") or "/usr/lib")
    caches = [Path(os.environ["NUMBA_CACHE_DIR"])] if os.environ.get("NUMBA_CACHE_DIR") else []
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return [*python, base, *SYSTEM, *caches, home / "numba", *(PROJECT / name for name in packages)]


def die_with_parent() -> None:
    """Ask the kernel to kill this process when the server dies, so that no orphan keeps a core busy."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def no_new_privileges() -> None:
    """Never gain rights by starting a program; filters and Landlock ask for it."""
    _prctl(PR_SET_NO_NEW_PRIVS, 1)


def _limit(memory: int) -> None:
    """Bound this process for good: a checker that asks for more memory gets MemoryError."""
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, MOST_DESCRIPTORS),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        resource.setrlimit(what, (most, most))


def _write_nothing() -> None:
    """Write no file and start nothing; what the checkers print goes nowhere, as a full log would end them."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)
    for what in (resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
        resource.setrlimit(what, (0, 0))
    if len(os.listdir("/proc/self/task")) > 1:
        raise OSError("there are other threads, which filters do not hold for")
    filters.refuse_writing()


def _prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _tried(protect: Callable[[], None]) -> str:
    """Take one protection; returns what it lacks."""
    try:
        protect()
    except (OSError, RuntimeError, ValueError, ImportError) as error:
        return str(error) or type(error).__name__
    return ""
