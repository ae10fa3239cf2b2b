"""Wait until files and folders are on the disk."""

from __future__ import annotations

import os
from pathlib import Path

from app.core.effort import EFFORT


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
