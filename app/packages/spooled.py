"""Files that lie one behind the other in one file on disk: a large package as a mapping, with one of them in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Self

from app.packages.contents import SizedFiles

COPIED_AT_ONCE = 2**20


class SpooledFiles(SizedFiles):
    """Files by their paths; each is read when it is asked for. It may be pickled, and is good while its file is there.

    `places`: where each begins, and its size, in bytes.
    """

    def __init__(self, path: str, places: Mapping[str, tuple[int, int]]) -> None:
        self._path = path
        self._places = dict(places)

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

    def __contains__(self, name: object) -> bool:
        return name in self._places  # Mapping's own would read the file

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
