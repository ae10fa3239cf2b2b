"""What a sandbox is asked, and what it replies.

- The words of one call of bubblewrap: namespaces, what is seen of the host, private folders. Those for the host are
  made once: each case of a submission may start a sandbox (guarantee 6).
"""

import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

AS_ROOT = "JURADO_PROGRAMS_AS_ROOT"
# The setting that lets programs run although this process belongs to root, and its value for that.
ALLOWED = "allow"
PROCESSES = 32
Ending = Literal["exit", "signal", "cpu", "wall", "memory", "output"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a run, of all its processes together.

    cpu_seconds   processor time, user and system
    wall_seconds  time on the clock
    memory        bytes, page cache, kernel memory and private files included
    processes     processes and threads at a time
    output        bytes of standard output and error together; bytes of each private folder, and of each file in it
    open_files    descriptors of one process
    """

    cpu_seconds: float
    wall_seconds: float
    memory: int
    processes: int
    output: int
    open_files: int = 64

    @classmethod
    def of(cls, seconds: float, memory: int, output: int) -> "Limits":
        """The limits of a package's program: seconds of processor time, twice as many on the clock."""
        return cls(seconds, 2 * seconds, memory, PROCESSES, output)


@dataclass(frozen=True, slots=True)
class Mount:
    """A file or folder of the host seen inside.

    A writable one is an empty folder. The program gets a private one in memory; the regular files that it leaves there
    (within `Limits.output`) are copied when it has ended, so the disk of the host is out of its reach.
    """

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its arguments, and what it sees.

    stdin        bytes that are piped to it; None: nothing
    environment  variables, besides PATH, which has this Python first, HOME, LANG and USER
    folder       working folder: private and empty, but for mounts in it
    """

    argv: tuple[str, ...]
    mounts: tuple[Mount, ...] = ()
    stdin: bytes | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: str = "/work"
    limits: Limits = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a run.

    ending             what ended it: the program itself (`exit`), a signal, or a limit
    exit_code          of `exit`, otherwise None; a shell's 128 + n is read as signal n
    signal             of `signal`, otherwise None
    cpu_seconds        of all processes; the start of the sandbox takes a few milliseconds of it
    stdout, stderr     at most `Limits.output` bytes together
    """

    ending: Ending
    exit_code: int | None
    signal: int | None
    cpu_seconds: float
    wall_seconds: float
    stdout: bytes
    stderr: bytes


class SandboxMissing(Exception):
    """Protections that this system does not give, by name, each with what is missing; no program runs without them."""

    def __init__(self, protections: Mapping[str, str]) -> None:
        self.protections = dict(protections)
        super().__init__("no sandbox: " + "; ".join(f"{name}: {lack}" for name, lack in self.protections.items()))


class SandboxFault(Exception):
    """The sandbox itself failed: the program did not start, or its end could not be watched."""


# A folder that only the finished file system of a sandbox has.
MARK = "/.jurado-sandbox"
NOBODY = "65534"
PRIVATE = "/tmp"
DEVICES = ("null", "zero", "full", "random", "urandom")
LINKS = {
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
    "/dev/shm": PRIVATE,
}
FOLDERS = "/usr/local/bin:/usr/bin:/bin"
# What is seen of /usr: programs, libraries and headers. The rest (/usr/local, /usr/src, /usr/share) is not.
SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec", "include", "share/zoneinfo")
MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
# Where packages of a Python lie, below its library folder: a folder may hold anything, the service itself too.
FOREIGN = ("python3*/site-packages", "python3*/dist-packages")
ENVIRONMENT = {"HOME": PRIVATE, "LANG": "C.UTF-8", "USER": "nobody"}
NAMESPACES = ("user", "pid", "net", "ipc", "uts", "cgroup")


def program() -> str | None:
    """The path of bubblewrap; None where it is not installed."""
    return shutil.which("bwrap", path=FOLDERS)


def private_folders(command: Command) -> dict[str, Mount | None]:
    """The folders of a sandbox that a program may write to, each with the mount that gets its files."""
    folders: dict[str, Mount | None] = {PRIVATE: None}
    if command.folder not in {mount.target for mount in command.mounts}:
        folders[command.folder] = None
    return folders | {mount.target: mount for mount in command.mounts if mount.writable}


def words(command: Command, *, filter_file: int, status: int, gate: int) -> list[str]:
    """The arguments before the program's own: the numbers are descriptors, of the filter, the status and the gate."""
    return [
        *(f"--unshare-{each}" for each in NAMESPACES),
        *("--uid", NOBODY, "--gid", NOBODY),
        *("--cap-drop", "ALL", "--die-with-parent", "--new-session"),
        *("--seccomp", str(filter_file), "--json-status-fd", str(status), "--block-fd", str(gate)),
        *system(),
        *_private(command),
        *("--dir", MARK, "--remount-ro", "/"),
        *("--clearenv", *_environment(command), "--chdir", command.folder),
    ]


def system() -> tuple[str, ...]:
    """Arguments for what every program sees of the host: programs and libraries, a few devices, its own processes."""
    return (
        *(word for name in SYSTEM for word in _shown(Path("/usr") / name)),
        *(word for name in MERGED for word in _shown(Path("/") / name)),
        *("--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"),
        *("--ro-bind-try", "/etc/alternatives", "/etc/alternatives"),
        *(word for folder in python_folders() for word in ("--ro-bind", folder, folder)),
        *(word for folder in foreign_folders() for word in ("--tmpfs", folder, "--remount-ro", folder)),
        *("--proc", "/proc", "--remount-ro", "/proc"),
        *(word for name in DEVICES for word in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")),
        *(word for path, target in LINKS.items() for word in ("--symlink", target, path)),
    )


def python_folders() -> tuple[str, ...]:
    """The folders of this Python's programs and libraries where /usr itself has them not; a venv is none of them."""
    base = Path(sys.base_prefix).resolve()
    if base == Path("/usr"):
        return ()
    return tuple(str(base / name) for name in ("bin", "lib") if (base / name).is_dir())


def foreign_folders() -> tuple[str, ...]:
    """The folders in sight that hold what was installed into a Python: a program sees them empty."""
    libraries = ["/usr/lib", *(folder for folder in python_folders() if folder.endswith("/lib"))]
    known = (folder for library in libraries for pattern in FOREIGN for folder in Path(library).glob(pattern))
    return tuple(sorted(str(folder) for folder in known if folder.is_dir() and not folder.is_symlink()))


def python() -> str:
    """The path of a Python in the sandbox, the same version as this one."""
    return str(Path(sys.base_prefix).resolve() / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")


def _shown(path: Path) -> tuple[str, ...]:
    """A folder, or the link that stands there, as in those that Debian has merged into /usr."""
    if path.is_symlink():
        return ("--symlink", str(path.readlink()), str(path))
    return ("--ro-bind", str(path), str(path)) if path.is_dir() else ()


def _private(command: Command) -> Iterator[str]:
    for folder in private_folders(command):
        yield from ("--size", str(command.limits.output), "--tmpfs", folder)
    for mount in command.mounts:
        if not mount.writable:
            yield from ("--ro-bind", str(mount.source), mount.target)


def _environment(command: Command) -> Iterator[str]:
    path = ":".join((*(each for each in python_folders() if each.endswith("/bin")), FOLDERS))
    for name, value in {"PATH": path, **ENVIRONMENT, **command.environment}.items():
        yield from ("--setenv", name, value)
