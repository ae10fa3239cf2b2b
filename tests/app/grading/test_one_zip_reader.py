"""Uploads and packages refuse a hostile zip by one reader, in the same words."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from app.grading.archives import Budget, Limits, Upload, UploadRefused, open_archive
from app.packages.errors import PackageErrors
from app.packages.files import archive_files

MIB = 1 << 20
Change = Callable[[zipfile.ZipInfo], Any]


def zip_with(change: Change) -> bytes:
    entry = zipfile.ZipInfo("01.out")
    change(entry)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(entry, b"1\n" * 50)
    return buffer.getvalue()


def of_kind(kind: int) -> Change:
    return lambda entry: setattr(entry, "external_attr", (kind | 0o644) << 16)


def packed_by(method: int) -> Change:
    return lambda entry: setattr(entry, "compress_type", method)


def encrypted() -> bytes:
    data = zip_with(of_kind(stat.S_IFREG))
    at = data.index(b"PK\x01\x02")
    return data[: at + 8] + struct.pack("<H", 1) + data[at + 10 :]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (encrypted(), "expected a plain file, found an encrypted one"),
        (zip_with(of_kind(stat.S_IFLNK)), "expected a plain file, found a symbolic link or a special file"),
        (zip_with(of_kind(stat.S_IFIFO)), "expected a plain file, found a symbolic link or a special file"),
        (zip_with(packed_by(zipfile.ZIP_BZIP2)), "expected a stored or deflated file, found compression method 12"),
        (zip_with(packed_by(zipfile.ZIP_LZMA)), "expected a stored or deflated file, found compression method 14"),
    ],
    ids=["encrypted", "link", "fifo", "bzip2", "lzma"],
)
def test_uploads_and_packages_refuse_an_entry_in_the_same_words(data: bytes, words: str) -> None:
    with pytest.raises(PackageErrors) as package:
        archive_files(data)
    upload, budget = Upload("a.zip", io.BytesIO(data)), Budget(Limits(MIB, 10, 100))
    with pytest.raises(UploadRefused) as refused, open_archive(upload, budget):
        pass
    assert str(package.value) == f"01.out: {words}"
    assert refused.value.message == f"a.zip: '01.out': {words}"
