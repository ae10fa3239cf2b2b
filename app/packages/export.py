"""Write a package as a zip."""

from __future__ import annotations

from app.packages.model import Package
from app.packages.zips import zip_bytes


def write_archive(package: Package) -> bytes:
    """Pack all files of a package below one folder named by its slug: the same files give the same bytes."""
    return zip_bytes({f"{package.slug}/{name}": data for name, data in package.files.items()})
