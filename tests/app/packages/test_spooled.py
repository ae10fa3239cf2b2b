"""Packages too large for memory lie in one file on disk, and are read one file at a time."""

from __future__ import annotations

import pickle
import tracemalloc
from pathlib import Path

import pytest

from app.grading import desk
from app.grading.desk import batches
from app.packages.arrivals import read_arrival
from app.packages.errors import PackageErrors
from app.packages.files import Limits, archive_files
from app.packages.spooled import SpooledFiles, total_size
from app.packages.trials import Question
from app.packages.zips import zip_bytes
from app.storage.files import LocalFiles
from app.storage.problems import keep_package
from tests.builders.packages import zip_package

MIB = 2**20


def test_a_spooled_package_reads_as_one_in_memory(tmp_path: Path) -> None:
    data = zip_package()
    top, files = archive_files(data, spool=tmp_path / "spool")
    assert isinstance(files, SpooledFiles)
    assert (top, dict(files)) == archive_files(data)
    assert total_size(files) == sum(map(len, files.values()))
    again = pickle.loads(pickle.dumps(files))
    assert dict(again) == dict(files)
    spooled = read_arrival(data, None, None, spool=tmp_path / "arrival").package
    assert [case.input.read() for case in spooled.cases] == [b"1\n", b"2\n", b"3\n"]


def test_a_package_is_kept_as_the_same_bytes_whether_it_was_spooled_or_not(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path / "files")
    spooled = read_arrival(zip_package(), None, None, spool=tmp_path / "spool").package
    plain = read_arrival(zip_package(), None, None).package
    assert keep_package(files, spooled).zipped == keep_package(files, plain).zipped
    assert archive_files(files.load(keep_package(files, plain).zipped))[1] == dict(plain.files)


def test_reading_a_large_package_takes_the_memory_of_one_file(tmp_path: Path) -> None:
    """48 MiB in files of 1 MiB; in memory they took all of it."""
    block = bytes(range(256)) * 16
    data = zip_bytes({f"p/{number}.in": block * (MIB // len(block)) for number in range(48)})
    tracemalloc.start()
    _, files = archive_files(data, spool=tmp_path / "spool")
    assert sum(len(files[name]) for name in files) == 48 * MIB
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * MIB


def test_limits_hold_for_what_is_spooled(tmp_path: Path) -> None:
    with pytest.raises(PackageErrors, match="at most 1000 bytes in a file"):
        archive_files(zip_bytes({"p/a": b"1" * 2000}), Limits(single=1000), spool=tmp_path / "spool")


def test_a_file_is_stored_in_pieces_as_its_bytes_are_at_once(tmp_path: Path) -> None:
    files, path = LocalFiles(tmp_path / "files"), tmp_path / "large"
    path.write_bytes(b"0123456789abcdef" * MIB)
    tracemalloc.start()
    first, second = files.put_file(path), files.put_file(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * MIB
    assert (first.made is not None, second.made) == (True, None)
    assert files.put(path.read_bytes()).made is None
    assert files.load(first.sha256) == path.read_bytes()
    files.path(first.sha256).write_bytes(b"damaged")
    assert files.put_file(path).made is not None
    assert files.load(first.sha256) == path.read_bytes()


def test_questions_are_asked_in_batches_that_fit_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "BATCH_BYTES", 100)
    questions = (Question("exact", (), b"x" * size) for size in (60, 60, 10, 200, 5))
    assert [[len(each.input) for each in batch] for batch in batches(questions)] == [[60, 60], [10, 200], [5]]
