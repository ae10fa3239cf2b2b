"""Zips that attack: every one is refused with its reason, and none inflates beyond the limits."""

from __future__ import annotations

import io
import random
import stat
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.faults import PackageErrors
from app.packages.files import Limits, archive_files, check_zip
from app.packages.read import read_archive
from app.packages.zips import MOST_ENTRIES, zip_bytes
from tests.builders.packages import zip_package

MIB = 1 << 20


def refusal(data: bytes, limits: Limits | None = None) -> str:
    with pytest.raises(PackageErrors) as raised:
        archive_files(data, limits or Limits())
    return str(raised.value)


def zip_entries(*entries: tuple[zipfile.ZipInfo | str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in entries:
            archive.writestr(entry, data)
    return buffer.getvalue()


def link(name: str, target: bytes) -> bytes:
    entry = zipfile.ZipInfo(name)
    entry.create_system = 3
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return zip_entries((entry, target))


def lying_about_sizes(data: bytes, claimed: int) -> bytes:
    """Overwrite the uncompressed sizes in the central directory."""
    at = data.index(b"PK\x01\x02")
    return data[: at + 24] + struct.pack("<I", claimed) + data[at + 28 :]


def encrypted(data: bytes) -> bytes:
    at = data.index(b"PK\x01\x02")
    return data[: at + 8] + struct.pack("<H", 1) + data[at + 10 :]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (zip_bytes({"echo/../../etc/x": b""}), "echo/../../etc/x: expected a path inside the package"),
        (zip_bytes({"/etc/x": b""}), "/etc/x: expected a relative path"),
        (zip_bytes({"C:/x": b""}), "C:/x: expected a relative path"),
        (zip_bytes({"echo\\x": b""}), "expected a relative path with `/`"),
        (link("echo/x", b"/etc/passwd"), "echo/x: expected a plain file, found a symbolic link or a special file"),
        (encrypted(zip_bytes({"echo/x": b"data"})), "echo/x: expected a plain file, found an encrypted one"),
        (b"not a zip", "not a readable zip archive"),
        (b"", "not a readable zip archive"),
        (zip_package()[:-40], "not a readable zip archive"),
        (zip_bytes({"echo/a b": b""}), "echo/a b: expected a name of letters"),
    ],
    ids=["up", "root", "drive", "backslash", "link", "encrypted", "text", "empty", "cut", "name"],
)
def test_an_archive_that_attacks_or_is_none_is_refused(data: bytes, expected: str) -> None:
    assert expected in refusal(data)


def test_two_files_of_one_name_are_refused() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = zip_entries(("echo/x", b"1"), ("echo/x", b"2"))
    assert refusal(data) == "echo/x: two files have this name"


def test_two_files_that_differ_in_upper_and_lower_case_only_are_refused() -> None:
    expected = "echo/readme.md: expected names that differ in more than upper and lower case, found also echo/README.md"
    assert refusal(zip_bytes({"echo/README.md": b"", "echo/readme.md": b""})) == expected


def test_a_directory_of_a_million_entries_is_read_to_the_first_of_too_many() -> None:
    expected = f"not a readable zip archive: expected at most {MOST_ENTRIES} entries, found more"
    assert refusal(repeated(MOST_ENTRIES + 1)) == expected
    assert "entries" not in refusal(repeated(MOST_ENTRIES))


def repeated(times: int) -> bytes:
    """An archive whose directory has its one entry so many times."""
    data = zip_bytes({"echo/x": b""})
    end = data.rindex(b"PK\x05\x06")
    start = struct.unpack_from("<I", data, end + 16)[0]
    entry = data[start:end]
    return (
        data[:start] + entry * times + data[end : end + 12] + struct.pack("<I", len(entry) * times) + data[end + 16 :]
    )


def test_every_bad_name_is_listed_at_once() -> None:
    assert len(refusal(zip_bytes({"../a": b"", "/b": b"", "c d": b"", "fine": b""})).splitlines()) == 3


def test_damaged_data_is_refused() -> None:
    data = bytearray(zip_bytes({"echo/x": bytes(range(256)) * 40}))
    data[60] ^= 0xFF
    assert "not a readable zip archive" in refusal(bytes(data))


def test_a_bomb_stops_inflating_at_the_limit() -> None:
    bomb = zip_bytes({f"echo/{n}": bytes(20 * MIB) for n in range(3)})
    tracemalloc.start()
    assert "expected at most 1048576 bytes in a file" in refusal(bomb, Limits(single=MIB, ratio=10**6))
    assert "found more" in refusal(bomb, Limits(total=30 * MIB, single=25 * MIB, ratio=10**6))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 90 * MIB


def test_an_archive_that_inflates_too_far_for_its_size_is_refused() -> None:
    assert "found more" in refusal(zip_bytes({"echo/x": bytes(30 * MIB)}), Limits(ratio=100))


def test_headers_that_lie_about_sizes_do_not_help() -> None:
    bomb = lying_about_sizes(zip_bytes({"echo/x": bytes(5 * MIB)}), 10)
    assert refusal(bomb, Limits(total=MIB, ratio=10**6))


def test_too_many_files_and_too_large_archives_are_refused() -> None:
    assert "expected at most 10 files, found 11" in refusal(zip_bytes({f"e/{n}": b"" for n in range(11)}), Limits(10))
    assert "expected an archive of at most 100 bytes" in refusal(zip_package(), Limits(archive=100))


@pytest.mark.parametrize("top", [None, "echo"])
def test_one_top_folder_is_taken_off(top: str | None) -> None:
    prefix = f"{top}/" if top else ""
    found, files = archive_files(zip_package(top=prefix))
    assert found == top
    assert "problem.yaml" in files


@given(st.integers(0, 4000), st.integers(0, 255), st.sampled_from([bytes, lambda _: b"", lambda data: data[:7]]))
def test_a_damaged_package_reads_or_is_refused_and_nothing_else(
    at: int, byte: int, cut: Callable[[bytes], bytes]
) -> None:
    data = bytearray(zip_package())
    at %= len(data)
    damaged = bytes(data[:at]) + bytes([byte]) + cut(bytes(data[at + 1 :]))
    with suppress(PackageErrors):
        assert read_archive(damaged, "echo").cases


def test_a_file_is_no_folder_of_others() -> None:
    files = {"a": b"", "a-b": b"", "a.b/c": b"", "a/b/c": b""}
    assert refusal(zip_bytes(files)) == "a/b/c: expected folders above it, found that a is a file"
    assert archive_files(zip_bytes({"a/b": b"", "ab/c": b""}))[1] == {"a/b": b"", "ab/c": b""}


def test_what_is_unread_at_the_top_is_not_inflated_nor_counted() -> None:
    data = zip_bytes({"top/large": b" " * MIB, "top/x/large": b"1", "top/small": b"2"})
    assert archive_files(data, Limits(total=MIB), {"large"}) == ("top", {"small": b"2", "x/large": b"1"})


SMALL = Limits(files=3, total=5000, single=3000, ratio=4, archive=2500)


@pytest.mark.parametrize(
    "files",
    [
        {"echo/a": b"x"},
        {"echo/a": b"x", "echo/b": b"y", "echo/c": b"z"},
        {f"echo/{name}": b"x" for name in "abcd"},
        {"echo/a": bytes(3001)},
        {"echo/a": bytes(2600), "echo/b": bytes(2500)},
        {"echo/a": bytes(3000), "echo/b": bytes(1500)},
        {"echo/a": bytes(range(256)) * 11, "echo/b": bytes(range(256))},
        {"echo/a": random.Random(1).randbytes(2600)},
        {"echo/" + "n" * 255: b"x"},
        {"echo/" + "n" * 256: b"x"},
        {"echo/a b": b"x"},
        {"/".join("abcdefghijklmnopq"): b"x"},
        {"/".join(["n" * 200] * 6): b"x"},
        {"echo/a": b"x", "echo/a/b": b"y"},
    ],
    ids=[
        "sound", "three files", "four files", "a large file", "large in all", "ratio", "sound and larger",
        "a large archive", "a long name", "too long a name", "a blank", "too deep", "too long a path",
        "a file as a folder",
    ],
)  # fmt: skip
def test_a_zip_is_refused_before_it_is_sent_for_what_reading_it_would_refuse(files: dict[str, bytes]) -> None:
    data = zip_bytes(files)
    is_read = is_sent = True
    try:
        archive_files(data, SMALL)
    except PackageErrors:
        is_read = False
    try:
        check_zip(files, len(data), SMALL)
    except PackageErrors:
        is_sent = False
    assert is_sent is is_read
