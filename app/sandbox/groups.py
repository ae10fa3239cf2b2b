"""Control groups: a fresh one for each run, which bounds and counts all its processes and kills them together.

Version 1 has a hierarchy of folders for each controller, version 2 one for all; a machine may have both. A server makes
one folder in each hierarchy that it needs, locks it while it lives, and makes those of its runs inside.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path

from app.sandbox.hierarchies import Hierarchy, own_hierarchies
from app.sandbox.model import Limits, SandboxFault

PREFIX = "jurado-"
MAIN = "jurado.main"
"""The group that a server moves to where version 2 lets no group have both processes and divided groups."""
NEEDED = ("memory", "pids", "cpuacct")
OWN_PROCESSES = 2
"""bubblewrap's: the one that waits, and the first of the process namespace."""
SECONDS_TO_DIE = 30.0
STEP = 0.001
HINT = (
    "as a service of systemd set Delegate=yes, in a shell start it by `systemd-run --user --scope -p Delegate=yes`, "
    "in a container mount /sys/fs/cgroup writable (docker: --privileged)"
)


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

    def peak_memory(self) -> int:
        """The most bytes in use at a time; before Linux 5.19 in version 2: those in use now."""
        for name in ("memory.peak", "memory.max_usage_in_bytes", "memory.current"):
            with suppress(FileNotFoundError):
                return int((self._memory / name).read_text())
        return 0

    def out_of_memory(self) -> bool:
        """Whether the kernel killed a process because the memory limit was reached."""
        events = self._memory / "memory.events"
        return _counter(events if events.exists() else self._memory / "memory.oom_control", "oom_kill") > 0

    def refused_processes(self) -> bool:
        """Whether a process could not be started because there were too many."""
        return _counter(self._pids / "pids.events", "max") > 0

    def kill(self, spared: int | None = None) -> None:
        """Kill all processes, `spared` excepted, and wait until they are gone. No new one can start meanwhile."""
        _write(self._pids / "pids.max", 0)
        until = time.monotonic() + SECONDS_TO_DIE
        while alive := self.processes() - {spared}:
            for pid in alive:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if time.monotonic() > until:
                raise SandboxFault(f"processes {sorted(alive)} do not end")
            time.sleep(STEP)

    def processes(self) -> set[int]:
        """Ids of the processes; those that this process cannot see are left out."""
        return {int(line) for line in (self._pids / "cgroup.procs").read_text().split()} - {0}

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
        name = PREFIX + secrets.token_hex(6)
        for hierarchy in dict.fromkeys(chosen.values()):
            controllers = {each for each, owner in chosen.items() if owner == hierarchy}
            folder, lock = _divided(hierarchy, controllers, name)
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


def _divided(hierarchy: Hierarchy, controllers: set[str], name: str) -> tuple[Path, int]:
    """Make and lock a folder of this name below the own group, or else at the top; returns it and its lock."""
    own = hierarchy.folder.parent if hierarchy.folder.name == MAIN else hierarchy.folder
    reasons = []
    for parent in dict.fromkeys((own, hierarchy.top)):
        try:
            return _divide(parent, hierarchy, controllers, name)
        except OSError as error:
            reasons.append(f"{parent}: {error.strerror}")
    raise NoGroups(f"cannot divide {'; '.join(reasons)}; {HINT}")


def _divide(parent: Path, hierarchy: Hierarchy, controllers: set[str], name: str) -> tuple[Path, int]:
    sweep(parent)
    if hierarchy.unified:
        _hand_down(parent, controllers)
    folder = parent / name
    folder.mkdir()
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if hierarchy.unified:
            _hand_down(folder, controllers)
    except OSError:
        os.close(lock)
        folder.rmdir()
        raise
    return folder, lock


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
    """Kill and remove what servers that live no more left in a group; returns how many there were."""
    removed = 0
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):  # another server may be sweeping, too, or it is another user's
            removed += _swept(folder)
    return removed


def _swept(folder: Path) -> bool:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for run in [each for each in folder.iterdir() if each.is_dir()]:
            while alive := (run / "cgroup.procs").read_text().split():
                for pid in filter(None, map(int, alive)):
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                time.sleep(STEP)
            _remove(run)
        _remove(folder)
    finally:
        os.close(lock)
    return True


def _remove(folder: Path) -> None:
    """Remove a group; the kernel may take a moment after the last process."""
    until = time.monotonic() + SECONDS_TO_DIE
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > until:
                raise
            time.sleep(STEP)
        else:
            return


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
