"""The sandbox of a server: opened once, it runs commands; where a protection is missing it does not open.

Guarantee 4: a thread watches each program, and kills it at a limit.

- A program that stays in its sandbox and is asked many times over its standard input and output.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO

from app.sandbox import model
from app.sandbox.groups import Groups, NoGroups, RunGroup
from app.sandbox.launch import Launched, launch
from app.sandbox.model import ALLOWED, AS_ROOT, Command, Follower, Limits, Result, SandboxFault, SandboxMissing
from app.sandbox.seccomp import sandbox_filter
from app.sandbox.streams import CHUNK, Inlet, Watch

# A program that has closed its output has most likely ended, and its exit code is on its way.
SECONDS_TO_END = 1.0


class ProgramEnded(Exception):
    """The program has ended, or was ended by a limit, before it replied; `Running.kill` tells by what."""


class Running:
    """A program that runs. Its limits hold for the whole of its life; what it prints and nobody receives blocks it."""

    def __init__(self, launched: Launched, watch: Watch) -> None:
        self._watch = watch
        self._stdin, self._stdout = _own(launched.process.stdin), _own(launched.process.stdout)
        if self._stdin is not None:
            os.set_blocking(self._stdin, False)
        self._result: Result | None = None
        self._fault: BaseException | None = None
        self._closed = self._hung_up = False
        self._thread = threading.Thread(target=self._run, name="sandbox-watch", daemon=True)
        self._thread.start()

    def send(self, data: bytes, seconds: float = 60.0) -> None:
        """Send bytes; a program that has not taken them in time is killed (`wall`). Raises ProgramEnded."""
        assert self._stdin is not None, "a program with a socket is asked over that"
        until = time.monotonic() + seconds
        view = memoryview(data)
        while view:
            self._wait(self._stdin, select.POLLOUT, until)
            try:
                view = view[os.write(self._stdin, view[:CHUNK]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                self._hung_up = True
                raise ProgramEnded from None

    def receive(self, size: int, seconds: float) -> bytes:
        """Receive exactly so many bytes; a program that has not sent them in time is killed. Raises ProgramEnded."""
        assert self._stdout is not None, "it is a pipe"
        until = time.monotonic() + seconds
        data = bytearray()
        while len(data) < size:
            self._wait(self._stdout, select.POLLIN, until)
            more = os.read(self._stdout, min(size - len(data), CHUNK))
            if not more:
                self._hung_up = True
                raise ProgramEnded
            data += more
        return bytes(data)

    def cpu_seconds(self) -> float:
        """Processor time so far; 0 once the program has ended."""
        return self._watch.cpu_seconds()

    @property
    def alive(self) -> bool:
        """Whether the program runs."""
        return self._thread.is_alive()

    def kill(self, *, ended: bool = False) -> Result:
        """Kill the program and return how it ended: `signal` 9 if it was alive. Further calls return the same.

        `ended`: it has hung up by other ways than these pipes, and its own end is on its way.
        """
        if self._hung_up or ended:
            self._thread.join(SECONDS_TO_END)
        self._watch.kill()
        self._thread.join()
        if not self._closed:
            self._closed = True
            for pipe in (self._stdin, self._stdout):
                if pipe is not None:
                    os.close(pipe)
        if self._result is None:
            raise SandboxFault("the run could not be watched") from self._fault
        return self._result

    def __enter__(self) -> Running:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.kill()

    def _wait(self, pipe: int, event: int, until: float) -> None:
        """Wait until the pipe takes or has bytes; past `until` the program is killed."""
        left = until - time.monotonic()
        poll = select.poll()
        poll.register(pipe, event)
        if left <= 0 or not poll.poll(left * 1000):
            self._watch.stop("wall")
            raise ProgramEnded

    def _run(self) -> None:
        try:
            self._result = self._watch.run()
        except BaseException as error:  # raised by `kill`, in the thread that asks
            self._fault = error


def _own(stream: IO[bytes] | None) -> int | None:
    """A descriptor of one's own for a pipe, which the watch closes once the program has ended."""
    return None if stream is None else os.dup(stream.fileno())


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
        missing, opened = _open(as_root=as_root)
        if opened is None:
            raise SandboxMissing({name: lack for name, lack in missing.items() if lack})
        return opened

    def run(self, command: Command, follower: Follower | None = None) -> Result:
        """Run a command to its end or a limit; raises SandboxFault if it could not be started."""
        inlet = None if command.stdin is None else Inlet(command.stdin)
        try:
            watch = self._launch(command, talks=inlet is not None)[1]
            if follower is not None:
                watch.follow(follower)
            return watch.run(inlet)
        finally:
            if inlet is not None:
                inlet.close()

    def start(self, command: Command, stdin: socket.socket | None = None) -> Running:
        """Start a command that is asked over its standard input and output; `Command.stdin` must be None.

        With a socket as standard input the caller holds the other end; then standard output is read by nobody.
        """
        if command.stdin is not None:
            raise ValueError("expected no stdin for a command that is asked, found one")
        launched, watch = self._launch(command, talks=stdin is None, stdin=stdin, reads_stdout=False)
        return Running(launched, watch)

    def groups_in_use(self) -> list[Path]:
        """The folders of the runs that go on."""
        return self._groups.in_use()

    def close(self) -> None:
        """Let go of the control groups; runs must have ended."""
        self._groups.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _launch(
        self, command: Command, *, talks: bool, stdin: socket.socket | None = None, reads_stdout: bool = True
    ) -> tuple[Launched, Watch]:
        _check(command)
        group = self._groups.new(command.limits)
        launched = None
        try:
            launched = launch(command, group, self._filter, talks=talks, stdin=stdin)
            launched.prepare(command)
            launched.begin()
            return launched, Watch(command, group, launched, reads_stdout=reads_stdout)
        except BaseException:
            _undo(group, launched)
            raise


def protections(*, as_root: bool = False) -> Mapping[str, str]:
    """Each protection by name with what it lacks on this system, empty where it is on: tried, not looked up."""
    missing, opened = _open(as_root=as_root)
    if opened is not None:
        opened.close()
    return missing


def _open(*, as_root: bool) -> tuple[dict[str, str], Sandbox | None]:
    """Try each protection; returns what each lacks, and the sandbox if none lacks anything."""
    if os.geteuid() == 0 and not as_root:
        return {USER: USER_HINT}, None
    lacks = dict.fromkeys((PROGRAM, NAMESPACES, GROUPS, CALLS), "")
    lacks[PROGRAM] = model.lack()
    filter_ = _filter(lacks)
    opened = None
    try:
        opened = Sandbox(Groups.open(), filter_)
    except NoGroups as error:
        lacks[GROUPS] = str(error)
        if not lacks[PROGRAM] and (lack := model.lack_of_namespaces()):
            lacks[NAMESPACES] = f"{lack} ({NAMESPACES_HINT})"
    if opened is not None:
        if not any(lacks.values()):
            lacks[NAMESPACES] = _tried(opened)
        if any(lacks.values()):
            opened.close()
            opened = None
    return lacks, opened


def _filter(lacks: dict[str, str]) -> bytes:
    try:
        return sandbox_filter()
    except (OSError, RuntimeError, ImportError) as error:
        lacks[CALLS] = f"{error} (Debian: apt-get install libseccomp2)"
        return b""


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
        if mount.source.is_symlink() or not (mount.source.is_dir() or (mount.source.is_file() and not mount.writable)):
            kind = "folder" if mount.writable else "file or folder"
            raise ValueError(f"mount at {mount.target}: expected a {kind}, found {mount.source}")


def _undo(group: RunGroup, launched: Launched | None) -> None:
    """Remove a run that did not begin."""
    group.kill()
    if launched is not None:
        launched.wait()
        launched.close()
    group.remove()
