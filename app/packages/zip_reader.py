"""Zips from strangers: which entries are refused, and how their bytes are read. Packages and uploads share this reader.

Sizes in an archive's headers are never believed: bytes are counted as they inflate. Nothing is written to disk here.
"""

from __future__ import annotations

import errno
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

CHUNK = 1 << 16
LOCAL_HEADER = 30
"""Bytes of the header before each file, without the file's name."""
ENCRYPTED = 0x1
UTF8 = 0x800
"""The flag of names in UTF-8; others are in code page 437."""
PLAIN_OR_FOLDER = (0, stat.S_IFREG, stat.S_IFDIR)
"""Kinds of files that are taken; 0 is what archivers of other systems leave there."""
DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OverflowError)
"""Exceptions that zipfile raises for damaged archives; that of an unknown method is a kind of RuntimeError."""


MOST_ENTRIES = 100_000
"""Entries of any archive that are read: a million of them take half a minute and 600 MB, in an archive of 50 MB."""


class _Entries(list[zipfile.ZipInfo]):
    """The entries of an archive while zipfile reads them, up to the first of too many."""

    def append(self, entry: zipfile.ZipInfo, /) -> None:
        if len(self) >= MOST_ENTRIES:
            raise zipfile.BadZipFile(f"expected at most {MOST_ENTRIES} entries, found more")
        super().append(entry)


class _BoundedZip(zipfile.ZipFile):
    """A zip that stops reading its directory at the first of too many entries."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, _Entries() if name == "filelist" else value)


class ZipUnreadable(Exception):
    """The archive is damaged; the text is the library's reason."""


@contextmanager
def open_zip(source: IO[bytes] | Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip; raises ZipUnreadable for a damaged one. What the caller's block raises passes as it is."""
    with _zipfile_at_work():
        archive = _BoundedZip(source)
    with archive:
        _refuse_overlaps(archive)
        yield archive


def _refuse_overlaps(archive: zipfile.ZipFile) -> None:
    """Raise ZipUnreadable where an entry shares bytes with another, or reaches into the directory.

    A few kilobytes inflate to any number where entries share them.
    """
    end, before = 0, ""
    for entry in sorted(archive.infolist(), key=lambda each: each.header_offset):
        if entry.header_offset < end:
            raise ZipUnreadable(f"the files {before[:80]!r} and {entry.filename[:80]!r} overlap")
        name = entry.orig_filename.encode("utf-8" if entry.flag_bits & UTF8 else "cp437")
        end = entry.header_offset + LOCAL_HEADER + len(name) + entry.compress_size
        before = entry.filename
    if end > archive.start_dir:
        raise ZipUnreadable(f"the file {before[:80]!r} reaches beyond its place")


@contextmanager
def _zipfile_at_work() -> Iterator[None]:
    """Name the archive's damage where zipfile meets it; only calls of zipfile may stand in the block."""
    try:
        yield
    except (*DAMAGED, OSError) as error:
        if (fault := _machine_fault(error)) is not None:
            raise fault from None
        raise ZipUnreadable(str(error)) from error


def _machine_fault(error: Exception) -> OSError | None:
    """The fault of this machine behind what zipfile raised; None where the archive is damaged."""
    # Opening calls a file that cannot be read "not a zip file", and leaves the reason behind it.
    cause = error.__context__ if isinstance(error, zipfile.BadZipFile) else error
    # EINVAL comes from a place that no file has, which only the archive can have named.
    return cause if isinstance(cause, OSError) and cause.errno != errno.EINVAL else None


def is_link(entry: zipfile.ZipInfo) -> bool:
    """Return whether an entry is a symbolic link, whose bytes are the path of its target."""
    return stat.S_ISLNK(entry.external_attr >> 16)


def entry_fault(entry: zipfile.ZipInfo, *, links: bool = False) -> str | None:
    """The fault of an entry, whatever its name; None for a sound one. `links`: the caller follows symbolic links."""
    if entry.flag_bits & ENCRYPTED:
        return "expected a plain file, found an encrypted one"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"expected a stored or deflated file, found compression method {entry.compress_type}"
    if stat.S_IFMT(entry.external_attr >> 16) not in PLAIN_OR_FOLDER and not (links and is_link(entry)):
        return "expected a plain file, found a symbolic link or a special file"
    return None


def inflate(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int, spend: Callable[[int], None]) -> bytes:
    """Read at most `most` bytes of an entry; as `inflated`."""
    return b"".join(inflated(archive, entry, most, spend))


def inflated(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int, spend: Callable[[int], None]
) -> Iterator[bytes]:
    """Yield at most `most` bytes of an entry in pieces; `spend` is called with the size of each and may raise to stop.

    Raises ZipUnreadable for a damaged archive. Only reading to the end checks the CRC: ask for one byte more than is
    taken.
    """
    left = most
    with _zipfile_at_work():
        stream = archive.open(entry)
    with stream:
        while left:
            with _zipfile_at_work():
                piece = stream.read(min(CHUNK, left))
            if not piece:
                break
            spend(len(piece))
            left -= len(piece)
            yield piece
