"""Packages are read in a process of its own, within a time, and what it says makes no other objects."""

from __future__ import annotations

import io
import os
import pickle
import signal
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from threading import Thread

import pytest

from app.core.faults import PackageErrors
from app.packages.arrivals import read_arrival, read_member
from app.packages.read import read_archive
from app.programs.apart import Reader, Results
from tests.builders.packages import PROBLEM, zip_package

SLOW = {"problem.yaml": f"{PROBLEM}keywords: [{', '.join(['a'] * 60_000)}]\n"}
"""Some seconds of YAML."""


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    reader = Reader()
    yield reader
    reader.close()


def test_a_package_is_the_same_as_if_it_were_read_here(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zip_package())
    here = read_archive(zip_package())
    for arrival in (
        reader.read(read_arrival, (tmp_path / "a.zip", None, None), 60, [tmp_path / "a.zip"]),
        reader.read(read_member, (zip_package(), "echo"), 60),
    ):
        assert arrival.package == here
        assert arrival.package.files == here.files
        assert arrival.package.cases[1].input.read() == b"2\n"
        assert arrival.broken == ()


def test_faults_are_those_that_reading_here_finds(reader: Reader) -> None:
    data = zip_package({"jurado.yaml": "checker: exact\nscoring: {kind: best}\nfoo: 1\n", "data/secret/02.ans": None})
    with pytest.raises(PackageErrors) as here:
        read_archive(data)
    with pytest.raises(PackageErrors) as there:
        reader.read(read_arrival, (data, None, None), 60)
    assert there.value.errors == here.value.errors
    assert [each.as_data() for each in there.value.errors] == [each.as_data() for each in here.value.errors]
    assert len(here.value.errors) == 3


def test_reading_ends_with_its_time_and_the_next_package_is_read(reader: Reader) -> None:
    with pytest.raises(PackageErrors) as raised:
        reader.read(read_arrival, (zip_package(SLOW), None, None), 0.2)
    assert str(raised.value) == "expected a package that is read in 0.2 s, found a longer time"
    assert reader.read(read_arrival, (zip_package(), None, None), 60).package.slug == "echo"


def test_a_process_that_was_killed_is_replaced(reader: Reader) -> None:
    reader.read(read_member, (zip_package(), "echo"), 60)
    before = reader.pid
    assert before is not None
    os.kill(before, signal.SIGKILL)
    assert reader.read(read_member, (zip_package(), "echo"), 60).package.slug == "echo"
    assert reader.pid != before


def test_the_process_outlives_the_thread_that_asked_first(reader: Reader) -> None:
    """Requests are served by threads that end; starting Python again for each package would take a second."""
    reader.close()
    pids = []

    def ask() -> None:
        reader.read(read_member, (zip_package(), "echo"), 60)
        pids.append(reader.pid)

    for _ in range(2):
        thread = Thread(target=ask)
        thread.start()
        thread.join()
    assert pids[0] == pids[1] is not None


class Evil:
    def __reduce__(self) -> object:
        return os.system, ("true",)


@pytest.mark.parametrize("value", [Evil(), Path("/"), Reader, read_arrival, getattr])
def test_results_hold_nothing_but_what_packages_consist_of(value: object) -> None:
    with pytest.raises(pickle.UnpicklingError, match="expected a class of packages"):
        Results(io.BytesIO(pickle.dumps(value))).load()
    assert Results(io.BytesIO(pickle.dumps(Fraction(1, 3)))).load() == Fraction(1, 3)
