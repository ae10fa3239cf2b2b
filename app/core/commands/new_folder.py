"""A folder written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from app.core.commands.output import Failure


def write_new_folder(target: Path, files: Mapping[str, bytes]) -> None:
    """Write files as a folder that is not there yet: all of them or nothing. Raises Failure."""
    if target.exists():
        raise Failure(f"{target}: expected a folder that is not there yet, found one")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        started = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
        try:
            for name, data in files.items():
                path = started / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            started.chmod(0o755)
            os.rename(started, target)
        except BaseException:
            shutil.rmtree(started, ignore_errors=True)
            raise
    except OSError as error:
        raise Failure(f"{target}: {error.strerror}") from None
