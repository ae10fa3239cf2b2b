"""Temporary folders that tell whether their process lives, so that those of killed ones can be removed.

- Files that appear whole or not at all, and what waits until files and folders are on the disk.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from app.core.clock import utc_now
from app.core.effort import EFFORT

SOLVER_PREFIX, UPLOAD_PREFIX, PACKAGE_PREFIX = "jurado-solver-", "jurado-upload-", "jurado-package-"
SERVE_PREFIX, DEMO_PREFIX = "jurado-serve-", "jurado-demo-"
PREFIXES = (SOLVER_PREFIX, UPLOAD_PREFIX, PACKAGE_PREFIX, SERVE_PREFIX, DEMO_PREFIX)
LOCK = "lock"
UNFINISHED = ".new-"
# Younger folders may belong to someone who is at it: making one and locking it takes moments.
YOUNG_SECONDS = 60.0


@contextmanager
def locked_folder(prefix: str) -> Iterator[Path]:
    """A temporary folder, locked while its process lives, and gone afterwards."""
    with tempfile.TemporaryDirectory(prefix=prefix) as name:
        folder = Path(name)
        with (folder / LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder


def remove_leftovers(temporary: Path | None = None) -> int:
    """Remove the folders that no one works in any longer; returns how many there were."""
    before = utc_now().timestamp() - YOUNG_SECONDS
    removed = 0
    for prefix in PREFIXES:
        for folder in (temporary or Path(tempfile.gettempdir())).glob(f"{prefix}*"):
            with suppress(OSError):
                removed += _removed(folder, before)
    return removed


def _removed(folder: Path, before: float) -> bool:
    """Remove a folder, unless it is young, another user's, or its process lives."""
    status = folder.lstat()
    if status.st_uid != os.getuid() or status.st_mtime > before or not folder.is_dir() or folder.is_symlink():
        return False
    with (folder / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        shutil.rmtree(folder)
    return True


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Write a file, for its user alone, that is at its path once all of it is on the disk, or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=UNFINISHED)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            sync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync(descriptor: int) -> None:
    """Wait until what was written to an open file or folder is on the disk."""
    if EFFORT.waits_for_disk:
        os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk: a file that was renamed into it survives a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)
