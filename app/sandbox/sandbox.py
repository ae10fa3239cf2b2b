"""The sandbox of a server: opened once, it runs commands; where a protection is missing it does not open."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from app.sandbox import model, streams
from app.sandbox.groups import Groups, NoGroups, RunGroup
from app.sandbox.launch import Launched, launch
from app.sandbox.model import ALLOWED, AS_ROOT, Command, Limits, Result, SandboxFault, SandboxMissing
from app.sandbox.seccomp import sandbox_filter

PROGRAM = "bubblewrap"
NAMESPACES = "namespaces"
GROUPS = "control groups"
CALLS = "system calls"
USER = "user account"
USER_HINT = (
    f"the service runs as root, and so would programs of packages: run it as another user, or set {AS_ROOT}={ALLOWED}"
)
NAMESPACES_HINT = (
    "user namespaces must be allowed: sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "
    "kernel.apparmor_restrict_unprivileged_userns; in a container docker: --privileged (deploy/compose.sandbox.yaml)"
)
NOT_TRIED = f"not tried before the others are there ({NAMESPACES_HINT})"
# Small enough for every machine: one process.
PROBE = Command(("/bin/cat", "/proc/self/status"), limits=Limits(10.0, 20.0, 2**26, 1, 2**16))
EXPECTED = {"Seccomp:": "2", "NoNewPrivs:": "1", "CapEff:": "0" * 16, "CapPrm:": "0" * 16, "Uid:": model.NOBODY}


class Sandbox:
    """Runs commands, each in a sandbox of its own; any thread may ask."""

    def __init__(self, groups: Groups, filter_: bytes) -> None:
        self._groups = groups
        self._filter = filter_

    @classmethod
    def open(cls, *, as_root: bool = False) -> Sandbox:
        """Take every protection; raises SandboxMissing with those that this system does not give.

        A process of root is refused too, unless `as_root`: to the kernel its programs have the user id of root.
        """
        if os.geteuid() == 0 and not as_root:
            raise SandboxMissing({USER: USER_HINT})
        lacks, filter_ = {}, b""
        if model.program() is None:
            lacks[PROGRAM] = "bwrap is not installed (Debian: apt-get install bubblewrap)"
        try:
            filter_ = sandbox_filter()
        except (OSError, RuntimeError, ImportError) as error:
            lacks[CALLS] = f"{error} (Debian: apt-get install libseccomp2)"
        try:
            opened = cls(Groups.open(), filter_)
        except NoGroups as error:
            raise SandboxMissing({**lacks, GROUPS: str(error), NAMESPACES: NOT_TRIED}) from None
        if lack := NOT_TRIED if lacks else _tried(opened):
            opened.close()
            raise SandboxMissing({**lacks, NAMESPACES: lack})
        return opened

    def run(self, command: Command, begun: Callable[[Callable[[], None]], None] | None = None) -> Result:
        """Run a command to its end or a limit; raises SandboxFault if it could not be started.

        `begun` gets a function that ends the run: for any thread, also after the end.
        """
        watch = self._launch(command, subprocess.DEVNULL if command.stdin is None else subprocess.PIPE)
        if begun is not None:
            begun(watch.kill)
        return watch.run()

    def groups_in_use(self) -> list[Path]:
        """The folders of the runs that continue."""
        return self._groups.in_use()

    def close(self) -> None:
        """Let go of the control groups; runs must have ended."""
        self._groups.close()

    def _launch(self, command: Command, stdin: int) -> streams.Watch:
        _check(command)
        group = self._groups.new(command.limits)
        launched = None
        try:
            launched = launch(command, group, self._filter, stdin)
            launched.prepare(command)
            launched.begin()
            return streams.Watch(command, group, launched)
        except BaseException:
            _undo(group, launched)
            raise


def protections(*, as_root: bool = False) -> Mapping[str, str]:
    """Each protection by name with what it lacks on this system, empty where it is on: tried, not looked up."""
    missing: dict[str, str] = {}
    try:
        Sandbox.open(as_root=as_root).close()
    except SandboxMissing as found:
        missing = found.protections
    return missing if USER in missing else dict.fromkeys((PROGRAM, NAMESPACES, GROUPS, CALLS), "") | missing


def _tried(sandbox: Sandbox) -> str:
    """Run a program that prints its own state; returns what is not as it must be."""
    try:
        result = sandbox.run(PROBE)
    except (SandboxFault, OSError) as error:
        return f"{error} ({NAMESPACES_HINT})"
    rows = [line.split() for line in result.stdout.decode(errors="replace").splitlines()]
    state = {words[0]: words[1] for words in rows if len(words) > 1}
    wrong = [f"{name} {state.get(name)}" for name, value in EXPECTED.items() if state.get(name) != value]
    return f"a program in the sandbox has {', '.join(wrong)}" if wrong else ""


def _check(command: Command) -> None:
    """Refuse mounts whose source is a link or of the wrong kind: what it leads to is not what the caller named."""
    for mount in command.mounts:
        if mount.writable:
            fits, kind = mount.source.is_dir() and not any(mount.source.iterdir()), "an empty folder"
        else:
            fits, kind = mount.source.is_dir() or mount.source.is_file(), "a file or folder"
        if mount.source.is_symlink() or not fits:
            raise ValueError(f"mount at {mount.target}: expected {kind}, found {mount.source}")


def _undo(group: RunGroup, launched: Launched | None) -> None:
    """Remove a run that did not begin."""
    group.kill()
    if launched is not None:
        launched.wait()
        launched.close()
    group.remove()


SECONDS_BETWEEN_LOOKS = 60.0


class ProtectionState:
    """Tries the protections when someone first asks, and again from time to time while one of them is missing."""

    def __init__(self, look: Callable[[], Mapping[str, str]]) -> None:
        self._look = look
        self._lacks: Mapping[str, str] = {}
        self._next = 0.0

    def lacks(self) -> Mapping[str, str]:
        """Each protection by name, with what is missing; empty where it is on. May take a tenth of a second."""
        old = time.monotonic() >= self._next
        if not self._lacks or (old and any(self._lacks.values())):  # two threads may look at once: nothing is lost
            self._lacks = self._look()
            self._next = time.monotonic() + SECONDS_BETWEEN_LOOKS
        return self._lacks

    def forget(self) -> None:
        """Look again at what is missing when someone asks next."""
        self._next = 0.0
