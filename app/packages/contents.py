"""Files of a package wherever their bytes lie: each is read when it is asked for, one in memory at a time.

- Files that lie one behind the other in one file on disk: a large package as a mapping, with one of them in memory.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Self, TypeVar

P = TypeVar("P")


class SizedFiles(Mapping[str, bytes], Generic[P]):
    """Files by their paths: `places` says where each is read, and no file is read to know that it is there."""

    def __init__(self, places: Mapping[str, P]) -> None:
        self._places = dict(places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    @abstractmethod
    def size(self, name: str) -> int:
        """The bytes of a file, not read for that where its size is known."""


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
