"""Folders of solver runs that killed servers left behind."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.domain.clock import utc_now

SOLVER_PREFIX = "jurado-solver-"
LOCK = "lock"
OLD_SECONDS = 3600.0
"""Younger ones may belong to somebody who is at it: writing one file or making one folder takes moments."""


@contextmanager
def solver_folder() -> Iterator[Path]:
    """A temporary folder for one run, locked while its server lives."""
    with tempfile.TemporaryDirectory(prefix=SOLVER_PREFIX) as name:
        folder = Path(name)
        with (folder / LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder


def remove_leftovers(temporary: Path | None = None) -> int:
    """Remove the folders that nobody works in any more; returns how many there were."""
    before = utc_now().timestamp() - OLD_SECONDS
    removed = 0
    for folder in (temporary or Path(tempfile.gettempdir())).glob(f"{SOLVER_PREFIX}*"):
        with suppress(OSError):
            removed += _removed(folder, before)
    return removed


def _removed(folder: Path, before: float) -> bool:
    """Remove the folder of a run, unless it is young, another user's, or its server lives."""
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
