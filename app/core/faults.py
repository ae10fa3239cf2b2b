"""Faults of a package: all at once, each with its file and place.

- Progress of a package's examination: phases, each with so many parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from typing_extensions import TypedDict

from app.core.messages import Text
from checkers.doors import N_, Phrase

Severity = Literal["error", "warning", "note"]
LINE = re.compile(r"line ([0-9]+)\b")
NONE, MORE, BOTH, NEITHER = map(Phrase, (N_("none"), N_("more"), N_("both"), N_("neither")))
# Instead of a mismatch where what was found is another program's sentence.
EXPECTED_TEXT = N_("expected %(expected)s, found: %(found)s")
SLOWER = Phrase(N_("a longer time"))


# Of typing_extensions: before Python 3.12 pydantic takes no other.
class PackageFault(TypedDict):
    """A fault of a package; null is what its message does not have. Texts may be phrases, which pages translate."""

    file: str
    where: str
    line: int | None
    message: str
    expected: str | None
    found: str | None
    severity: Severity


@dataclass(frozen=True, slots=True, order=True)
class PackageError:
    """A fault of a package.

    file      relative to the package (empty: the package itself)
    where     a line, key or nothing
    message   a phrase, which keeps its English source and values; `expected` and `found` are values of many
    severity  `error`: an upload refuses the package; `warning`: an upload takes it, but something in it will not work
              as its author expects; `note`: nothing is wrong, but the author may want to know
    """

    file: str
    where: str
    message: str
    severity: Severity = "error"

    def __str__(self) -> str:
        place = ", ".join(part for part in (self.file, self.where) if part)
        return f"{place}: {self.message}" if place else self.message

    def as_data(self) -> PackageFault:
        """Give the fault as JSON."""
        line = LINE.match(self.where)
        values = self.message.values if isinstance(self.message, Phrase) else {}
        expected, found = values.get("expected"), values.get("found")
        return {
            "file": self.file,
            "where": self.where,
            "line": int(line[1]) if line else None,
            "message": self.message,
            "expected": expected if expected is None or isinstance(expected, str) else str(expected),
            "found": found if found is None or isinstance(found, str) else str(found),
            "severity": self.severity,
        }


class PackageErrors(Exception):
    """A package that cannot be used; `errors` lists all its faults, sorted by file."""

    def __init__(self, errors: Iterable[PackageError]) -> None:
        self.errors = tuple(sorted(set(errors)))
        super().__init__("\n".join(map(str, self.errors)))


def mismatch(expected: str, found: str, /, **values: object) -> Phrase:
    """Return the usual sentence; `values` are those of the source `expected`, `found` is a phrase or data."""
    wanted = expected if isinstance(expected, Phrase) else Phrase(expected, **values)
    return Phrase(N_("expected %(expected)s, found %(found)s"), expected=wanted, found=found)


def of_severity(faults: Iterable[PackageError], severity: Severity) -> list[PackageError]:
    """Give the faults of a severity, such as those for which an upload refuses a package (`error`)."""
    return [fault for fault in faults if fault.severity == severity]


@dataclass(slots=True)
class Faults:
    """The list that reading fills, so that one fault does not hide the next."""

    errors: list[PackageError] = field(default_factory=list)

    def add(self, file: str, message: str, where: str = "", /, **values: object) -> None:
        """Note one fault, a phrase or the source of one with its values, and continue."""
        self.errors.append(PackageError(file, where, Phrase(message, **values) if values else message))

    def expect(self, file: str, where: str, expected: str, found: str, /, **values: object) -> None:
        """Note a mismatch."""
        self.add(file, mismatch(expected, found, **values), where)

    def settle(self) -> None:
        """Raise :class:`PackageErrors` if anything was noted."""
        if self.errors:
            raise PackageErrors(self.errors)


MOST_KEPT = 100
Fault = Mapping[str, object]


class FaultList:
    """Faults in order of detection, the first of them kept: three million take 1.6 GB, and no one reads them."""

    def __init__(self) -> None:
        self.first: list[Fault] = []
        self.count = 0

    def __bool__(self) -> bool:
        """Whether there is any fault."""
        return self.count > 0

    def note(self, fault: Fault) -> None:
        """Note one."""
        self.count += 1
        if len(self.first) < MOST_KEPT:
            self.first.append(fault)

    def add(self, file: str, where: str, expected: Text, found: Text) -> None:
        """Note the usual one."""
        self.note({"file": file, "where": where, "expected": expected, "found": found})

    def extend(self, faults: Iterable[Fault]) -> None:
        """Note several."""
        for fault in faults:
            self.note(fault)


T = TypeVar("T")
R = TypeVar("R")
# Called with the name of the phase, the parts done and the parts in all.
OnStep = Callable[[str, int, int], None]
BATCH = 32


def unseen(_phase: str, _done: int, _total: int) -> None:
    """Show nothing."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Tells `on_step` of every part that is done; whatever it raises ends the examination."""

    on_step: OnStep = unseen

    def begin(self, phase: str) -> None:
        """Tell of a phase that has no parts to be counted."""
        self.on_step(phase, 0, 0)

    def each(self, phase: str, parts: Sequence[T], results: Iterable[R]) -> Iterator[R]:
        """Pass results on, one for each part, and count them."""
        self.on_step(phase, 0, len(parts))
        for done, result in enumerate(results, start=1):
            self.on_step(phase, done, len(parts))
            yield result

    def over(self, phase: str, parts: Sequence[T]) -> Iterator[T]:
        """Go through parts, and count them."""
        self.on_step(phase, 0, len(parts))
        for done, part in enumerate(parts, start=1):
            yield part
            self.on_step(phase, done, len(parts))

    def batches(self, phase: str, parts: Sequence[T]) -> Iterator[Sequence[T]]:
        """Go through parts by the batch, and count them."""
        self.on_step(phase, 0, len(parts))
        for begin in range(0, len(parts), BATCH):
            yield parts[begin : begin + BATCH]
            self.on_step(phase, min(begin + BATCH, len(parts)), len(parts))


# Tells no one.
SILENT = Steps()
