"""Private folders of a run: held open from outside, filled before the program starts, read after it has ended.

They lie in memory (tmpfs) inside the sandbox. A descriptor taken before the program starts keeps each alive after its
sandbox is gone. No link that the program makes is followed.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from app.sandbox.model import Mount

MOST_ENTRIES = 1000
MOST_DEPTH = 32
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class TooMuchLeft(Exception):
    """The program left more files, deeper folders or more bytes than are taken."""


class Private:
    """The private folders of one run."""

    def __init__(self, root: str, folders: dict[str, Mount | None]) -> None:
        """Open folders of the sandbox below `root`, where no program runs yet; fill those that copy one of the host."""
        self._opened: list[tuple[int, Mount | None]] = []
        try:
            for folder, mount in folders.items():
                handle = os.open(root + folder, FOLDER)
                self._opened.append((handle, mount))
                if mount is not None:
                    # Links stay links, which lead nowhere inside: the files they name are not for the program.
                    shutil.copytree(mount.source, f"/proc/self/fd/{handle}", symlinks=True, dirs_exist_ok=True)
        except OSError:
            self.close()
            raise

    def full(self) -> bool:
        """Whether a folder takes no more bytes, or no more files."""
        spaces = [os.fstatvfs(handle) for handle, _ in self._opened]
        return any(space.f_bavail == 0 or (space.f_files > 0 and space.f_favail == 0) for space in spaces)

    def collect(self, most: int) -> None:
        """Copy what the program left to the host, at most so many bytes a folder; TooMuchLeft: nothing of it is."""
        for handle, mount in self._opened:
            if mount is not None:
                for path, size in _files(handle, most):
                    _copy(handle, path, size, mount.source)

    def close(self) -> None:
        """Let go of the folders, and with them of their memory."""
        for handle, _ in self._opened:
            os.close(handle)
        self._opened = []


def _files(top: int, most: int) -> list[tuple[Path, int]]:
    """List the regular files below a folder with their sizes; links, devices and the like are left out."""
    files: list[tuple[Path, int]] = []
    total = 0
    for count, (path, status) in enumerate(_entries(top), 1):
        if stat.S_ISREG(status.st_mode):
            files.append((path, status.st_size))
            total += status.st_size
        if count > MOST_ENTRIES or total > most:
            raise TooMuchLeft(f"more than {MOST_ENTRIES} entries or {most} bytes")
    return files


def _entries(top: int) -> Iterator[tuple[Path, os.stat_result]]:
    """Walk through a folder, the depth bounded: each entry with its status."""
    waiting = [Path()]
    while waiting:
        folder = waiting.pop()
        handle = os.open(folder, FOLDER, dir_fd=top)
        try:
            with os.scandir(handle) as entries:
                for entry in entries:
                    path = folder / entry.name
                    yield path, entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        if len(path.parts) > MOST_DEPTH:
                            raise TooMuchLeft(f"folders deeper than {MOST_DEPTH}")
                        waiting.append(path)
        finally:
            os.close(handle)


def _clear(path: Path, unless: Callable[[Path], bool]) -> None:
    """Remove what is in the way of a file or a folder: a link above all, which would lead out of the folder."""
    if path.is_symlink() or (path.exists() and not path.is_dir() and not unless(path)):
        path.unlink()
    elif path.exists() and not unless(path):
        shutil.rmtree(path)


def _copy(top: int, path: Path, size: int, folder: Path) -> None:
    """Copy one file; of its mode only stays whether its owner may run it. Nobody writes to it any more."""
    target = folder / path
    for parent in [folder / each for each in reversed(path.parents[:-1])]:
        _clear(parent, unless=Path.is_dir)
        parent.mkdir(exist_ok=True)
    _clear(target, unless=Path.is_file)
    source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=top)
    with os.fdopen(source, "rb") as data:
        mode = 0o700 if os.fstat(source).st_mode & stat.S_IXUSR else 0o600
        target.unlink(missing_ok=True)
        with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as copy:
            shutil.copyfileobj(data, copy, 1 << 20)
