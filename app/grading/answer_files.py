"""From uploaded files to one answer a case: which file is for which case, and what a hostile archive may not do.

Sizes in an archive's headers are never believed: bytes are counted as they inflate. Anything odd about an archive as a
whole refuses the whole submission, before anything is stored; a single answer that is too large only rejects its case.
"""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import IO

PATTERNS = ("{case}.out", "{case}.ans", "{case}.txt", "output_{case}.txt")
CHUNK = 1 << 16
LONGEST_NAME = 255
MOST_SUGGESTIONS = 20
"""Looking for the nearest name costs a comparison with every name there is, so only so many files get one."""
DIRECTORY_ENTRY = b"PK\x01\x02"
DIRECTORY_ENTRY_BYTES = 46
RATIO_MATTERS_FROM = 1 << 20
ENCRYPTED = 0x1
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
TAR, TAR_AT = b"ustar", 257
UNREADABLE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError, OverflowError)
"""What zipfile raises for damaged archives, NotImplementedError being a RuntimeError."""
ARCHIVE_NAMES = (".zip", ".rar", ".7z", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".zst")


class UploadRefused(Exception):
    """The whole upload is refused; nothing of it is stored. `status` is the HTTP status that says so best."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes an archive may inflate to, files it may hold, and how many times its packed size it may reach."""

    inflated: int
    files: int
    ratio: int


@dataclass(frozen=True, slots=True)
class OpenCase:
    """A case that answers are taken for: its row, its name, and the bytes an answer may have."""

    id: int
    name: str
    limit: int


@dataclass(frozen=True, slots=True)
class Upload:
    """One uploaded file: the name it was sent under, and its bytes as a seekable stream."""

    name: str
    stream: IO[bytes]


@dataclass(frozen=True, slots=True)
class Answer:
    """One case's file: its bytes, or None where it is larger than the case allows (`size` is then the limit + 1)."""

    case: OpenCase
    file_name: str
    data: bytes | None
    size: int


@dataclass(frozen=True, slots=True)
class FileNote:
    """What became of one file: taken for a case, or ignored and why."""

    name: str
    case: str | None
    ignored: str | None = None

    def as_json(self) -> dict[str, str | None]:
        """The form it is stored and shown in."""
        return {"name": self.name, "case": self.case, "ignored": self.ignored}


@dataclass
class Collected:
    """Everything taken from an upload, and a note on every file."""

    answers: dict[str, Answer] = field(default_factory=dict)
    notes: list[FileNote] = field(default_factory=list)
    suggested: int = 0

    def nearest(self, name: str, names: Mapping[str, OpenCase]) -> str:
        """Suggest the name that may have been meant, for the first few files only."""
        self.suggested += 1
        return _nearest(name, names) if self.suggested <= MOST_SUGGESTIONS else ""


def collect(
    uploads: Sequence[Upload],
    cases: Sequence[OpenCase],
    names: Mapping[str, OpenCase],
    limits: Limits,
    *,
    testcase: str | None = None,
) -> Collected:
    """Sort uploaded files to cases by `file_names`. Raises UploadRefused with a sentence that says where and why."""
    found = Collected()
    if not uploads:
        raise UploadRefused("files: expected at least one file, found none")
    for upload in uploads:
        check_name(upload)
        kind = archive_kind(upload.stream)
        if kind == "zip":
            _take_archive(upload, names, limits, found)
        elif kind is not None:
            raise UploadRefused(f"{upload.name}: expected a zip archive or plain answer files, found a {kind} archive")
        else:
            _take_plain(upload, names, cases, testcase if len(uploads) == 1 else None, len(uploads) == 1, found)
    if not found.answers:
        raise UploadRefused(_nothing_taken(found, names))
    return found


def file_names(cases: Sequence[OpenCase], pattern: str | None) -> Mapping[str, OpenCase]:
    """Every file name that is taken, and its case. Earlier patterns win where two cases could claim one name."""
    names: dict[str, OpenCase] = {}
    for each in (pattern,) if pattern else PATTERNS:
        for case in cases:
            names.setdefault(each.replace("{case}", case.name), case)
    return names


def archive_kind(stream: IO[bytes]) -> str | None:
    """Tell an archive by its first bytes; None for a plain file."""
    stream.seek(0)
    start = stream.read(TAR_AT + len(TAR))
    stream.seek(0)
    return archive_kind_of(start)


def base_name(path: str) -> str:
    """A file's name without its folders."""
    return path.rsplit("/", 1)[-1]


def check_name(upload: Upload) -> None:
    """Raise UploadRefused for a file, answers or sources, that was sent under a name that cannot be kept."""
    if (fault := name_fault(upload.name)) is not None:
        raise UploadRefused(f"files: {upload.name[:80]!r}: {fault}")


def name_fault(name: str) -> str | None:
    """Say why a name cannot be kept and sent back in an archive; None where it can."""
    parts = name.replace("\\", "/").split("/")
    if len(name) > LONGEST_NAME:
        return f"expected a name of at most {LONGEST_NAME} characters, found {len(name)}"
    if any(ord(letter) < 32 or letter == "\x7f" or "\ud800" <= letter <= "\udfff" for letter in name):
        return "expected a name of letters, found a control character"
    if name.startswith(("/", "\\")) or ".." in parts or (len(name) > 1 and name[1] == ":"):
        return "expected a path inside the archive, found one that escapes it"
    return None


def _take_plain(
    upload: Upload,
    names: Mapping[str, OpenCase],
    cases: Sequence[OpenCase],
    testcase: str | None,
    alone: bool,
    found: Collected,
) -> None:
    name = base_name(upload.name)
    case = names.get(name)
    if testcase is not None:
        case = next((c for c in cases if c.name == testcase), None)
        if case is None:
            raise UploadRefused(
                f"testcase: expected the name of a test case, found {testcase!r}{_nearest(testcase, names)}"
            )
    elif case is None and alone and len(cases) == 1:
        case = cases[0]
    if case is None:
        found.notes.append(FileNote(upload.name, None, f"no test case of this name{found.nearest(name, names)}"))
        return
    data = upload.stream.read(case.limit + 1)
    _take(found, case, upload.name, data)


def _take(found: Collected, case: OpenCase, file_name: str, data: bytes) -> None:
    earlier = found.answers.get(case.name)
    if earlier is not None:
        raise UploadRefused(
            f"{file_name}: expected one file for case {case.name}, found a second one beside {earlier.file_name}"
        )
    kept = data if len(data) <= case.limit else None
    found.answers[case.name] = Answer(case, file_name, kept, len(data))
    found.notes.append(FileNote(file_name, case.name))


def _take_archive(upload: Upload, names: Mapping[str, OpenCase], limits: Limits, found: Collected) -> None:
    _check_directory(upload, limits)
    try:
        with zipfile.ZipFile(upload.stream) as archive:
            entries = archive.infolist()
            _check_entries(upload.name, entries, limits)
            budget = _Budget(upload.name, limits, packed=_size(upload.stream))
            for entry in entries:
                _take_entry(archive, entry, names, budget, found)
    except UNREADABLE as error:
        raise UploadRefused(f"{upload.name}: expected a readable zip archive, found a damaged one ({error})") from None


def _check_directory(upload: Upload, limits: Limits) -> None:
    """Refuse an archive of too many files before its directory is read, every entry of which becomes an object."""
    if _size(upload.stream) <= limits.files * DIRECTORY_ENTRY_BYTES:
        return
    upload.stream.seek(0)
    count, tail = 0, b""
    while piece := upload.stream.read(CHUNK):
        count += (tail + piece).count(DIRECTORY_ENTRY)
        tail = piece[1 - len(DIRECTORY_ENTRY) :]
    upload.stream.seek(0)
    if count > limits.files:
        raise UploadRefused(f"{upload.name}: expected at most {limits.files} files, found {count}", 413)


def _size(stream: IO[bytes]) -> int:
    at = stream.tell()
    size = stream.seek(0, 2)
    stream.seek(at)
    return size


def _check_entries(archive_name: str, entries: Sequence[zipfile.ZipInfo], limits: Limits) -> None:
    """Refuse what no honest archive of answers holds, before a byte is inflated."""
    if len(entries) > limits.files:
        raise UploadRefused(f"{archive_name}: expected at most {limits.files} files, found {len(entries)}", 413)
    for entry in entries:
        fault = _entry_fault(entry)
        if fault is not None:
            raise UploadRefused(f"{archive_name}: {entry.filename[:80]!r}: {fault}")


def _entry_fault(entry: zipfile.ZipInfo) -> str | None:
    name = entry.filename
    if not name:
        return "expected a name, found none"
    if (fault := name_fault(name)) is not None:
        return fault
    if entry.flag_bits & ENCRYPTED:
        return "expected a plain file, found an encrypted one"
    if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        return f"expected a stored or deflated file, found compression method {entry.compress_type}"
    mode = entry.external_attr >> 16
    if mode and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_IFMT(mode) == 0):
        return "expected a plain file, found a symbolic link or a special file"
    if not entry.is_dir() and not _is_litter(name) and name.lower().endswith(ARCHIVE_NAMES):
        return "expected a plain file, found an archive inside the archive"
    return None


def _is_litter(name: str) -> bool:
    """What operating systems leave in archives, and nobody means to submit."""
    parts = [part for part in name.split("/") if part]
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)


@dataclass
class _Budget:
    """Bytes that may still be inflated."""

    archive_name: str
    limits: Limits
    packed: int
    used: int = 0

    def spend(self, count: int) -> None:
        """Count inflated bytes; refuse the archive once it is over a limit."""
        self.used += count
        if self.used > self.limits.inflated:
            raise UploadRefused(
                f"{self.archive_name}: expected at most {self.limits.inflated} bytes inside, found more", 413
            )
        if self.used > RATIO_MATTERS_FROM and self.used > self.limits.ratio * max(self.packed, 1):
            raise UploadRefused(f"{self.archive_name}: inflates to more than {self.limits.ratio} times its size", 413)


def _take_entry(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, names: Mapping[str, OpenCase], budget: _Budget, found: Collected
) -> None:
    if entry.is_dir():
        return
    name = base_name(entry.filename)
    case = names.get(name)
    if case is None or _is_litter(entry.filename):
        why = (
            "left by the operating system"
            if _is_litter(entry.filename)
            else f"no test case of this name{found.nearest(name, names)}"
        )
        found.notes.append(FileNote(entry.filename, None, why))
        return
    data = b"".join(_inflate(archive, entry, case.limit + 1, budget))
    if archive_kind_of(data) is not None:
        raise UploadRefused(
            f"{budget.archive_name}: {entry.filename!r}: expected a plain file, found an archive inside the archive"
        )
    _take(found, case, entry.filename, data)


def archive_kind_of(data: bytes) -> str | None:
    """Tell an archive by the first of its bytes."""
    if data[TAR_AT : TAR_AT + len(TAR)] == TAR:
        return "tar"
    return next((kind for magic, kind in ARCHIVES.items() if data.startswith(magic)), None)


def _inflate(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int, budget: _Budget) -> Iterator[bytes]:
    """Inflate at most `most` bytes of an entry; reading to its end also checks its CRC."""
    left = most
    with archive.open(entry) as stream:
        while left > 0 and (piece := stream.read(min(CHUNK, left))):
            budget.spend(len(piece))
            left -= len(piece)
            yield piece


def _nearest(name: str, names: Mapping[str, OpenCase] | Sequence[str]) -> str:
    close = get_close_matches(name, list(names), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _nothing_taken(found: Collected, names: Mapping[str, OpenCase]) -> str:
    example = next(iter(names), None)
    if example is None:
        return "files: the problem has no open test case"
    sent = ", ".join(note.name for note in found.notes[:3]) or "an empty archive"
    return f"files: expected files named after test cases, such as {example}, found {sent}"
