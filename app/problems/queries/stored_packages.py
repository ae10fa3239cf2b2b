"""The zip of a stored package as a file on disk, for the time that somebody reads it: it may be larger than memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from app.core.files.files import FileStore
from app.core.files.temporary import PACKAGE_PREFIX, locked_folder


class Laid(NamedTuple):
    """The zip, and a place beside it where its files may be inflated to."""

    archive: Path
    spool: Path


@contextmanager
def laid_out(files: FileStore, sha256: str) -> Iterator[Laid]:
    """Write a stored zip to a temporary folder, which goes at the end."""
    with locked_folder(PACKAGE_PREFIX) as folder:
        laid = Laid(folder / "package.zip", folder / "files")
        with laid.archive.open("wb") as file:
            file.writelines(files.pieces(sha256))
        yield laid
