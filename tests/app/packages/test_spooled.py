"""Packages too large for memory lie in one file on disk, and are read one file at a time."""

from __future__ import annotations

import gc
import pickle
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.db.database import Database
from app.core.faults import PackageErrors
from app.core.files.files import digest_of
from app.core.files.open_files import LocalFiles
from app.packages.arrivals import read_arrival
from app.packages.contents import SpooledFiles, total_size
from app.packages.files import Limits, archive_files
from app.packages.model import write_archive_file
from app.packages.read import read_archive
from app.packages.texts import ahead
from app.packages.zips import zip_bytes
from app.problems.queries import problems
from app.problems.queries.packing import packed
from app.problems.queries.problems import import_package, keep_package
from app.tables import ProblemRow
from tests.builders.foreign import OMEGAUP, foreign_zip
from tests.builders.packages import case_of, zip_package
from tests.conftest import migrated_sqlite

MIB = 2**20
OMEGAUP_CASES = [name for name in OMEGAUP if name.startswith("cases/")]


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


def traced(work: Callable[[], object]) -> int:
    """The most bytes that Python's objects take while something is done."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_large_package_of_another_judge_is_turned_into_one_of_ours_a_file_at_a_time(tmp_path: Path) -> None:
    """32 MiB of cases, half of them with line ends to be changed: read, checked, written as a zip, read again."""
    block = b"0123456789abcde\n" * (MIB // 16)
    cases = {f"cases/{number:02}.{kind}": block for number in range(16) for kind in ("in", "out")}
    crlf = {name: data.replace(b"\n", b"\r\n") for name, data in cases.items() if name < "cases/08"}
    plan = "".join(f"{number:02} 1\n" for number in range(16))
    zipped = tmp_path / "sum.zip"
    zipped.write_bytes(foreign_zip(OMEGAUP, {**dict.fromkeys(OMEGAUP_CASES), **cases, **crlf, "testplan": plan}))
    target = tmp_path / "ours.zip"

    def turn() -> None:
        arrival = read_arrival(zipped, "sum", None, spool=tmp_path / "spool")
        write_archive_file(arrival.package, target)

    assert traced(turn) < 12 * MIB
    package = read_archive(target, spool=tmp_path / "again")
    secret = [case for case in package.cases if case.group != "sample"]
    assert [case.input.read() == block for case in secret] == [True] * 16
    assert [case.input.size for case in secret] == [MIB] * 16


def test_a_problem_is_packed_a_file_at_a_time_also_once_its_cases_have_changed(tmp_path: Path) -> None:
    """12 MiB of inputs; one of them is another one by now."""
    block = b"0123456789abcde\n" * (MIB // 32)
    large = {f"data/secret/big{number:02}.in": block + b"%d\n" % number for number in range(24)}
    answers = {name.replace(".in", ".ans"): b"1\n" for name in large}
    files = LocalFiles(tmp_path / "files")
    database = Database(migrated_sqlite(tmp_path / "jurado.sqlite"))
    with database.write() as session:
        import_package(session, files, read_archive(zip_package({**large, **answers})))
        row = problems.test_case(session, "echo", "big07")
        assert row is not None
        row.input_sha256, row.input_size = files.keep(b"7\n"), 2
        problem = session.get_one(ProblemRow, "echo")
        rows = problems.groups(session, "echo"), problems.test_cases(session, "echo")
        made = tmp_path / "made.zip"

        def pack() -> None:
            with packed(files, problem, *rows) as file, made.open("wb") as target:
                shutil.copyfileobj(file, target)

        assert traced(pack) < 6 * MIB
    database.close()
    again = read_archive(made, spool=tmp_path / "spool")
    assert case_of(again, "big07").input.read() == b"7\n"
    assert case_of(again, "big08").input.read() == block + b"8\n"


def test_archives_in_an_archive_have_a_limit_of_their_own(tmp_path: Path) -> None:
    data = zip_bytes({"problems/a/a.zip": b"1" * 5000, "contest.json": b"{}"})
    limits = Limits(single=1000, nested=10_000)
    _, files = archive_files(data, limits, spool=tmp_path / "spool")
    assert isinstance(files, SpooledFiles)
    assert files.copy("problems/a/a.zip", tmp_path / "a.zip").read_bytes() == b"1" * 5000
    for name in ("problems/a/a.txt", "contest.json"):
        with pytest.raises(PackageErrors, match="at most 1000 bytes in a file"):
            archive_files(zip_bytes({name: b"1" * 5000, "b": b""}), limits, spool=tmp_path / name[-4:])


def test_what_is_made_ahead_waits_in_a_short_line() -> None:
    """In the order of its parts, and never more of it than asked for."""
    begun: list[int] = []
    results = ahead(lambda number: begun.append(number) or number, range(20), 3)
    assert next(results) == 0
    assert max(begun) <= 2
    assert list(results) == list(range(1, 20))


def test_limits_hold_for_what_is_spooled(tmp_path: Path) -> None:
    with pytest.raises(PackageErrors, match="at most 1000 bytes in a file"):
        archive_files(zip_bytes({"p/a": b"1" * 2000}), Limits(single=1000), spool=tmp_path / "spool")


def test_a_file_is_stored_in_pieces_as_its_bytes_are_at_once(tmp_path: Path) -> None:
    files, path = LocalFiles(tmp_path / "files"), tmp_path / "large"
    path.write_bytes(b"0123456789abcdef" * MIB)
    tracemalloc.start()
    first, inode = files.keep_file(path), files.path(digest_of(path)).stat().st_ino
    assert files.keep_file(path) == first
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * MIB
    assert files.keep(path.read_bytes()) == first
    assert files.path(first).stat().st_ino == inode, "it is not written again"
    assert files.load(first) == path.read_bytes()
    files.path(first).write_bytes(b"damaged")
    assert files.keep_file(path) == first
    assert files.load(first) == path.read_bytes()
