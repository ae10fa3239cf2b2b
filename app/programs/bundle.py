"""Bundles: the files of a package's program in one zip whose bytes depend on nothing else."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping

EPOCH = (1980, 1, 1, 0, 0, 0)
VALIDATOR = "output_validator/"
INCLUDED = "include/"
SINGLE = "checker.py"


def program_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a package's own checker, by their paths; empty where it brings none.

    `include/` belongs to it beside an output validator: headers such as testlib.h may lie there.
    """
    if SINGLE in files:
        return {SINGLE: files[SINGLE]}
    if not any(name.startswith(VALIDATOR) for name in files):
        return {}
    return {name: files[name] for name in sorted(files) if name.startswith((VALIDATOR, INCLUDED))}


def pack(files: Mapping[str, bytes]) -> bytes:
    """Pack files into a bundle: the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), files[name])
    return buffer.getvalue()


def unpack(bundle: bytes) -> dict[str, bytes]:
    """The files of a bundle that `pack` made."""
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def digest(bundle: bytes) -> str:
    """The name of a bundle: its sha256 in hex."""
    return hashlib.sha256(bundle).hexdigest()
