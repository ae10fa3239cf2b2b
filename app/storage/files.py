"""Content-addressed files: named by their sha256, compressed with zstd, durable before anybody is told of them."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Protocol

import zstandard

LEVEL = 1  # 866 MB/s, and answer files are digits and spaces: higher levels gain little


class FileStore(Protocol):
    """Where large files lie; the local folder below now, an object store later."""

    def keep(self, data: bytes) -> str:
        """Store `data` durably and return its sha256 in hex; storing the same bytes again costs nothing."""
        ...

    def load(self, sha256: str) -> bytes:
        """Give the bytes back; raises FileMissing, or FileDamaged if they are not what was stored."""
        ...


class FileMissing(LookupError):
    """No file of that sha256 is stored."""


class FileDamaged(OSError):
    """The stored bytes do not have the sha256 they are named by."""


class OnlyHashes:
    """A file store that stores nothing: tells which files a package would have, before anything is kept of it."""

    def keep(self, data: bytes) -> str:
        """The sha256 in hex."""
        return hashlib.sha256(data).hexdigest()

    def load(self, sha256: str) -> bytes:
        """Nothing is here."""
        raise FileMissing(f"no stored file {sha256}")


class LocalFiles:
    """Files below one folder, as `ab/cdef....zst`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, sha256: str) -> Path:
        """Where the file of that sha256 lies, if it is stored."""
        return self.folder / sha256[:2] / f"{sha256[2:]}.zst"

    def keep(self, data: bytes) -> str:
        """Write beside, fsync, rename, fsync the folder: a reader never sees half a file, a crash loses none."""
        sha256 = hashlib.sha256(data).hexdigest()
        target = self.path(sha256)
        if target.exists():
            return sha256
        target.parent.mkdir(exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(zstandard.compress(data, LEVEL))
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _fsync_folder(target.parent)
        _fsync_folder(self.folder)
        return sha256

    def load(self, sha256: str) -> bytes:
        """Read, inflate and check the file."""
        try:
            packed = self.path(sha256).read_bytes()
        except FileNotFoundError:
            raise FileMissing(f"no stored file {sha256}") from None
        try:
            data = zstandard.decompress(packed)
        except zstandard.ZstdError as error:
            raise FileDamaged(f"stored file {sha256}: {error}") from None
        if hashlib.sha256(data).hexdigest() != sha256:
            raise FileDamaged(f"stored file {sha256} has other bytes than were stored")
        return data


def _fsync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
