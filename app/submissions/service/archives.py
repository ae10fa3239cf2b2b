"""Uploads as they come from strangers: their names, the kinds of their files, and zips that may be hostile.

Anything odd about an archive refuses it as a whole. Limits hold for all archives of an upload together.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from app.core.messages import N_, BadRequest, Message, as_message
from app.packages.zips import CHUNK, ZipUnreadable, entry_fault, inflate, open_zip

LONGEST_NAME = 255
DIRECTORY_ENTRY = b"PK\x01\x02"
DIRECTORY_ENTRY_BYTES = 46
RATIO_MATTERS_FROM = 1 << 20
ARCHIVES = {
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"PK\x07\x08": "zip",
    b"Rar!\x1a\x07": "rar",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
MAGICS = tuple(ARCHIVES)
TAR, TAR_AT = b"ustar", 257
CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
ARCHIVE_NAMES = (".zip", ".rar", ".7z", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".zst")


class UploadRefused(BadRequest):
    """The whole upload is refused; nothing of it is stored. `too_large`: it is more than the limits allow."""

    def __init__(
        self, message: str | Message, /, *, where: str | None = None, too_large: bool = False, **values: object
    ) -> None:
        super().__init__(as_message(message, values), where=where)
        self.too_large = too_large


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of all files of one upload: bytes inflated, files, and how many times their packed size they reach."""

    inflated: int
    files: int
    ratio: int


@dataclass(frozen=True, slots=True)
class Upload:
    """One uploaded file: the name it was sent under, and its bytes as a seekable stream."""

    name: str
    stream: IO[bytes]


def check_name(upload: Upload) -> None:
    """Raise UploadRefused for a file, answers or sources, that was sent under a name that cannot be kept."""
    if (fault := name_fault(upload.name)) is not None:
        raise UploadRefused(fault, where=f"files: {upload.name[:80]!r}")


def name_fault(name: str) -> Message | None:
    """Say why a name cannot be kept and sent back in an archive; None where it can."""
    parts = name.replace("\\", "/").split("/")
    if len(name) > LONGEST_NAME:
        return Message(
            N_("expected a name of at most %(most)s characters, found %(found)s"), most=LONGEST_NAME, found=len(name)
        )
    if CONTROL.search(name):
        return Message(N_("expected a name of letters, found a control character"))
    if name.startswith(("/", "\\")) or ".." in parts or (len(name) > 1 and name[1] == ":"):
        return Message(N_("expected a path inside the archive, found one outside of it"))
    return None


def archive_kind(stream: IO[bytes]) -> str | None:
    """Tell an archive by its first bytes; None for a plain file."""
    stream.seek(0)
    start = stream.read(TAR_AT + len(TAR))
    stream.seek(0)
    return archive_kind_of(start)


def archive_kind_of(data: bytes) -> str | None:
    """Tell an archive by the first of its bytes."""
    if data[TAR_AT : TAR_AT + len(TAR)] == TAR:
        return "tar"
    if not data.startswith(MAGICS):
        return None
    return next(kind for magic, kind in ARCHIVES.items() if data.startswith(magic))


def is_litter(name: str) -> bool:
    """Tell the files that operating systems leave in archives, which no one means to submit."""
    parts = [part for part in name.split("/") if part]
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)


@contextmanager
def open_archive(upload: Upload, budget: Budget) -> Iterator[Archive]:
    """Open a zip and look at all its entries; raises UploadRefused for one that is damaged, hostile or too large."""
    _check_directory(upload, budget)
    budget.packed += _size(upload.stream)
    try:
        with open_zip(upload.stream) as archive:
            entries = archive.infolist()
            budget.add_files(upload.name, len(entries))
            for entry in entries:  # what no honest archive of answers has is refused before a byte is inflated
                if (fault := _entry_fault(entry)) is not None:
                    raise UploadRefused(fault, where=f"{upload.name}: {entry.filename[:80]!r}")
            yield Archive(upload.name, entries, archive, budget)
    except ZipUnreadable as error:
        raise UploadRefused(
            N_("expected a readable zip archive, found a damaged one (%(error)s)"), where=upload.name, error=error
        ) from None


@dataclass(frozen=True, slots=True)
class Archive:
    """A zip whose entries may be read, as long as the whole upload stays within its budget."""

    name: str
    entries: Sequence[zipfile.ZipInfo]
    _archive: zipfile.ZipFile
    _budget: Budget

    def read(self, entry: zipfile.ZipInfo, most: int) -> bytes:
        """Read at most `most` bytes of an entry; raises UploadRefused for an archive inside the archive."""
        data = inflate(self._archive, entry, most, lambda count: self._budget.spend(self.name, count))
        if archive_kind_of(data) is not None:
            where = f"{self.name}: {entry.filename!r}"
            raise UploadRefused(N_("expected a plain file, found an archive inside the archive"), where=where)
        return data


@dataclass
class Budget:
    """The part of its limits that an upload has used: files, packed bytes of its archives, bytes inflated from them."""

    limits: Limits
    files: int = 0
    packed: int = 0
    inflated: int = 0

    def add_files(self, name: str, count: int) -> None:
        """Count files; raises UploadRefused, naming the file `name`, once there are too many."""
        self.files += count
        if self.files > self.limits.files:
            raise _too_many(name, self.limits, self.files)

    def spend(self, name: str, count: int) -> None:
        """Count inflated bytes; raises UploadRefused, naming the archive `name`, once a limit is passed."""
        self.inflated += count
        if self.inflated > self.limits.inflated:
            raise UploadRefused(
                N_("expected at most %(most)s bytes inside, found more"),
                where=name,
                most=self.limits.inflated,
                too_large=True,
            )
        if self.inflated > RATIO_MATTERS_FROM and self.inflated > self.limits.ratio * max(self.packed, 1):
            raise UploadRefused(
                N_("inflates to more than %(ratio)s times its size"),
                where=name,
                ratio=self.limits.ratio,
                too_large=True,
            )


def _too_many(name: str, limits: Limits, count: int) -> UploadRefused:
    return UploadRefused(
        N_("expected at most %(most)s files in all, found %(found)s"),
        where=name,
        most=limits.files,
        found=count,
        too_large=True,
    )


def _check_directory(upload: Upload, budget: Budget) -> None:
    """Refuse an archive of too many files before its directory is read, every entry of which becomes an object.

    Signatures are counted wherever they lie, as the header that says where the directory begins may lie: an archive
    inside counts too, and is refused in any case.
    """
    left = budget.limits.files - budget.files
    if _size(upload.stream) <= left * DIRECTORY_ENTRY_BYTES:
        return
    upload.stream.seek(0)
    count, tail = 0, b""
    while piece := upload.stream.read(CHUNK):
        count += (tail + piece).count(DIRECTORY_ENTRY)
        tail = piece[1 - len(DIRECTORY_ENTRY) :]
    upload.stream.seek(0)
    if count > left:
        raise _too_many(upload.name, budget.limits, budget.files + count)


def _size(stream: IO[bytes]) -> int:
    at = stream.tell()
    size = stream.seek(0, 2)
    stream.seek(at)
    return size


def _entry_fault(entry: zipfile.ZipInfo) -> str | Message | None:
    name = entry.filename
    if not name:
        return Message(N_("expected a name, found none"))
    if (fault := name_fault(name)) is not None:
        return fault
    if (unreadable := entry_fault(entry)) is not None:
        return unreadable
    if not name.endswith("/") and not is_litter(name) and name.lower().endswith(ARCHIVE_NAMES):
        return Message(N_("expected a plain file, found an archive inside the archive"))
    return None
