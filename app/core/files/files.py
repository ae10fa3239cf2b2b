"""The port of content-addressed files: named by their sha256, compressed with zstd, durable before anyone is told.

Two stores implement it: a local folder (`app.core.files.open_files`) and S3 (`app.core.files.s3_files`); both use the
same names for the same compressed bytes, so that either can be copied to the other by any tool.

- Files of what is refused in the end are collected later, as no row names them (`app.archive.queries.scrub`).
"""

from __future__ import annotations

import errno
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol, TypeAlias

import zstandard

from app.core.files.stored_bytes import FileDamaged, FileMissing

if TYPE_CHECKING:
    from app.core.files.open_files import LocalFiles
    from app.core.files.s3_files import S3Files


PIECE = 128 * 1024
LEVEL = 1  # 866 MB/s, and answer files are digits and spaces: higher levels gain little
SUFFIX = ".zst"
SECONDS_UNFINISHED = 3600.0
NAME = re.compile(r"([0-9a-f]{2})/([0-9a-f]{62})\.zst")
# A value that changes when a file is written again, or may be readable again.
State = tuple[int, ...] | None
# A whole store. Errors of a store that is away or full are OSErrors; the file itself may be sound then.
Files: TypeAlias = "LocalFiles | S3Files"


class FileStore(Protocol):
    """What most code needs of a store: bytes go in, and come back by their sha256."""

    def keep(self, data: bytes) -> str:
        """Store `data` durably and return its sha256 in hex; bytes that are stored already are read and compared."""

    def keep_file(self, path: Path) -> str:
        """Store the bytes of a file as `keep` does, in pieces."""

    def load(self, sha256: str) -> bytes:
        """Give the bytes back; raises FileMissing, or FileDamaged if they are not what was stored."""

    def pieces(self, sha256: str) -> Iterator[bytes]:
        """Give the bytes back in pieces; raises as `load` does."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of the store: its name, its size as stored, in bytes, and when its bytes were last kept (Unix time)."""

    sha256: str
    size: int
    stored_at: float


class OnlyHashes:
    """A file store that stores nothing: tells which files a package would have, before anything is kept of it."""

    def keep(self, data: bytes) -> str:
        """The sha256 in hex."""
        return hashlib.sha256(data).hexdigest()

    def keep_file(self, path: Path) -> str:
        """The sha256 in hex."""
        return digest_of(path)

    def load(self, sha256: str) -> bytes:
        """Nothing is here."""
        raise FileMissing(f"no stored file {sha256}")

    def pieces(self, sha256: str) -> Iterator[bytes]:
        """Nothing is here."""
        raise FileMissing(f"no stored file {sha256}")


def name_of(sha256: str) -> str:
    """The name of a file in any store: `ab/cdef....zst`."""
    return f"{sha256[:2]}/{sha256[2:]}{SUFFIX}"


def sha256_of(name: str) -> str | None:
    """The sha256 of the file of a name; None for a name of something else."""
    match = NAME.fullmatch(name)
    return None if match is None else match[1] + match[2]


def digest_of(path: Path) -> str:
    """The sha256 of a file's bytes in hex, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def inflated_slowly(file: IO[bytes], sha256: str) -> Iterator[bytes]:
    """Yield the bytes of a compressed file in pieces, and close it; raises FileDamaged in place of the last piece."""
    last = b""
    with file:
        for piece in _checked(file, sha256):
            if last:
                yield last
            last = piece
    if last:
        yield last


def check_packed(sha256: str, packed: IO[bytes]) -> None:
    """Read compressed bytes to their end and go back to their start; raises FileDamaged where they are others."""
    for _ in _checked(packed, sha256):
        pass
    packed.seek(0)


def _checked(file: IO[bytes], sha256: str) -> Iterator[bytes]:
    """Inflate a file in pieces; its end raises FileDamaged where the bytes are others."""
    digest = hashlib.sha256()
    try:
        for piece in zstandard.ZstdDecompressor().read_to_iter(file, read_size=PIECE, write_size=PIECE):
            digest.update(piece)
            yield piece
    except zstandard.ZstdError as error:
        raise FileDamaged(f"stored file {sha256}: {error}") from None
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        raise FileDamaged(f"stored file {sha256}: {error.strerror}") from None
    if digest.hexdigest() != sha256:
        raise FileDamaged(f"stored file {sha256} has other bytes than were stored")
