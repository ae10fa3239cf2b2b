"""What is wrong with a package: every fault at once, each with its file and place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class PackageError:
    """One fault: `file` is relative to the package (empty: the package itself), `where` a line, key or nothing."""

    file: str
    where: str
    message: str

    def __str__(self) -> str:
        place = ", ".join(part for part in (self.file, self.where) if part)
        return f"{place}: {self.message}" if place else self.message


class PackageErrors(Exception):
    """A package that cannot be used; `errors` lists all its faults, sorted by file."""

    def __init__(self, errors: Iterable[PackageError]) -> None:
        self.errors = tuple(sorted(set(errors)))
        super().__init__("\n".join(map(str, self.errors)))


@dataclass(slots=True)
class Faults:
    """The list that reading fills, so that one fault does not hide the next."""

    found: list[PackageError] = field(default_factory=list)

    def add(self, file: str, message: str, where: str = "") -> None:
        """Note one fault and go on."""
        self.found.append(PackageError(file, where, message))

    def expect(self, file: str, where: str, *, expected: str, found: str) -> None:
        """Note the usual sentence: `expected ..., found ...`."""
        self.add(file, f"expected {expected}, found {found}", where)

    def settle(self) -> None:
        """Raise :class:`PackageErrors` if anything was noted."""
        if self.found:
            raise PackageErrors(self.found)
