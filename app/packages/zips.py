"""Zips made on demand: the same files give the same bytes, whatever machine and hour."""

from __future__ import annotations

import io
import os
import pickle
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Protocol, cast

from app.core.steps import SILENT, Steps

EPOCH = (1980, 1, 1, 0, 0, 0)
PLAIN_FILE = 0o100644 << 16
UNIX = 3
THOROUGH, QUICK = 6, 1
"""Levels of compression: large files take the quick one, which needs a third of the time."""
LARGE = 4 * 2**20


class Target(Protocol):
    """Takes the bytes of a zip."""

    def write(self, data: bytes, /) -> int:
        """Take some bytes; returns their number."""
        ...

    def flush(self) -> None:
        """Let go of what is held back."""
        ...


def zip_bytes(files: Mapping[str, bytes]) -> bytes:
    """A zip of some files by their paths, sorted, in memory."""
    buffer = io.BytesIO()
    write_files(buffer, files)
    return buffer.getvalue()


def write_files(target: IO[bytes], files: Mapping[str, bytes], steps: Steps = SILENT) -> None:
    """Write a zip of some files by their paths, sorted, to an open file, with one of them in memory at a time."""
    _write(target, ((name, files[name]) for name in steps.over("packing", sorted(files))))


def kept_zip(path: Path, names: Iterable[str], load: Callable[[str], bytes]) -> Path:
    """A zip at `path`, made if it is missing, with one file in memory at a time; readers never see half of one."""
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            _write(file, ((each, load(each)) for each in sorted(names)))
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


def write_zip(target: Target, files: Iterable[tuple[str, Iterable[bytes]]]) -> None:
    """Write a zip of files, each in pieces, to a target that only takes bytes.

    One piece is in memory at a time, and no entry. A list of pieces is of a small file; others may be of any size.
    """
    # zipfile asks for no more of a target that cannot seek, but is typed for a whole file.
    with (
        tempfile.TemporaryFile(prefix="jurado-zip-") as spool,
        zipfile.ZipFile(cast(IO[bytes], target), "w", zipfile.ZIP_DEFLATED, compresslevel=THOROUGH) as archive,
    ):
        archive.filelist = _Entries(spool)
        for name, pieces in files:
            with archive.open(_entry(name), "w", force_zip64=not isinstance(pieces, list)) as file:
                for piece in pieces:
                    file.write(piece)
            archive.NameToInfo.clear()


class _Entries(list[zipfile.ZipInfo]):
    """The entries of a zip until its directory is written at the end, in a temporary file: there may be a million."""

    def __init__(self, spool: IO[bytes]) -> None:
        super().__init__()
        self._spool = spool
        self._count = 0

    def append(self, entry: zipfile.ZipInfo) -> None:
        pickle.dump(entry, self._spool)
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[zipfile.ZipInfo]:
        self._spool.seek(0)
        return (pickle.load(self._spool) for _ in range(self._count))


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = PLAIN_FILE
    entry.create_system = UNIX
    return entry


def _write(target: IO[bytes], files: Iterable[tuple[str, bytes]]) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=THOROUGH) as archive:
        for name, data in files:
            archive.writestr(_entry(name), data, compresslevel=QUICK if len(data) >= LARGE else THOROUGH)
