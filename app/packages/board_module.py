"""The board that a package brings along: `board.js`, which pages run in a frame without rights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from app.core.faults import PackageError
from app.packages.model import Package
from app.packages.zip_reader import inflate, open_zip

NAME = "board.js"
LARGEST = 256 * 1024
"""Bytes of a board's module."""


def check_board(package: Package) -> Iterator[PackageError]:
    """Yield what is wrong with a package's board, as far as it shows without running it."""
    data = package.files.get(NAME)
    if data is None:
        return
    if len(data) > LARGEST:
        yield PackageError(NAME, "", f"expected at most {LARGEST} bytes, found {len(data)}")
        return
    try:
        data.decode()
    except UnicodeDecodeError as error:
        yield PackageError(NAME, f"byte {error.start + 1}", "expected text in UTF-8, found other bytes")


def board_module(archive: IO[bytes]) -> str | None:
    """The module of a package, a zip with one folder at its top; None where it brings none."""
    with open_zip(archive) as opened:
        for entry in opened.infolist():
            top, _, name = entry.filename.partition("/")
            if name == NAME and top and entry.file_size <= LARGEST:
                return inflate(opened, entry, LARGEST + 1, lambda _: None).decode()
    return None
