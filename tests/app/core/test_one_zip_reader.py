"""Uploads and packages refuse a hostile zip by one reader, in the same words."""

from __future__ import annotations

import errno
import io
import os
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.core.faults import PackageErrors
from app.packages.files import archive_files
from app.packages.zips import ZipUnreadable, inflate, open_zip
from app.submissions.service.archives import Budget, Limits, Upload, UploadRefused, open_archive

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
        (zip_with(of_kind(stat.S_IFIFO)), "expected a plain file, found a symbolic link or a special file"),
        (zip_with(packed_by(zipfile.ZIP_BZIP2)), "expected a stored or deflated file, found compression method 12"),
        (zip_with(packed_by(zipfile.ZIP_LZMA)), "expected a stored or deflated file, found compression method 14"),
    ],
    ids=["encrypted", "fifo", "bzip2", "lzma"],
)
def test_uploads_and_packages_refuse_an_entry_in_the_same_words(data: bytes, words: str) -> None:
    with pytest.raises(PackageErrors) as package:
        archive_files(data)
    upload, budget = Upload("a.zip", io.BytesIO(data)), Budget(Limits(MIB, 10, 100))
    with pytest.raises(UploadRefused) as refused, open_archive(upload, budget):
        pass
    assert str(package.value) == f"01.out: {words}"
    assert str(refused.value) == f"a.zip: '01.out': {words}"


class FailingDisk(io.BytesIO):
    """A file whose disk fails from a moment on."""

    fault: OSError | None = None

    def read(self, size: int | None = -1, /) -> bytes:
        if self.fault is not None:
            raise self.fault
        return super().read(size)


@pytest.mark.parametrize("fault", [RuntimeError("a fault of ours"), ValueError("a fault of ours"), OSError(28, "full")])
def test_faults_of_the_block_that_reads_a_zip_are_no_damage_of_the_zip(fault: Exception) -> None:
    data = zip_with(of_kind(stat.S_IFREG))
    with pytest.raises(type(fault)) as raised, open_zip(io.BytesIO(data)):
        raise fault
    assert raised.value is fault
    budget = Budget(Limits(MIB, 10, 100))
    with pytest.raises(type(fault)) as raised, open_archive(Upload("a.zip", io.BytesIO(data)), budget):
        raise fault
    assert raised.value is fault


def test_faults_of_whoever_counts_the_bytes_are_no_damage_of_the_zip() -> None:
    fault = ValueError("a fault of ours")

    def spend(_count: int) -> None:
        raise fault

    with (
        open_zip(io.BytesIO(zip_with(of_kind(stat.S_IFREG)))) as archive,
        pytest.raises(ValueError, match="a fault of ours") as raised,
    ):
        inflate(archive, archive.infolist()[0], 100, spend)
    assert raised.value is fault


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_faults_of_the_disk_surface_as_themselves_when_a_zip_is_opened_and_read(number: int) -> None:
    disk = FailingDisk(zip_with(of_kind(stat.S_IFREG)))
    with open_zip(disk) as archive:
        disk.fault = OSError(number, os.strerror(number))
        with pytest.raises(OSError, match=os.strerror(number)) as raised:
            inflate(archive, archive.infolist()[0], 100, lambda _count: None)
        assert raised.value is disk.fault
    with (
        pytest.raises(OSError, match=os.strerror(number)) as raised,
        open_archive(Upload("a.zip", disk), Budget(Limits(MIB, 10, 100))),
    ):
        pass
    assert raised.value is disk.fault


def test_damage_shows_when_a_zip_is_opened_and_when_a_member_is_read() -> None:
    data = zip_with(of_kind(stat.S_IFREG))
    with pytest.raises(ZipUnreadable), open_zip(io.BytesIO(data[:-4])):
        pass
    flipped = data.replace(b"1\n1\n", b"1\n2\n", 1)
    with open_zip(io.BytesIO(flipped)) as archive, pytest.raises(ZipUnreadable, match="Bad CRC-32"):
        inflate(archive, archive.infolist()[0], 1000, lambda _count: None)
    upload, budget = Upload("a.zip", io.BytesIO(flipped)), Budget(Limits(MIB, 10, 100))
    with pytest.raises(UploadRefused, match="found a damaged one"), open_archive(upload, budget) as opened:
        opened.read(opened.entries[0], 1000)


def test_a_member_that_lies_where_no_file_has_a_place_is_damage(tmp_path: Path) -> None:
    """A file refuses to go there with an OSError, bytes in memory with a ValueError."""
    data = zip_with(of_kind(stat.S_IFREG))
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    for source in (path, io.BytesIO(data)):
        with open_zip(source) as archive:
            (entry,) = archive.infolist()
            entry.header_offset = -5
            with pytest.raises(ZipUnreadable):
                inflate(archive, entry, 100, lambda _count: None)
