"""Zips made on demand: the same files give the same bytes, whatever machine and hour.

- Zips from strangers: which entries are refused, and how their bytes are read. Packages and uploads share this reader.
"""

import errno
import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from app.core import faults
from app.core.files.temporary import whole_file
from checkers.doors import N_, Phrase

EPOCH = (1980, 1, 1, 0, 0, 0)
PLAIN_FILE = 0o100644 << 16
UNIX = 3
# Levels of compression: large files take the quick one, which needs a third of the time.
THOROUGH, QUICK = 6, 1
LARGE = 4 * 2**20


def zip_bytes(files: Mapping[str, bytes]) -> bytes:
    """A zip of some files by their paths, sorted, in memory."""
    buffer = io.BytesIO()
    write_files(buffer, files)
    return buffer.getvalue()


def write_files(target: IO[bytes], files: Mapping[str, bytes], steps: faults.Steps = faults.SILENT) -> None:
    """Write a zip of some files by their paths, sorted, to an open file, with one of them in memory at a time."""
    _write(target, ((name, files[name]) for name in steps.over("packing", sorted(files))))


def kept_zip(path: Path, names: Iterable[str], load: Callable[[str], bytes]) -> Path:
    """A zip at `path`, made if it is missing, with one file in memory at a time; readers never see half of one."""
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        _write(file, ((each, load(each)) for each in sorted(names)))
    return path


def write_zip(target: IO[bytes], files: Iterable[tuple[str, Iterable[bytes]]]) -> None:
    """Write a zip of files, each in pieces.

    One piece is in memory at a time. A list of pieces is of a small file; others may be of any size.
    """
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=THOROUGH) as archive:
        for name, pieces in files:
            with archive.open(_entry(name), "w", force_zip64=not isinstance(pieces, list)) as file:
                for piece in pieces:
                    file.write(piece)


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


CHUNK = 1 << 16
# Bytes of the header before each file, without the file's name.
LOCAL_HEADER = 30
ENCRYPTED = 0x1
# The flag of names in UTF-8; others are in code page 437.
UTF8 = 0x800
# Kinds of files that are taken; 0 is what archivers of other systems leave there.
PLAIN_OR_FOLDER = (0, stat.S_IFREG, stat.S_IFDIR)
# Exceptions that zipfile raises for damaged archives; that of an unknown method is a kind of RuntimeError.
DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OverflowError)


# Entries of any archive that are read: a million of them take half a minute and 600 MB, in an archive of 50 MB.
MOST_ENTRIES = 100_000


class _ZipReaderEntries(list[zipfile.ZipInfo]):
    """The entries of an archive while zipfile reads them, up to the first of too many."""

    def append(self, entry: zipfile.ZipInfo, /) -> None:
        if len(self) >= MOST_ENTRIES:
            raise zipfile.BadZipFile(f"expected at most {MOST_ENTRIES} entries, found more")
        super().append(entry)


class _BoundedZip(zipfile.ZipFile):
    """A zip that stops reading its directory at the first of too many entries."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, _ZipReaderEntries() if name == "filelist" else value)


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


def entry_fault(entry: zipfile.ZipInfo) -> str | None:
    """The fault of an entry, whatever its name; None for a sound one."""
    if entry.flag_bits & ENCRYPTED:
        return faults.mismatch(N_("a plain file"), N_("an encrypted one"))
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return faults.mismatch(
            N_("a stored or deflated file"), Phrase(N_("compression method %(number)s"), number=entry.compress_type)
        )
    if stat.S_IFMT(entry.external_attr >> 16) not in PLAIN_OR_FOLDER:
        return faults.mismatch(N_("a plain file"), N_("a symbolic link or a special file"))
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
