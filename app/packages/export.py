"""Write a package as a zip."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from app.core.steps import SILENT, Steps
from app.packages.contents import ComposedFiles, File
from app.packages.model import Package
from app.packages.zips import write_files, zip_bytes


def write_archive(package: Package) -> bytes:
    """Pack all files of a package below one folder named by its slug: the same files give the same bytes."""
    return zip_bytes(below_top(package))


def write_archive_file(package: Package, target: Path, steps: Steps = SILENT) -> None:
    """Pack all files of a package into a new file, one at a time: the same bytes as `write_archive` gives."""
    with target.open("wb") as file:
        write_archive_to(package, file, steps)


def write_archive_to(package: Package, target: IO[bytes], steps: Steps = SILENT) -> None:
    """Write that to an open file."""
    write_files(target, below_top(package), steps)


def below_top(package: Package) -> ComposedFiles:
    """The files of a package below one folder named by its slug."""
    return ComposedFiles({f"{package.slug}/{name}": File(name, package.files) for name in package.files})
