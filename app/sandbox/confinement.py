"""Confinement of processes that run checkers or solvers: no privileges, network, other processes or files.

A grader gives up in two steps. Before it reads anything: privileges, other processes, the network. Once it is warm (it
has imported and compiled what judging needs, with test cases of packages and no contestant's answer): to write at all,
and to read but what Python needs. Whatever the system lacks is told, and never a reason not to judge.

- Filters of system calls, by Debian's libseccomp: what a checker or a solver never needs is refused by the kernel.
- Landlock: a process gives up all files but those below some folders, where the kernel can do so (Linux 5.13).
"""

import ctypes
import errno
import os
import resource
import signal
import sysconfig
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import ParamSpec

from app.sandbox.seccomp import MACHINE, library, refuse, refusing

# The network, other processes, other programs, the machine, and doors that kernels have had faults behind.
FOREIGN = [
    *MACHINE,
    "accept", "accept4", "bind", "connect", "listen", "sendmmsg", "socket", "socketpair", "pidfd_open",
    "pidfd_send_signal", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "execve", "execveat", "fork", "vfork",
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "setfsuid", "setfsgid", "capset",
    "shmget", "shmat", "msgget", "semget", "mq_open",
]  # fmt: skip

# System calls that change files; opening them to write is refused by its flags.
WRITING = [
    "creat", "truncate", "ftruncate", "fallocate", "unlink", "unlinkat", "rename", "renameat", "renameat2", "link",
    "linkat", "symlink", "symlinkat", "mkdir", "mkdirat", "rmdir", "mknod", "mknodat", "chmod", "fchmod", "fchmodat",
    "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "utimensat", "futimesat", "setxattr",
    "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "setxattrat", "removexattrat",
    "file_setattr",
]  # fmt: skip

CLONE_THREAD = 0x10000


def refuse_foreign() -> None:
    """Refuse the network, other processes and other programs. Raises OSError or RuntimeError where that cannot be."""
    seccomp = library()
    rules = refusing(seccomp, FOREIGN)
    me = os.getpid()
    for call in ("kill", "tgkill"):  # abort() sends its signal to itself
        refuse(rules, seccomp, call, errno.EPERM, seccomp.Arg(0, seccomp.NE, me))
    refuse(rules, seccomp, "prlimit64", errno.EPERM, seccomp.Arg(0, seccomp.NE, 0))
    refuse(rules, seccomp, "clone3", errno.ENOSYS)  # its flags lie in memory; the C library takes clone then
    refuse(rules, seccomp, "clone", errno.EPERM, seccomp.Arg(0, seccomp.MASKED_EQ, CLONE_THREAD, 0))
    rules.load()


def refuse_writing() -> None:
    """Refuse whatever changes a file or its name. Raises OSError or RuntimeError where that cannot be."""
    seccomp = library()
    rules = refusing(seccomp, WRITING)
    refuse(rules, seccomp, "openat2", errno.ENOSYS)  # its flags lie in memory
    for call, at in (("open", 1), ("openat", 2)):
        for mask, value in (
            (os.O_ACCMODE, os.O_WRONLY),
            (os.O_ACCMODE, os.O_RDWR),
            (os.O_CREAT, os.O_CREAT),
            (os.O_TRUNC, os.O_TRUNC),
        ):
            refuse(rules, seccomp, call, errno.EPERM, seccomp.Arg(at, seccomp.MASKED_EQ, mask, value))
    rules.load()


CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION = 1
PATH_BENEATH = 1
READ = 1 << 2 | 1 << 3  # files, folders
WRITE = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8  # write, remove folders and files, make folders and files
TRUNCATE = 1 << 14
OF_FILES = 1 << 1 | 1 << 2 | TRUNCATE  # a rule for a file that gives more is refused
# File rights that each version of Landlock handles; a right that is handled and given by no rule is gone.
RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
TCP = 3  # from version 4: bind and connect
SCOPES = 3  # from version 6: abstract sockets and signals to processes outside


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("rights", ctypes.c_uint64), ("folder", ctypes.c_int32)]


_libc = ctypes.CDLL(None, use_errno=True)


def restrict(readable: Iterable[Path], writable: Iterable[Path] = ()) -> None:
    """Give up everything but to read below some folders, and to write below others; raises OSError.

    Folders that do not exist give nothing. The process must have set no-new-privileges.
    """
    version = _call(CREATE_RULESET, None, 0, VERSION)
    handled = RIGHTS[min(version, max(RIGHTS))]
    ruleset = _Ruleset(handled, TCP if version >= 4 else 0, SCOPES if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    descriptor = _call(CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    try:
        for folder in readable:
            _allow(descriptor, folder, READ)
        for folder in writable:
            _allow(descriptor, folder, (READ | WRITE | TRUNCATE) & handled)
        _call(RESTRICT_SELF, descriptor, 0)
    finally:
        os.close(descriptor)


def _allow(ruleset: int, folder: Path, rights: int) -> None:
    try:
        handle = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not folder.is_dir():
        rights &= OF_FILES
    try:
        _call(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(_Beneath(rights, handle)), 0)
    finally:
        os.close(handle)


def _call(number: int, *arguments: object) -> int:
    made = int(_libc.syscall(number, *arguments))
    if made < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return made


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

# Each protection by its name, with what is missing; empty where it is on.
Report = dict[str, str]


def give_up_others(memory: int) -> Report:
    """Give up privileges, the network, other programs and processes, and bound memory (bytes of address space)."""
    return {
        LIMITS: _tried(lambda: _limit(memory)),
        PRIVILEGES: _tried(no_new_privileges),
        CALLS: _tried(refuse_foreign),
    }


def give_up_files() -> Report:
    """Give up to write, to start threads, and to read but Python, its libraries, checkers and games."""
    return {
        WRITES: _tried(_write_nothing),
        FOLDERS: _tried(lambda: restrict(readable("app", "checkers", "games"))),
    }


def give_up_folders(writable: Iterable[Path], others: Iterable[Path] = ()) -> Report:
    """Give up all files but what a solver needs and `others`, which it reads, and to write below a few folders."""
    devices = (Path("/dev/null"), Path("/dev/urandom"))
    read = [*readable("app", "checkers", "games", "solvers"), *devices, *others]
    return {FOLDERS: _tried(lambda: restrict(read, writable))}


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
    refuse_writing()


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


P = ParamSpec("P")


def keep_what_may_be_kept() -> None:
    """Let numba go on where its cache cannot be written; without this a kernel that is compiled late ends a check."""
    if find_spec("numba") is None:  # nothing is compiled
        return
    from numba.core import caching  # slow to import, and a grader whose checker has no kernels need not load it

    for owner, name in ((caching._CacheLocator, "ensure_cache_path"), (caching.IndexDataCacheFile, "save")):
        setattr(owner, name, _forgiving(getattr(owner, name)))


def _forgiving(write: Callable[P, object]) -> Callable[P, None]:
    def tried(*args: P.args, **named: P.kwargs) -> None:
        try:
            write(*args, **named)
        except OSError:
            return  # expected: the process is confined, and only speed is lost

    return tried
