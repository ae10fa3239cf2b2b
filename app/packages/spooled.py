"""Files that lie one behind the other in one file on disk: a large package as a mapping, with one of them in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Self


class SpooledFiles(Mapping[str, bytes]):
    """Files by their paths; each is read when it is asked for. It may be pickled, and is good while its file is there.

    `places`: where each begins, and its size, in bytes.
    """

    def __init__(self, path: str, places: Mapping[str, tuple[int, int]]) -> None:
        self._path = path
        self._places = dict(places)

    @classmethod
    def written(cls, path: Path, files: Iterable[tuple[str, bytes]]) -> Self:
        """Write files behind what is in the spool already, each as it comes."""
        places = {}
        with path.open("ab") as spool:
            for name, data in files:
                places[name] = (spool.tell(), len(data))
                spool.write(data)
        return cls(str(path), places)

    def below(self, top: str) -> SpooledFiles:
        """The same files without the folder that all of them lie in."""
        return SpooledFiles(self._path, {name.removeprefix(f"{top}/"): at for name, at in self._places.items()})

    def size(self, name: str) -> int:
        """The bytes of a file."""
        return self._places[name][1]

    def __getitem__(self, name: str) -> bytes:
        at, size = self._places[name]
        with open(self._path, "rb") as spool:
            spool.seek(at)
            return spool.read(size)

    def __contains__(self, name: object) -> bool:
        return name in self._places  # Mapping's own would read the file

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def size_of(files: Mapping[str, bytes], name: str) -> int:
    """The bytes of a file, not read for that where it lies in a spool."""
    return files.size(name) if isinstance(files, SpooledFiles) else len(files[name])


def total_size(files: Mapping[str, bytes]) -> int:
    """The bytes of all files."""
    return sum(size_of(files, name) for name in files)
