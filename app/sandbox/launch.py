"""The start of a sandbox: limits of each process, its control group, bubblewrap, and the file system made ready.

The program waits until `Launched.begin`: private folders are opened before it can do anything.

- Private folders of a run: held open from outside, read after the program has ended.
"""

import json
import math
import os
import resource
import select
import shlex
import shutil
import stat
import subprocess
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from app.sandbox import child, groups, model

MOST_ENTRIES = 1000
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class TooMuchLeft(Exception):
    """The program left more files or more bytes than are taken."""


class Private:
    """The private folders of one run."""

    def __init__(self, root: str, folders: dict[str, model.Mount | None]) -> None:
        """Open folders of the sandbox below `root`, where no program runs yet."""
        self._opened: list[tuple[int, model.Mount | None]] = []
        try:
            for folder, mount in folders.items():
                self._opened.append((os.open(root + folder, FOLDER), mount))
        except OSError:
            self.close()
            raise

    def full(self) -> bool:
        """Whether a folder takes no more bytes, or no more files."""
        spaces = [os.fstatvfs(handle) for handle, _ in self._opened]
        return any(space.f_bavail == 0 or (space.f_files > 0 and space.f_favail == 0) for space in spaces)

    def collect(self, most: int) -> None:
        """Copy files that the program left to the host, at most so many bytes a folder; TooMuchLeft: none of them."""
        for handle, mount in self._opened:
            if mount is not None:
                for name in _files(handle, most):
                    _copy(handle, name, mount.source)

    def close(self) -> None:
        """Let go of the folders, and with them of their memory."""
        for handle, _ in self._opened:
            os.close(handle)
        self._opened = []


def _files(folder: int, most: int) -> list[str]:
    """The names of the regular files in a folder; links, devices, other folders and the like are left out."""
    names, total = [], 0
    with os.scandir(folder) as entries:
        for count, entry in enumerate(entries, 1):
            if entry.is_file(follow_symlinks=False):
                names.append(entry.name)
                total += entry.stat(follow_symlinks=False).st_size
            if count > MOST_ENTRIES or total > most:
                raise TooMuchLeft(f"more than {MOST_ENTRIES} entries or {most} bytes")
    return names


def _copy(folder: int, name: str, target: Path) -> None:
    """Copy one file; of its mode only stays whether its owner may run it. No one writes to it any longer."""
    source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
    with os.fdopen(source, "rb") as data:
        mode = 0o700 if os.fstat(source).st_mode & stat.S_IXUSR else 0o600
        with open(os.open(target / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as copy:
            shutil.copyfileobj(data, copy, 1 << 20)


# Bytes of the unit in which a shell counts the size of files.
BLOCK = 512
SECONDS_TO_START = 20.0
SECONDS_TO_END = 5.0
LONGEST_WAIT = 0.1
STEP = 0.0003
CHUNK = 65536


class Status:
    """What bubblewrap tells of a run: the id of its first process, and the program's exit code."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.closed = False
        self._text = ""

    def read(self) -> bool:
        """Take what was told; False once bubblewrap has ended: the status is closed then."""
        data = os.read(self.handle, CHUNK)
        self._text += data.decode()
        self.closed = not data
        return not self.closed

    def number(self, name: str) -> int | None:
        """The number told by this name; None if it was not told."""
        for line in self._text.splitlines():
            with suppress(ValueError):
                document = json.loads(line)
                if name in document:
                    return int(document[name])
        return None


class Launched:
    """A sandbox whose program waits or runs."""

    def __init__(self, process: subprocess.Popen[bytes], status: int, gate: int) -> None:
        self.process = process
        self.status = Status(status)
        self.private: Private | None = None
        self._root = ""
        self._gate = gate

    def prepare(self, command: model.Command) -> None:
        """Wait for the file system, then open the private folders; nothing if the sandbox ends before."""
        until = time.monotonic() + SECONDS_TO_START
        while not self._ready():
            if self.status.closed:
                return
            if time.monotonic() > until:
                raise model.SandboxFault(f"the sandbox is not ready within {SECONDS_TO_START:.0f} s")
            if select.select([self.status.handle], [], [], STEP if self._root else LONGEST_WAIT)[0]:
                self.status.read()
        self.private = Private(self._root, model.private_folders(command))

    def begin(self) -> None:
        """Let the program begin."""
        with suppress(BrokenPipeError):
            os.write(self._gate, b"x")

    def wait(self) -> None:
        """Wait for bubblewrap, whose processes have ended, and take their remains where they fall to this process."""
        try:
            self.process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        first = self.status.number("child-pid")
        if first is not None:
            with suppress(ChildProcessError):  # else it is a child of the machine's first process
                os.waitpid(first, 0)

    def close(self) -> None:
        """Close all descriptors; what waits at the gate continues, so it must have been killed."""
        for file in (self.process.stdin, self.process.stdout, self.process.stderr):
            if file is not None:
                with suppress(BrokenPipeError):
                    file.close()
        for handle in (self.status.handle, self._gate):
            os.close(handle)
        if self.private is not None:
            self.private.close()

    def _ready(self) -> bool:
        if not self._root:
            first = self.status.number("child-pid")
            self._root = "" if first is None else f"/proc/{first}/root"
        return bool(self._root) and Path(self._root + model.MARK).is_dir()


def launch(command: model.Command, group: groups.RunGroup, filter_: bytes, stdin: int) -> Launched:
    """Start a sandbox in its group; `stdin` is one of subprocess's words."""
    with ExitStack() as inside:
        status, status_inside = os.pipe()
        inside.callback(os.close, status_inside)
        gate_inside, gate = os.pipe()
        inside.callback(os.close, gate_inside)
        filter_file = _memory_file(filter_)
        inside.callback(os.close, filter_file)
        words = model.words(command, filter_file=filter_file, status=status_inside, gate=gate_inside)
        word_file = _memory_file(b"".join(os.fsencode(word) + b"\0" for word in words))
        inside.callback(os.close, word_file)
        bwrap = (model.program() or "bwrap", "--args", str(word_file), "--", *command.argv)
        process = child.started(
            lambda: subprocess.Popen(
                ("/bin/sh", "-c", script(group.folders, command.limits), "sh", *bwrap),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(status_inside, gate_inside, filter_file, word_file),
                env={},
                cwd="/",
                bufsize=0,
            )
        )
    return Launched(process, status, gate)


def script(folders: list[Path], limits: model.Limits) -> str:
    """The shell's lines: enter the group first, so that nothing runs outside of it, then bound each process."""
    enter = [f"echo 0 >{shlex.quote(str(folder / 'cgroup.procs'))}" for folder in folders]
    return " && ".join([*enter, *(f"ulimit -{name} {most}" for name, most in _of_each_process(limits)), 'exec "$@"'])


def _of_each_process(limits: model.Limits) -> list[tuple[str, int]]:
    """The limits of each process by the shell's letters, none above what this process itself may have."""
    wanted = (
        ("c", resource.RLIMIT_CORE, 0, 1),
        ("f", resource.RLIMIT_FSIZE, limits.output, BLOCK),
        ("n", resource.RLIMIT_NOFILE, limits.open_files, 1),
        ("s", resource.RLIMIT_STACK, limits.memory, 1024),
        ("t", resource.RLIMIT_CPU, math.ceil(limits.cpu_seconds) + 1, 1),
    )
    bounds = []
    for letter, name, most, unit in wanted:
        hard = resource.getrlimit(name)[1]
        units = -(-most // unit)
        bounds.append((letter, units if hard == resource.RLIM_INFINITY else min(units, hard // unit)))
    return bounds


def _memory_file(data: bytes) -> int:
    """A file in memory to be read from its beginning; it is closed in programs unless it is passed on."""
    handle = os.memfd_create("jurado")
    os.write(handle, data)
    os.lseek(handle, 0, os.SEEK_SET)
    return handle
