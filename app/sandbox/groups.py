"""Control groups: a fresh one for each run, which bounds and counts all its processes and kills them together.

Version 1 has a hierarchy of folders for each controller, version 2 one for all; a machine may have both. A server makes
one folder in each hierarchy that it needs, locks it while it lives, and makes those of its runs inside.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath

from app.sandbox.model import Limits, SandboxFault

NEEDED = ("memory", "pids", "cpuacct")
ESCAPED = re.compile(r"\\([0-7]{3})")
PREFIX = "jurado-"
# The group that a server moves to where version 2 lets no group have both processes and divided groups.
MAIN = "jurado.main"
# bubblewrap's: the one that waits, and the first of the process namespace.
OWN_PROCESSES = 2
SECONDS_TO_DIE = 30.0
SECONDS_FOR_LEFTOVERS = 1.0
STEP = 0.001
HINT = (
    "as a service of systemd set Delegate=yes, in a shell start it by `systemd-run --user --scope -p Delegate=yes`, "
    "in a container mount /sys/fs/cgroup writable (docker: --privileged)"
)


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """One mounted hierarchy.

    folder       the group of this process
    controllers  those of NEEDED that it has; version 2 counts processor time without a controller
    unified      it is of version 2
    """

    folder: Path
    controllers: frozenset[str]
    unified: bool


def own_hierarchies() -> list[Hierarchy]:
    """The hierarchies with the groups of this process; none where /proc tells none."""
    try:
        return hierarchies(Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text())
    except OSError:
        return []


def hierarchies(mountinfo: str, memberships: str) -> list[Hierarchy]:
    """Read hierarchies from the texts of /proc/self/mountinfo and /proc/self/cgroup; see proc(5) and cgroups(7)."""
    paths = _memberships(memberships)
    rows = []
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        fields, (kind, _, options) = left.split(), right.split(maxsplit=2)
        if kind not in {"cgroup", "cgroup2"}:
            continue
        top, root = Path(_unescaped(fields[4])), _unescaped(fields[3])
        if kind == "cgroup2":
            folder = _below(top, root, paths.get("", "/"))
            rows.append(Hierarchy(folder, _controllers(folder) | {"cpuacct"}, True))
        elif controllers := {*NEEDED} & set(options.split(",")):
            path = next((paths[each] for each in sorted(controllers) if each in paths), "/")
            rows.append(Hierarchy(_below(top, root, path), frozenset(controllers), False))
    return rows


def _memberships(text: str) -> dict[str, str]:
    """The path of this process by controller; that of version 2 by an empty name."""
    paths: dict[str, str] = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        paths |= dict.fromkeys(controllers.split(","), path)
    return paths


def _below(top: Path, root: str, path: str) -> Path:
    """The folder of a group: a mount shows the hierarchy from `root` on. Groups out of sight become the top."""
    try:
        inner = PurePosixPath(path).relative_to(root)
    except ValueError:
        return top
    folder = top / inner
    return folder if ".." not in inner.parts and folder.is_dir() else top


def _controllers(folder: Path) -> frozenset[str]:
    try:
        return frozenset({*NEEDED} & set((folder / "cgroup.controllers").read_text().split()))
    except OSError:
        return frozenset()


def _unescaped(text: str) -> str:
    return os.fsdecode(ESCAPED.sub(lambda match: chr(int(match[1], 8)), text))


class NoGroups(Exception):
    """The control groups of this process cannot be divided; the text says which and why."""


class RunGroup:
    """The group of one run, a folder in each hierarchy."""

    def __init__(self, memory: Path, pids: Path, cpu: Path) -> None:
        self._memory, self._pids, self._cpu = memory, pids, cpu
        self.folders = list(dict.fromkeys((memory, pids, cpu)))

    def limit(self, limits: Limits) -> None:
        """Bound memory, swap and processes."""
        _write(self._pids / "pids.max", limits.processes + OWN_PROCESSES)
        if (self._memory / "memory.max").exists():
            _write(self._memory / "memory.max", limits.memory)
            _write_if_there(self._memory / "memory.swap.max", 0)
            _write_if_there(self._memory / "memory.oom.group", 1)
        else:
            _write(self._memory / "memory.limit_in_bytes", limits.memory)
            _write_if_there(self._memory / "memory.memsw.limit_in_bytes", limits.memory)
            _write_if_there(self._memory / "memory.swappiness", 0)

    def cpu_seconds(self) -> float:
        """Processor time of all processes so far."""
        usage = self._cpu / "cpuacct.usage"
        if usage.exists():
            return int(usage.read_text()) / 1e9
        return _counter(self._cpu / "cpu.stat", "usage_usec") / 1e6

    def out_of_memory(self) -> bool:
        """Whether the kernel killed a process because the memory limit was reached."""
        events = self._memory / "memory.events"
        return _counter(events if events.exists() else self._memory / "memory.oom_control", "oom_kill") > 0

    def kill(self, spared: int | None = None) -> None:
        """Kill all processes, `spared` excepted, and wait until they are gone. No new one can start in the meantime."""
        _write(self._pids / "pids.max", 0)
        _kill(self._pids, spared)

    def remove(self) -> None:
        """Remove the group, whose processes are gone."""
        for folder in self.folders:
            _remove(folder)


class Groups:
    """The folders of one server: locked while it lives, so that others tell its runs from leftovers."""

    def __init__(self, folders: dict[str, Path], locks: list[int]) -> None:
        self._folders, self._locks = folders, locks
        self._numbers = count(1)

    @classmethod
    def open(cls) -> Groups:
        """Divide the control groups of this process and remove what killed servers left; raises NoGroups."""
        chosen = choose(own_hierarchies())
        folders: dict[str, Path] = {}
        locks = []
        for hierarchy in dict.fromkeys(chosen.values()):
            controllers = {each for each, owner in chosen.items() if owner == hierarchy}
            folder, lock = _divided(hierarchy, controllers)
            folders |= dict.fromkeys(controllers, folder)
            locks.append(lock)
        return cls(folders, locks)

    def new(self, limits: Limits) -> RunGroup:
        """Make the group of one run."""
        name = str(next(self._numbers))
        group = RunGroup(*(self._folders[each] / name for each in NEEDED))
        for folder in group.folders:
            folder.mkdir()
        group.limit(limits)
        return group

    def in_use(self) -> list[Path]:
        """The folders of runs, in all hierarchies."""
        return [run for folder in dict.fromkeys(self._folders.values()) for run in folder.iterdir() if run.is_dir()]

    def close(self) -> None:
        """Remove the folders; runs must have ended."""
        for folder in dict.fromkeys(self._folders.values()):
            with suppress(OSError):
                folder.rmdir()
        for lock in self._locks:
            os.close(lock)
        self._locks = []


def choose(known: Iterable[Hierarchy]) -> dict[str, Hierarchy]:
    """The hierarchy of each controller, version 1 before version 2, as a controller is in one of them; or NoGroups."""
    chosen: dict[str, Hierarchy] = {}
    for hierarchy in sorted(known, key=lambda each: each.unified, reverse=True):
        chosen |= dict.fromkeys(hierarchy.controllers, hierarchy)
    if missing := [each for each in NEEDED if each not in chosen]:
        raise NoGroups(f"no hierarchy with the controllers {', '.join(missing)} is mounted or delegated; {HINT}")
    return chosen


def _divided(hierarchy: Hierarchy, controllers: set[str]) -> tuple[Path, int]:
    """Make and lock a folder below the own group, whose limits hold for runs, too; returns it and its lock."""
    parent = _parent(hierarchy)
    try:
        sweep(parent)
        if hierarchy.unified:
            _hand_down(parent, controllers)
        folder, lock = _locked(parent)
        if hierarchy.unified:
            _hand_down(folder, controllers)
    except OSError as error:
        raise NoGroups(
            f"cannot divide the group for {', '.join(sorted(controllers))}: {error.strerror}; {HINT}"
        ) from error
    return folder, lock


def _parent(hierarchy: Hierarchy) -> Path:
    return hierarchy.folder.parent if hierarchy.folder.name == MAIN else hierarchy.folder


def _locked(parent: Path) -> tuple[Path, int]:
    """Make a folder and lock it; again, if a sweep came in between and took it for a leftover."""
    while True:
        folder = parent / (PREFIX + secrets.token_hex(6))
        folder.mkdir()
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder, lock
        os.close(lock)


def _hand_down(folder: Path, controllers: set[str]) -> None:
    """Give the groups inside these controllers of version 2; processes of the folder itself move to a group inside."""
    wanted = controllers - {"cpuacct"} - set((folder / "cgroup.subtree_control").read_text().split())
    if not wanted:
        return
    words = " ".join(f"+{each}" for each in sorted(wanted))
    try:
        _write(folder / "cgroup.subtree_control", words)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        _move_inside(folder)
        _write(folder / "cgroup.subtree_control", words)


def _move_inside(folder: Path) -> None:
    """Move all processes of a group to its group MAIN, as version 2 divides no group that has processes."""
    main = folder / MAIN
    main.mkdir(exist_ok=True)
    while pids := (folder / "cgroup.procs").read_text().split():
        for pid in pids:
            with suppress(ProcessLookupError):
                _write(main / "cgroup.procs", pid)


def sweep(parent: Path) -> int:
    """Remove the leftovers below one group; returns how many there were."""
    removed = 0
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError, SandboxFault):  # another server may be sweeping, too, or it is another user's
            removed += _swept(folder)
    return removed


def _swept(folder: Path) -> bool:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for run in [each for each in folder.iterdir() if each.is_dir()]:
            _kill(run)
            _remove(run, SECONDS_FOR_LEFTOVERS)
        _remove(folder, SECONDS_FOR_LEFTOVERS)
    finally:
        os.close(lock)
    return True


def _kill(group: Path, spared: int | None = None) -> None:
    """Kill the processes of a group, `spared` excepted, and wait until they are gone."""
    until = time.monotonic() + SECONDS_TO_DIE
    while alive := _processes(group) - {spared}:
        for pid in alive:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > until:
            raise SandboxFault(f"processes {sorted(alive)} do not end")
        time.sleep(STEP)


def _processes(group: Path) -> set[int]:
    """Ids of a group's processes, but for those that this process cannot see, which are listed as 0."""
    return {int(line) for line in (group / "cgroup.procs").read_text().split()} - {0}


def _remove(folder: Path, seconds: float = SECONDS_TO_DIE) -> None:
    """Remove a group; the kernel may take a moment after the last process."""
    until = time.monotonic() + seconds
    while True:
        try:
            return folder.rmdir()
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > until:
                raise
            time.sleep(STEP)


def _counter(path: Path, name: str) -> int:
    """Read the value of a name in a file of names and values; 0 where there is none."""
    with suppress(FileNotFoundError):
        for line in path.read_text().splitlines():
            words = line.split()
            if words[:1] == [name]:
                return int(words[1])
    return 0


def _write(path: Path, value: object) -> None:
    """Write to a file of a group, which takes a value in one piece, or refuses it with an OSError."""
    handle = os.open(path, os.O_WRONLY)
    try:
        os.write(handle, f"{value}\n".encode())
    finally:
        os.close(handle)


def _write_if_there(path: Path, value: object) -> None:
    with suppress(FileNotFoundError):
        _write(path, value)
