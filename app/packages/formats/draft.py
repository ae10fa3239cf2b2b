"""A problem of another judge on its way to a package: the same few things, whatever format it came in."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from app.core.faults import Faults, PackageError
from app.packages import model
from app.packages.contents import Content, File
from checkers.doors import N_, Phrase

MOST_NAMED = 5
NOT_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Standard:
    """A standard checker with the arguments that the format's default validator takes."""

    name: str
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """A checker of the problem's own: its files by their paths, the protocol it speaks, and what its points mean."""

    protocol: str
    points: str
    files: Mapping[str, bytes]
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseDraft:
    """A test case; `points` are its share of a group of aggregation `sum`, `extras` its other files by extension.

    answer  None where the format has none: the package's solution makes it
    """

    name: str
    input: Content
    answer: Content | None
    points: Fraction = Fraction(1)
    extras: Mapping[str, Content] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroupDraft:
    """Cases that count together; an empty name: the cases lie directly in `secret`.

    points   of the whole group
    require  names of groups that must be passed first
    args     the checker's arguments for its cases, where they are not the problem's
    """

    name: str
    aggregation: model.Aggregation
    points: Fraction
    cases: tuple[CaseDraft, ...]
    require: tuple[str, ...] = ()
    args: tuple[str, ...] | None = None
    validator_args: object = None

    @property
    def is_uneven(self) -> bool:
        """Whether the points of cases are added that differ."""
        return self.aggregation == "sum" and len({case.points for case in self.cases}) > 1


@dataclass(slots=True)
class Draft:
    """All of a problem.

    slug       what the format calls it; empty where the format has no name
    names      titles by language
    metadata   further keys of problem.yaml; `settings`: of jurado.yaml
    files      the rest of the package by path: statements, solutions, attachments, programs
    total      the points in all that the groups are scaled to, where whole numbers allow it
    """

    slug: str = ""
    names: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, object] = field(default_factory=dict)
    settings: dict[str, object] = field(default_factory=dict)
    checker: Standard | Program = Standard("tokens")
    groups: list[GroupDraft] = field(default_factory=list)
    samples: list[CaseDraft] = field(default_factory=list)
    files: dict[str, Content] = field(default_factory=dict)
    total: int | None = None


@dataclass(slots=True)
class Source:
    """The files of a foreign package, with the faults and notes that reading it leaves.

    A fault refuses the package. A note says how something was mapped, or that it was left out.
    """

    files: Mapping[str, bytes]
    faults: Faults = field(default_factory=Faults)
    notes: list[PackageError] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def take(self, name: str) -> bytes:
        """Read a file, and remember that it has found its place."""
        return self.keep(name).read()

    def keep(self, name: str) -> File:
        """Remember that a file has found its place; it is read when it is written there."""
        self.used.add(name)
        return File(name, self.files)

    def below(self, folder: str) -> list[str]:
        """List the files below a folder, sorted."""
        return sorted(name for name in self.files if name.startswith(f"{folder}/"))

    def note(self, file: str, message: str, where: str = "", /, **values: object) -> None:
        """Note how something was mapped."""
        self.notes.append(PackageError(file, where, Phrase(message, **values) if values else message, "warning"))


def listed(names: Iterable[str]) -> str:
    """Name a few of many: `a, b and 3 others`."""
    every = list(names)
    few = ", ".join(every[:MOST_NAMED])
    return few if len(every) <= MOST_NAMED else f"{few} and {len(every) - MOST_NAMED} others"


def slug_of(name: str) -> str:
    """The id that a name gives: its ASCII letters in lower case, and its digits."""
    return NOT_SLUG.sub("", name.lower())[:36]


def note_unused(source: Source) -> None:
    """Note the files that nothing has taken."""
    if unused := [name for name in source.files if name not in source.used]:
        source.note("", N_("without a place in the package and left out: %(others)s"), others=listed(sorted(unused)))
