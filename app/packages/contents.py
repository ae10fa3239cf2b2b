"""Files of a package wherever their bytes lie: each is read when it is asked for, one in memory at a time.

- Files that lie one behind the other in one file on disk: a large package as a mapping, with one of them in memory.
- The files of `data/`, collected by test case, and what is wrong with their names and extensions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Self, TypeVar

from app.core.faults import NONE, Faults
from checkers.doors import N_, Phrase

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


@dataclass(frozen=True, slots=True)
class ChangedFile(File):
    """A file that is read through a function, such as one that ends its lines as the format wants it."""

    change: Callable[[bytes], bytes] = field(repr=False, compare=False)

    @property
    def size(self) -> int:
        """The number of its bytes."""
        return len(self.read())

    def read(self) -> bytes:
        """Fetch the bytes, changed."""
        return self.change(self.files[self.path])


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


VALIDATION = ("invalid_input", "invalid_output", "valid_output")
ROOMS = ("sample", "secret", *VALIDATION)
EXTENSIONS = (
    ".in.statement", ".ans.statement", ".in.download", ".ans.download",
    ".in", ".ans", ".out", ".yaml", ".png", ".jpg", ".jpeg", ".svg",
)  # fmt: skip
GROUP_FILE = "test_group.yaml"
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files of one case by extension; `path` is the format's name for it, below `data/`."""

    path: str
    parts: Mapping[str, File]

    @property
    def name(self) -> str:
        """The base name."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The folder below `data/` that it lies in."""
        return self.path.rpartition("/")[0]

    @property
    def room(self) -> str:
        """`sample`, `secret` or one of the validation folders."""
        return self.path.partition("/")[0]


def collect_bundles(files: Mapping[str, bytes], faults: Faults) -> list[Bundle]:
    """Collect the files of each case, in lexicographic order of their paths."""
    parts: dict[str, dict[str, File]] = defaultdict(dict)
    for name in files:
        if not name.startswith("data/") or name.endswith(f"/{GROUP_FILE}"):
            continue
        path = name.removeprefix("data/")
        if path.partition("/")[0] not in ROOMS or "/" not in path:
            faults.expect(name, "", N_("one of the folders %(rooms)s"), path.partition("/")[0], rooms=", ".join(ROOMS))
            continue
        if ".files/" in path:
            faults.add(name, N_("not possible here: %(unused)s"), unused="answer files read no other input")
            continue
        extension = next((e for e in EXTENSIONS if path.endswith(e) and not path.endswith(f"/{e}")), None)
        if extension is None:
            faults.expect(
                name, "", N_("an extension of a test case (%(extensions)s)"), "another", extensions=" ".join(EXTENSIONS)
            )
        else:
            parts[path.removesuffix(extension)][extension] = File(name, files)
    return [Bundle(path, parts[path]) for path in sorted(parts)]


def check_parts(bundle: Bundle, faults: Faults, *, has_solver: bool) -> None:
    """Check one case's files against what its folder requires and allows. A solver can make expected answers."""
    has, at = set(bundle.parts), f"data/{bundle.path}"
    if ".in" not in has:
        missing = N_("missing input %(name)s.in: without it this file belongs to no test case")
        faults.add(f"{at}{min(has)}", missing, name=bundle.name)
        return
    judged = set() if has_solver else {".ans"}
    needed = {"invalid_input": set(), "sample": judged, "secret": judged}.get(bundle.room, {".ans", ".out"})
    for extension in sorted(needed - has):
        hint = (
            ", and no solution in submissions/accepted/ that could make it"
            if bundle.room in ("sample", "secret")
            else ""
        )
        faults.add(f"{at}{extension}", N_("missing file%(hint)s"), hint=hint)
    forbidden = {"invalid_input": {".ans", ".out"}}.get(bundle.room, set())
    for extension in sorted(has & forbidden):
        faults.add(f"{at}{extension}", N_("not possible in %(room)s"), room=bundle.room)
    if bundle.name == "test_group":
        faults.add(f"{at}.in", N_("a test case must not be named test_group"))


def check_names(bundles: list[Bundle], faults: Faults) -> None:
    """Base names are unique among the judged cases, as answer files are named by them."""
    judged = [bundle for bundle in bundles if bundle.room in ("sample", "secret")]
    by_name: dict[str, list[str]] = defaultdict(list)
    for bundle in judged:
        by_name[bundle.name].append(f"data/{bundle.path}")
    for paths in by_name.values():
        if len(paths) > 1:
            others = " and ".join([*paths[:MOST_NAMED], *(["others"] if len(paths) > MOST_NAMED else [])])
            for path in paths:
                faults.add(
                    f"{path}.in", N_("base name used %(count)s times: %(others)s"), count=len(paths), others=others
                )
    folders = {b.path[:end] for b in bundles for end, letter in enumerate(b.path) if letter == "/"}
    for bundle in bundles:
        if bundle.path in folders:
            faults.add(f"data/{bundle.path}.in", Phrase(N_("a folder has the same name as this test case")))
    if not any(bundle.room == "secret" for bundle in judged):
        faults.expect("data/secret", "", N_("at least one test case"), NONE)
