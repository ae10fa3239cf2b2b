"""A reply that is sent while it is made begins early, ends with its maker, and leaves nothing behind."""

from __future__ import annotations

import io
import threading
import zipfile
from itertools import count

import pytest

from app.core.growing import Abandoned, GrowingFile, Sink
from app.packages.zips import write_zip


def test_what_is_written_can_be_read_before_the_rest_is_made() -> None:
    read = threading.Event()

    def make(target: Sink) -> None:
        target.write(b"first")
        assert read.wait(60)
        target.write(b"last")

    file = GrowingFile(make)
    chunks = file.chunks()
    assert next(chunks) == b"first"
    read.set()
    assert b"".join(chunks) == b"last"
    file.close()


def test_what_goes_wrong_before_the_first_byte_is_raised_to_whoever_waits_for_it() -> None:
    def make(_target: Sink) -> None:
        raise LookupError("no such contest")

    file = GrowingFile(make)
    with pytest.raises(LookupError, match="no such contest"):
        file.wait_for_first()
    file.close()


def test_what_goes_wrong_later_ends_the_reply_with_an_error_and_not_as_if_it_were_whole() -> None:
    def make(target: Sink) -> None:
        target.write(b"half")
        raise OSError("the disk is full")

    file = GrowingFile(make)
    chunks = file.chunks()
    assert next(chunks) == b"half"
    with pytest.raises(OSError, match="the disk is full"):
        next(chunks)
    file.close()


def test_a_maker_whose_reader_has_gone_stops() -> None:
    ended = []

    def make(target: Sink) -> None:
        try:
            for _ in count():
                target.write(b"more")
        except Abandoned:
            ended.append(True)
            raise

    file = GrowingFile(make)
    file.wait_for_first()
    file.close()
    assert ended == [True]


def test_a_zip_in_pieces_to_a_target_that_cannot_go_back_is_read_as_any_other() -> None:
    file = GrowingFile(lambda target: write_zip(target, [("a", [b"1", b"2"]), ("b/c", iter([b"x" * 70_000] * 3))]))
    data = b"".join(file.chunks())
    file.close()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == {"a": b"12", "b/c": b"x" * 210_000}
