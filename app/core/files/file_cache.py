"""Copies of stored files on this machine, bounded in bytes: those read last stay. Any number of processes may share it.

A copy is named as the file is, and whoever reads it checks it: nothing here need survive a loss of power.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import structlog

from app.core.clock import utc_now
from app.core.files.files import SECONDS_UNFINISHED, State, name_of, sha256_of

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.files")

UNFINISHED = ".new-"
# Of the bound, how much stays when room is made: else each new file would make room for itself.
SHARE_LEFT = 0.9
# Of the bound, how much a process adds before it looks at what all have added.
SHARE_UNSEEN = 0.05


class FileCache:
    """Copies below a folder, together of about `most` bytes at the most."""

    def __init__(self, folder: Path, most: int) -> None:
        self.folder = folder
        self._most = most
        self._unseen = most  # what earlier processes left is looked at with the first copy
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, sha256: str) -> Path:
        """The place of a file's copy."""
        return self.folder / name_of(sha256)

    def opened(self, sha256: str) -> IO[bytes] | None:
        """Open the compressed copy, which counts as read now; None where there is none."""
        try:
            file = self.path(sha256).open("rb")
        except FileNotFoundError:
            return None
        with suppress(OSError):  # it is only dropped sooner then
            os.utime(file.fileno())
        return file

    def state(self, sha256: str) -> State:
        """A value that changes when another copy comes; None without one."""
        try:
            about = self.path(sha256).stat()
        except OSError:
            return None
        return about.st_ino, about.st_size

    def drop(self, sha256: str) -> None:
        """Remove a copy; whoever has it open may read on."""
        self.path(sha256).unlink(missing_ok=True)

    @contextmanager
    def writing(self) -> Iterator[IO[bytes]]:
        """A new file beside the copies, gone at the end unless `adopt` has taken it."""
        with tempfile.NamedTemporaryFile(dir=self.folder, prefix=UNFINISHED, delete=False) as file:
            try:
                yield file
            finally:
                Path(file.name).unlink(missing_ok=True)

    def adopt(self, file: IO[bytes], sha256: str) -> None:
        """Make a file of `writing` the copy of that sha256."""
        file.flush()
        path = self.path(sha256)
        path.parent.mkdir(exist_ok=True)
        os.replace(file.name, path)
        self._unseen += os.fstat(file.fileno()).st_size
        if self._unseen > self._most * SHARE_UNSEEN:
            self.make_room()

    def put(self, sha256: str, packed: bytes) -> None:
        """Copy compressed bytes that are stored already; that they cannot be copied is no fault of anybody's."""
        try:
            with self.writing() as file:
                file.write(packed)
                self.adopt(file, sha256)
        except OSError as error:
            log.warning("a stored file cannot be copied to the cache", file=sha256, error=str(error))

    def make_room(self) -> int:
        """Drop what was read longest ago, down to a share of the bound, where there is too much; returns the bytes."""
        self._unseen = 0
        copies = sorted(self._copies())
        size = sum(each for _, each, _ in copies)
        dropped, left = 0, round(self._most * SHARE_LEFT) if size > self._most else size
        for _, each, path in copies:
            if size - dropped <= left:
                break
            path.unlink(missing_ok=True)  # of two processes that make room at once, each drops some
            dropped += each
        return dropped

    def tidy(self, seconds: float = SECONDS_UNFINISHED) -> int:
        """Remove what killed processes began to write, if it is that old."""
        removed = 0
        for path in self.folder.glob(f"{UNFINISHED}*"):
            with suppress(FileNotFoundError):
                if utc_now().timestamp() - path.stat().st_mtime >= seconds:
                    path.unlink()
                    removed += 1
        return removed

    def _copies(self) -> Iterator[tuple[float, int, Path]]:
        """When each copy was read last, its bytes, and its place."""
        for folder in self.folder.iterdir():
            if folder.is_dir():
                for path in folder.iterdir():
                    if sha256_of(f"{folder.name}/{path.name}") is not None:
                        with suppress(FileNotFoundError):
                            about = path.stat()
                            yield about.st_mtime, about.st_size, path
