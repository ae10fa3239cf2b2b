"""The files of a package, from a folder or from a zip, as one mapping from relative path to bytes.

- Symbolic links: one in a folder that stays in its package stands for what it leads to; archives have none.
"""

import io
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from app.core.faults import MORE, Faults, PackageError, PackageErrors, mismatch
from app.packages import contents, zips
from checkers.doors import N_, Phrase

NAME = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,254}")
LONGEST_ID = 36
SLUG = re.compile(rf"[a-z0-9]{{1,{LONGEST_ID}}}")
DRIVE = re.compile(r"[A-Za-z]:")
IGNORED = frozenset({"__pycache__", "__MACOSX"})
# Archives below this size may inflate as far as one of it.
SMALLEST = 1024
LONGEST_PATH = 1000
DEEPEST = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a package: files, bytes of all files and of one, and the ratio to which an archive may inflate.

    `nested`: bytes of a file that is an archive itself; None: as of any other.
    """

    files: int = 50_000
    total: int = 256 * 2**20
    single: int = 100 * 2**20
    ratio: int = 1000
    archive: int = 128 * 2**20
    nested: int | None = None

    def most_of(self, name: str) -> int:
        """The bytes that a file of this name may have."""
        return self.nested if self.nested is not None and name.endswith(".zip") else self.single


LIMITS = Limits()
# Limits where files are read one by one: the settings of a service let packages be as large at first.
LARGEST = Limits(total=4 * 2**30, archive=2 * 2**30)


class FolderFiles(contents.SizedFiles[Path]):
    """The files below a folder; each is read when asked for."""

    def size(self, name: str) -> int:
        """The bytes of a file."""
        return self._places[name].stat().st_size

    def __getitem__(self, name: str) -> bytes:
        return self._places[name].read_bytes()


def folder_files(root: Path, faults: Faults, limits: Limits = LARGEST) -> FolderFiles:
    """List the files below `root`, sorted, links in it followed; notes bad links and names, and what is too large."""
    files = FolderFiles({name: root / name for name in sorted(_walk(root, "", (root.resolve(),), faults))})
    _check_sizes({name: files.size(name) for name in files}, faults, limits)
    return files


def check_zip(files: Mapping[str, bytes], size: int, limits: Limits = LIMITS) -> None:
    """Raise PackageErrors for what reading a zip of these files, of `size` bytes, would refuse; inflates nothing."""
    faults = Faults()
    sizes = {name: contents.size_of(files, name) for name in files}
    _check_sizes(sizes, faults, limits)
    for name in files:
        if not all(NAME.fullmatch(part) for part in name.split("/")):
            faults.add(name[:300], BAD_NAME)
        elif (fault := _path_fault(name)) is not None:
            faults.add(name[:300], fault)
    _refuse_files_as_folders(files.keys(), faults)
    if size > limits.archive:
        faults.expect("", "", N_("an archive of at most %(archive)s bytes"), str(size), archive=limits.archive)
    total, most = sum(sizes.values()), max(size, SMALLEST) * limits.ratio
    if total > most:
        faults.expect("", "", N_("at most %(most)s bytes in all files of so small an archive"), str(total), most=most)
    faults.settle()


def archive_files(
    source: bytes | Path, limits: Limits = LIMITS, unread: Collection[str] = (), spool: Path | None = None
) -> tuple[str | None, Mapping[str, bytes]]:
    """Inflate a zip: (the name of its one top folder, or None if its files lie at the root; the files).

    The files are in memory, or, one behind the other, in the new file `spool`, and only one of them in memory. Files at
    the top that are `unread` are not inflated, however large they are. Raises PackageErrors with every fault of the
    archive's names; at the first one that goes over a limit while inflating it stops there.
    """
    faults = Faults()
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    if size > limits.archive:
        message = mismatch(N_("an archive of at most %(archive)s bytes"), str(size), archive=limits.archive)
        raise PackageErrors([PackageError("", "", message)])
    try:
        with zips.open_zip(io.BytesIO(source) if isinstance(source, bytes) else source) as archive:
            members = _members(archive, faults, limits)
            _refuse_files_as_folders(members, faults)
            faults.settle()
            members = {name: info for name, info in members.items() if _below_top(name) not in unread}
            inflating = _inflated(archive, members, size, limits)
            files = (
                {name: b"".join(pieces) for name, pieces in inflating}
                if spool is None
                else contents.SpooledFiles.written(spool, inflating)
            )
    except zips.ZipUnreadable as error:
        raise PackageErrors(
            [PackageError("", "", Phrase(N_("not a readable zip archive: %(error)s"), error=error))]
        ) from error
    return _without_top(files)


def _check_sizes(sizes: Mapping[str, int], faults: Faults, limits: Limits) -> None:
    total = sum(sizes.values())
    if len(sizes) > limits.files:
        faults.expect("", "", N_("at most %(files)s files"), str(len(sizes)), files=limits.files)
    if total > limits.total:
        faults.expect("", "", N_("at most %(total)s bytes in all files"), str(total), total=limits.total)
    for name, size in sizes.items():
        if size > (most := limits.most_of(name)):
            faults.expect(name, "", N_("at most %(most)s bytes"), str(size), most=most)


def _walk(folder: Path, prefix: str, opened: tuple[Path, ...], faults: Faults) -> Iterator[str]:
    """Yield the paths of the files below a folder; `opened` are its real path and those above it, the package first."""
    for entry in sorted(folder.iterdir()):
        path = f"{prefix}{entry.name}"
        if _ignored(entry.name):
            continue
        if entry.is_symlink() and (fault := _link_fault(entry, opened)):
            faults.add(path, fault)
        elif not NAME.fullmatch(entry.name):
            faults.add(path, BAD_NAME)
        elif entry.is_dir():
            yield from _walk(entry, f"{path}/", (*opened, entry.resolve()), faults)
        elif entry.is_file():
            yield path
        else:
            faults.expect(path, "", N_("a file or folder"), Phrase(N_("something else")))


def _link_fault(link: Path, opened: tuple[Path, ...]) -> str | None:
    """Return why a link is not followed, or None; `opened` are the real folders above it, the package first."""
    shown = Phrase("one to %(target)s", target=str(link.readlink())[:200])
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):  # Python before 3.13 raises RuntimeError for a loop
        return mismatch("a symbolic link to a file or folder", shown)
    if not target.is_relative_to(opened[0]):
        return mismatch("a symbolic link that stays in the package", shown)
    return mismatch("no symbolic link to a folder that it lies in", shown) if target in opened else None


BAD_NAME = "expected a name of letters, digits, `.`, `-`, `_` that begins with a letter, digit or `_` (at most 255)"


def _ignored(name: str) -> bool:
    return name.startswith(".") or name in IGNORED or name.endswith(".pyc")


def _members(archive: zipfile.ZipFile, faults: Faults, limits: Limits) -> dict[str, zipfile.ZipInfo]:
    """Choose the files to inflate by their names alone."""
    members: dict[str, zipfile.ZipInfo] = {}
    infos = archive.infolist()
    if len(infos) > 2 * limits.files:
        faults.expect("", "", N_("at most %(files)s files"), str(len(infos)), files=limits.files)
        return members
    for info in infos:
        name = info.filename
        fault = _path_fault(name) or zips.entry_fault(info)
        if fault:
            faults.add(name[:300], fault)
        elif any(_ignored(part) for part in name.rstrip("/").split("/")) or name.endswith("/"):
            continue
        elif not all(NAME.fullmatch(part) for part in name.split("/")):
            faults.add(name[:300], BAD_NAME)
        elif name in members:
            faults.add(name, Phrase(N_("two files have this name")))
        else:
            members[name] = info
    _refuse_names_of_one_case(members, faults)
    if len(members) > limits.files:
        faults.expect("", "", N_("at most %(files)s files"), str(len(members)), files=limits.files)
    return members


def _refuse_names_of_one_case(names: Collection[str], faults: Faults) -> None:
    """Note files whose paths differ in upper and lower case only: on some machines they are one file."""
    first: dict[str, str] = {}
    for name in sorted(names):
        other = first.setdefault(name.casefold(), name)
        if other != name:
            double = Phrase(N_("also %(other)s"), other=other)
            faults.expect(name, "", N_("names that differ in more than upper and lower case"), double)


def _refuse_files_as_folders(names: Collection[str], faults: Faults) -> None:
    """Note files that are folders of others, as `a` of `a/b`; in this order the one follows the other."""
    for first, second in pairwise(sorted(names, key=lambda name: name.replace("/", "\0"))):
        if second.startswith(f"{first}/"):
            faults.expect(second, "", N_("folders above it"), Phrase(N_("that %(first)s is a file"), first=first))


def _below_top(name: str) -> str:
    top, _, rest = name.partition("/")
    return rest or top


def _path_fault(path: str) -> str | None:
    parts = path.split("/")
    if path.startswith("/") or "\\" in path or DRIVE.match(path):
        return "expected a relative path with `/`"
    if len(parts) > DEEPEST or len(path) > LONGEST_PATH:
        source = N_("expected a path of at most %(most)s characters and %(deepest)s folders")
        return Phrase(source, most=LONGEST_PATH, deepest=DEEPEST)
    if ".." in parts or "." in parts:
        return mismatch(N_("a path inside the package"), N_("`..` or `.`"))
    return None


def _inflated(
    archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo], size: int, limits: Limits
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield every member in pieces, one after the other, within the limits of one file and of all."""
    most = min(limits.total, max(size, SMALLEST) * limits.ratio)
    used = 0

    def pieces_of(name: str) -> Iterator[bytes]:
        single = limits.most_of(name)
        before = used

        def spend(count: int) -> None:
            nonlocal used
            used += count
            if used > most or used - before > single:
                message = mismatch(
                    N_("at most %(single)s bytes in a file and %(most)s in all"), MORE, single=single, most=most
                )
                raise PackageErrors([PackageError(name, "", message)])

        return zips.inflated(archive, members[name], single + 1, spend)

    for name in sorted(members):
        yield name, pieces_of(name)


def _without_top(files: dict[str, bytes] | contents.SpooledFiles) -> tuple[str | None, Mapping[str, bytes]]:
    tops = {name.split("/")[0] for name in files}
    if len(tops) != 1 or "problem.yaml" in files or not files:
        return None, files
    (top,) = tops
    if top in files:
        return None, files
    if isinstance(files, contents.SpooledFiles):
        return top, files.below(top)
    return top, {name[len(top) + 1 :]: data for name, data in files.items()}
