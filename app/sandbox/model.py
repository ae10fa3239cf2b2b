"""What a sandbox is asked, and what it replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

AS_ROOT = "JURADO_PROGRAMS_AS_ROOT"
ALLOWED = "allow"
"""The setting that lets programs run although this process belongs to root, and its value for that."""
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


@dataclass(frozen=True, slots=True)
class Mount:
    """A file or folder of the host seen inside.

    A writable one is a folder. The program gets a private copy of it, in memory; what it leaves there (regular files
    and folders, within `Limits.output`) is copied back when it has ended, so the disk of the host is out of its reach.
    """

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its arguments, and what it sees.

    stdin        bytes, or a file whose bytes are piped; None: nothing
    environment  variables, besides PATH, which has this Python first, HOME, LANG and USER
    folder       working folder: private and empty, but for mounts in it
    """

    argv: tuple[str, ...]
    mounts: tuple[Mount, ...] = ()
    stdin: Path | bytes | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: str = "/work"
    limits: Limits = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a run.

    ending             what ended it: the program itself (`exit`), a signal, or a limit
    exit_code          of `exit`, else None; a shell's 128 + n is read as signal n
    signal             of `signal`, else None
    cpu_seconds        of all processes; the start of the sandbox takes a few milliseconds of it
    peak_memory        bytes, of all processes
    stdout, stderr     at most `Limits.output` bytes together
    processes_refused  the program asked for more processes than it may have
    """

    ending: Ending
    exit_code: int | None
    signal: int | None
    cpu_seconds: float
    wall_seconds: float
    peak_memory: int
    stdout: bytes
    stderr: bytes
    processes_refused: bool = False


class Follower(Protocol):
    """Whoever follows a run while it goes on."""

    def begun(self, kill: Callable[[], None]) -> None:
        """Learn how to end the run: `kill` may be called from any thread, also after the end."""
        ...

    def wrote(self, errors: bytes) -> None:
        """Take what the program has just written to standard error."""
        ...


class SandboxMissing(Exception):
    """Protections that this system does not give, by name, each with what is missing; no program runs without them."""

    def __init__(self, protections: Mapping[str, str]) -> None:
        self.protections = dict(protections)
        super().__init__("no sandbox: " + "; ".join(f"{name}: {lack}" for name, lack in self.protections.items()))


class SandboxFault(Exception):
    """The sandbox itself failed: the program did not start, or its end could not be watched."""
