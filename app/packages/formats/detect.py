"""Tell formats of packages apart by their files, and turn any of them into the files of a Jurado package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.core.faults import PackageError
from app.packages.contents import ComposedFiles
from app.packages.files import SLUG
from app.packages.formats import cms, kattis, omegaup, polygon
from app.packages.formats.draft import Draft, Source, slug_of
from app.packages.formats.names import Format
from app.packages.formats.writing import write_draft

READERS: Mapping[Format, Callable[[Source], Draft]] = {
    "kattis": kattis.read,
    "omegaup": omegaup.read,
    "cms": cms.read,
    "polygon": polygon.read,
}


@dataclass(frozen=True, slots=True)
class Imported:
    """A package of another judge as a Jurado package: its slug, its files, and how things were mapped."""

    format: Format
    slug: str
    files: ComposedFiles
    notes: tuple[PackageError, ...]


def format_of(files: Mapping[str, bytes]) -> Format | None:
    """The foreign format of some files; None for a Jurado package, whole or not, and for what is no package."""
    if "jurado.yaml" in files:
        return None
    if "problem.yaml" in files:
        return None if kattis.is_for_answers(files) else "kattis"
    if any(name.startswith("cases/") and name.endswith(".in") for name in files):
        return "omegaup"
    if "problem.xml" in files:
        return "polygon"
    return "cms" if "task.yaml" in files else None


def import_files(files: Mapping[str, bytes], format: Format, slug: str | None, name: str | None) -> Imported:
    """Turn the files of a foreign package into those of a Jurado package.

    `slug` is the id it must have; else its own name gives it, or `name`, that of its folder or file. Raises
    PackageErrors with every fault.
    """
    source = Source(files)
    draft = READERS[format](source)
    chosen = slug or slug_of(draft.slug) or slug_of(name or "")
    if not SLUG.fullmatch(chosen):
        expected = "an id of lowercase letters and digits"
        source.faults.expect("", "", expected=expected, found=repr(slug or draft.slug or name or ""))
    _name(draft, draft.slug or name or chosen, source)
    written = write_draft(draft, chosen, source)
    source.faults.settle()
    return Imported(format, chosen, written, tuple(dict.fromkeys(source.notes)))


def _name(draft: Draft, name: str, source: Source) -> None:
    """Give every language of the statements a title; formats without titles get the package's name."""
    nameless = [language for language, title in draft.names.items() if not title]
    draft.names |= dict.fromkeys(nameless, name)
    if nameless:
        source.note("problem.yaml", f"the format has no title: the problem is called {name!r}", "name")
