"""Files of a package wherever their bytes lie: each is read when it is asked for, one in memory at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


class SizedFiles(Mapping[str, bytes]):
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


Content = bytes | File
"""The bytes of a file, or the place where they are read."""


class ComposedFiles(SizedFiles):
    """Files put together from several places. It may be pickled if those places may."""

    def __init__(self, contents: Mapping[str, Content]) -> None:
        self._contents = dict(contents)

    def size(self, name: str) -> int:
        """The bytes of a file."""
        content = self._contents[name]
        return len(content) if isinstance(content, bytes) else content.size

    def __getitem__(self, name: str) -> bytes:
        return bytes_of(self._contents[name])

    def __contains__(self, name: object) -> bool:
        return name in self._contents  # Mapping's own would read the file

    def __iter__(self) -> Iterator[str]:
        return iter(self._contents)

    def __len__(self) -> int:
        return len(self._contents)


def bytes_of(content: Content) -> bytes:
    """The bytes of a file, read where they lie elsewhere."""
    return content if isinstance(content, bytes) else content.read()


def size_of(files: Mapping[str, bytes], name: str) -> int:
    """The bytes of a file, not read for that where its size is known."""
    return files.size(name) if isinstance(files, SizedFiles) else len(files[name])


def total_size(files: Mapping[str, bytes]) -> int:
    """The bytes of all files."""
    return sum(size_of(files, name) for name in files)
