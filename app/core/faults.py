"""Faults of a package: all at once, each with its file and place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from typing_extensions import TypedDict

Severity = Literal["error", "warning", "note"]
LINE = re.compile(r"line ([0-9]+)\b")
EXPECTED = re.compile(r"\bexpected ")
FOUND = re.compile(r", found:? ")


# Of typing_extensions: before Python 3.12 pydantic takes no other.
class PackageFault(TypedDict):
    """A fault of a package; null is what its sentence does not tell."""

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
        expected, actual = _halves(self.message)
        return {
            "file": self.file,
            "where": self.where,
            "line": int(line[1]) if line else None,
            "message": self.message,
            "expected": expected,
            "found": actual,
            "severity": self.severity,
        }


class PackageErrors(Exception):
    """A package that cannot be used; `errors` lists all its faults, sorted by file."""

    def __init__(self, errors: Iterable[PackageError]) -> None:
        self.errors = tuple(sorted(set(errors)))
        super().__init__("\n".join(map(str, self.errors)))


def _halves(message: str) -> tuple[str, str] | tuple[None, None]:
    """The expected and the actual half of a message."""
    begin = EXPECTED.search(message)
    middle = FOUND.search(message, begin.end()) if begin is not None else None
    if begin is None or middle is None:
        return None, None
    return message[begin.end() : middle.start()], message[middle.end() :]


def errors_of(faults: Iterable[PackageError]) -> list[PackageError]:
    """Give the faults for which an upload refuses a package."""
    return [fault for fault in faults if fault.severity == "error"]


def warnings_of(faults: Iterable[PackageError]) -> list[PackageError]:
    """Give the faults with which an upload takes a package."""
    return [fault for fault in faults if fault.severity == "warning"]


def notes_of(faults: Iterable[PackageError]) -> list[PackageError]:
    """Give what is no fault, but worth knowing."""
    return [fault for fault in faults if fault.severity == "note"]


@dataclass(slots=True)
class Faults:
    """The list that reading fills, so that one fault does not hide the next."""

    errors: list[PackageError] = field(default_factory=list)

    def add(self, file: str, message: str, where: str = "") -> None:
        """Note one fault and go on."""
        self.errors.append(PackageError(file, where, message))

    def expect(self, file: str, where: str, *, expected: str, found: str) -> None:
        """Note the usual sentence: `expected ..., found ...`."""
        self.add(file, f"expected {expected}, found {found}", where)

    def settle(self) -> None:
        """Raise :class:`PackageErrors` if anything was noted."""
        if self.errors:
            raise PackageErrors(self.errors)
