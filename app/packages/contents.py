"""Files of a package wherever their bytes lie: each is read when it is asked for, one in memory at a time.

- Files that lie one behind the other in one file on disk: a large package as a mapping, with one of them in memory.
- Symbolic links of packages: one that stays in its package stands for what it leads to, in folders and in archives.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Self, TypeVar

from app.core.faults import MORE, Faults, mismatch
from checkers.doors import N_, Phrase

P = TypeVar("P")


class PlacedFiles(Mapping[str, bytes], Generic[P]):
    """Files by their paths: `places` says where each is read, and no file is read to know that it is there."""

    def __init__(self, places: Mapping[str, P]) -> None:
        self._places = dict(places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class SizedFiles(PlacedFiles[P]):
    """Files by their paths, whose sizes are known unread."""

    @abstractmethod
    def size(self, name: str) -> int:
        """The bytes of a file."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of a package: `path` relative to its root, with `/`; bytes are fetched when asked for."""

    path: str
    files: Mapping[str, bytes] = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def size(self) -> int:
        """The number of its bytes."""
        return size_of(self.files, self.path)

    def read(self) -> bytes:
        """Fetch the bytes."""
        return self.files[self.path]


# The bytes of a file, or the place where they are read.
Content = bytes | File


class ComposedFiles(SizedFiles[Content]):
    """Files put together from several places. It may be pickled if those places may."""

    def size(self, name: str) -> int:
        """The bytes of a file."""
        content = self._places[name]
        return len(content) if isinstance(content, bytes) else content.size

    def __getitem__(self, name: str) -> bytes:
        return bytes_of(self._places[name])


def bytes_of(content: Content) -> bytes:
    """The bytes of a file, read where they lie elsewhere."""
    return content if isinstance(content, bytes) else content.read()


def size_of(files: Mapping[str, bytes], name: str) -> int:
    """The bytes of a file, not read for that where its size is known."""
    return files.size(name) if isinstance(files, SizedFiles) else len(files[name])


def total_size(files: Mapping[str, bytes]) -> int:
    """The bytes of all files."""
    return sum(size_of(files, name) for name in files)


COPIED_AT_ONCE = 2**20


class SpooledFiles(SizedFiles[tuple[int, int]]):
    """Files by their paths; each is read when it is asked for. It may be pickled, and is good while its file is there.

    `places`: where each begins, and its size, in bytes.
    """

    def __init__(self, path: str, places: Mapping[str, tuple[int, int]]) -> None:
        super().__init__(places)
        self._path = path

    @classmethod
    def written(cls, path: Path, files: Iterable[tuple[str, Iterable[bytes]]]) -> Self:
        """Write files, each in pieces as they come, behind what is in the spool already."""
        places = {}
        with path.open("ab") as spool:
            for name, pieces in files:
                begin = spool.tell()
                spool.writelines(pieces)
                places[name] = (begin, spool.tell() - begin)
        return cls(str(path), places)

    def below(self, top: str) -> SpooledFiles:
        """The same files without the folder that all of them lie in."""
        return SpooledFiles(self._path, {name.removeprefix(f"{top}/"): at for name, at in self._places.items()})

    def size(self, name: str) -> int:
        """The bytes of a file."""
        return self._places[name][1]

    def copy(self, name: str, target: Path) -> Path:
        """Write one file, however large, to a new file; returns its path."""
        at, size = self._places[name]
        with open(self._path, "rb") as spool, target.open("xb") as file:
            spool.seek(at)
            for left in range(size, 0, -COPIED_AT_ONCE):
                file.write(spool.read(min(left, COPIED_AT_ONCE)))
        return target

    def __getitem__(self, name: str) -> bytes:
        at, size = self._places[name]
        with open(self._path, "rb") as spool:
            spool.seek(at)
            return spool.read(size)


OUTSIDE = ("a symbolic link that stays in the package", "one to %(target)s")
NOWHERE = ("a symbolic link to a file or folder", "one to %(target)s, which does not exist")
AROUND = ("no symbolic link to a folder that it lies in", "one to %(target)s")
# Links on the way to one file, as in Linux.
MOST_HOPS = 40


def _link_fault(sources: tuple[str, str], target: str) -> Phrase:
    expected, found = sources
    return mismatch(expected, Phrase(found, target=target))


def link_fault(link: Path, opened: tuple[Path, ...]) -> str | None:
    """Return why a link is not followed, or None; `opened` are the real folders above it, the package first."""
    shown = str(link.readlink())[:200]
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):  # Python before 3.13 raises RuntimeError for a loop
        return _link_fault(NOWHERE, shown)
    if not target.is_relative_to(opened[0]):
        return _link_fault(OUTSIDE, shown)
    return _link_fault(AROUND, shown) if target in opened else None


class ArchiveLinks:
    """The links of an archive: their texts by their paths, and the paths of its files."""

    def __init__(self, links: Mapping[str, str], files: Collection[str]) -> None:
        self._links = links
        self._files = frozenset(files)
        self._below: dict[str, set[str]] = {"": set()}
        for path in (*files, *links):
            parts = path.split("/")
            for at, name in enumerate(parts):
                self._below.setdefault("/".join(parts[:at]), set()).add(name)

    def paths(self, faults: Faults, most: int, deepest: int) -> dict[str, str]:
        """Return the file that each path leads to, links followed; notes links that lead nowhere, outside or around.

        Ends with a fault at more than `most` files and folders, since links to folders of links multiply them.
        """
        targets: dict[str, str] = {}
        pending: list[tuple[str, tuple[str, ...]]] = [("", ("",))]
        visits = 0
        while pending:
            shown, opened = pending.pop()
            for name in sorted(self._below[opened[-1]]):
                visits += 1
                path, real = _joined(shown, name), _joined(opened[-1], name)
                target = self._target(real)
                if visits > most:
                    faults.expect("", "", N_("at most %(most)s files and folders with links followed"), MORE, most=most)
                    return targets
                if target in self._files:
                    targets[path] = target
                elif (fault := self._fault(target, opened)) is not None:
                    faults.add(path[:300], _link_fault(fault, self._links.get(real, "")[:200]))
                elif len(opened) < deepest:
                    pending.append((path, (*opened, target)))
                else:
                    faults.expect(path[:300], "", N_("at most %(deepest)s folders"), MORE, deepest=deepest)
        return targets

    def _fault(self, target: str, opened: tuple[str, ...]) -> tuple[str, str] | None:
        if target == _OUT:
            return OUTSIDE
        if target not in self._below:
            return NOWHERE
        return AROUND if target in opened else None

    def _target(self, path: str) -> str:
        """Return the path of a file or folder without links on it, or `_OUT`."""
        left, real, hops = path.split("/")[::-1], list[str](), 0
        while left:
            part = left.pop()
            if part == ".." and not real:
                return _OUT
            if part == "..":
                real.pop()
            elif part not in {"", "."}:
                text = self._links.get("/".join((*real, part)))
                if text is None:
                    real.append(part)
                    continue
                hops += 1
                if text.startswith("/") or hops > MOST_HOPS:
                    return _OUT if text.startswith("/") else _LOOP
                left += text.split("/")[::-1]
        return "/".join(real)


# Neither is the path of a file or folder of an archive.
_OUT, _LOOP = "..", "."


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
