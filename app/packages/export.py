"""Write a package as a zip."""

from __future__ import annotations

from pathlib import Path

from app.packages.model import Package
from app.packages.zips import write_zip_file, zip_bytes


def write_archive(package: Package) -> bytes:
    """Pack all files of a package below one folder named by its slug: the same files give the same bytes."""
    return zip_bytes({f"{package.slug}/{name}": data for name, data in package.files.items()})


def write_archive_file(package: Package, target: Path) -> None:
    """Pack all files of a package into a new file, one at a time: the same bytes as `write_archive` gives."""
    write_zip_file(target, {f"{package.slug}/{name}": name for name in package.files}, package.files.__getitem__)
