"""Write a package as a zip: the same files give the same bytes, whatever machine and hour."""

from __future__ import annotations

import io
import zipfile

from app.packages.model import Package

EPOCH = (1980, 1, 1, 0, 0, 0)
PLAIN_FILE = 0o100644 << 16
UNIX = 3


def write_archive(package: Package) -> bytes:
    """Pack all files of a package below one folder named by its slug, sorted, with one fixed time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in sorted(package.files):
            archive.writestr(_entry(f"{package.slug}/{name}"), package.files[name])
    return buffer.getvalue()


def _entry(path: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(path, EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = PLAIN_FILE
    entry.create_system = UNIX
    return entry
