"""A package that somebody has sent, read and held against the rules: whatever can be said without running anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import process_time

from app.core.faults import Faults, PackageError, PackageErrors
from app.packages.files import LARGEST, LIMITS, Limits, archive_files, folder_files
from app.packages.formats.detect import format_of, import_files
from app.packages.formats.names import Format
from app.packages.markdown import FOLDER, render
from app.packages.model import Package
from app.packages.read import assemble
from app.packages.rules import check_rules

STATEMENT_SECONDS = 5.0
"""Processor time for rendering one statement; twice as much is given when contestants ask for it with its samples."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A package that reads, the rules that it breaks, and what was mapped where it came in another format."""

    package: Package
    broken: tuple[PackageError, ...]


def read_arrival(
    source: bytes | Path,
    slug: str | None,
    stem: str | None,
    format: Format | None = None,
    *,
    limits: Limits = LIMITS,
    spool: Path | None = None,
) -> Arrival:
    """Read an archive; its top folder names the problem, else `slug`, else `stem`. Raises PackageErrors.

    An archive of another judge is turned into a package, its format told by its files where `format` does not. The
    files are in memory, or in the new file `spool`.
    """
    top, files = archive_files(source, limits, spool=spool)
    if (foreign := format or format_of(files)) is not None:
        return _foreign(files, foreign, slug, top or stem)
    if top is not None and slug is not None and top != slug:
        raise PackageErrors([PackageError("", "", f"expected the top folder {slug}, found {top}")])
    name = top or slug or stem
    if name is None:
        raise PackageErrors([PackageError("", "", "expected one top folder named by the problem's id, found none")])
    return _arrival(assemble(name, files))


def read_place(place: Path, spool: Path | None = None) -> Arrival:
    """Read a package of any judge from a folder or a zip, named by its folder or file. Raises PackageErrors.

    A zip inflates in memory, or into the new file `spool`, and is good while that is there.
    """
    faults = Faults()
    name, files = _files_of(place, spool, faults)
    if (foreign := format_of(files)) is None:
        return _arrival(assemble(name, files, faults))
    faults.settle()
    return _foreign(files, foreign, None, name)


def read_place_of_another_judge(
    place: Path, spool: Path | None, slug: str | None = None, format: Format | None = None
) -> Arrival | None:
    """Read a package of another judge as `read_place` does; None for one of Jurado. Raises PackageErrors."""
    faults = Faults()
    name, files = _files_of(place, spool, faults)
    if (foreign := format or format_of(files)) is None:
        return None
    faults.settle()
    return _foreign(files, foreign, slug, name)


def _files_of(place: Path, spool: Path | None, faults: Faults) -> tuple[str, Mapping[str, bytes]]:
    """The name of a package's folder or zip, and its files."""
    if place.is_dir():
        return place.resolve().name, folder_files(place, faults)
    top, files = archive_files(place, LIMITS if spool is None else LARGEST, spool=spool)
    return top or place.stem, files


def read_member(source: bytes | Path, slug: str, limits: Limits = LIMITS, spool: Path | None = None) -> Arrival:
    """Read a package that lies in a larger one, where its place names it. Raises PackageErrors."""
    return _arrival(assemble(slug, archive_files(source, limits, spool=spool)[1]))


def _foreign(files: Mapping[str, bytes], format: Format, slug: str | None, name: str | None) -> Arrival:
    """A package of another judge as one of Jurado."""
    imported = import_files(files, format, slug, name)
    return _arrival(assemble(imported.slug, imported.files), imported.notes)


def _arrival(package: Package, notes: Iterable[PackageError] = ()) -> Arrival:
    return Arrival(package, (*notes, *check_rules(package), *_slow_statements(package)))


def _slow_statements(package: Package) -> Iterator[PackageError]:
    """The statements that take too long to render, by their processor time here."""
    for statement in package.statements.values():
        began = process_time()
        if statement.kind == "md":
            render(statement.text, FOLDER)
        if (taken := process_time() - began) > STATEMENT_SECONDS:
            message = (
                f"expected a statement that is rendered in {STATEMENT_SECONDS:g} s, found one that took {taken:.0f} s"
            )
            yield PackageError(statement.file.path, "", message)
