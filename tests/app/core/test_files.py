"""Content-addressed files: the same bytes once, damage noticed, nothing half written."""

from __future__ import annotations

import fcntl
import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.effort import EFFORT
from app.core.files.open_files import LocalFiles
from app.core.files.stored_bytes import FileDamaged, FileMissing


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=5000))
def test_what_is_kept_comes_back(tmp_path: Path, data: bytes) -> None:
    """Any bytes come back as they were, under the same name each time."""
    files = LocalFiles(tmp_path)
    name = files.keep(data)
    assert files.keep(data) == name
    assert files.load(name) == data


def test_a_file_is_on_the_disk_before_it_gets_its_name_and_both_folders_before_anybody_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, synced = LocalFiles(tmp_path), []
    monkeypatch.setattr(EFFORT, "waits_for_disk", True)
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.readlink(f"/proc/self/fd/{descriptor}")))
    place = files.path(files.keep(b"one"))
    assert [Path(each).parent for each in synced[:1]] == [place.parent]
    assert synced[1:] == [str(place.parent), str(tmp_path)]
    assert Path(synced[0]).name.startswith(".new-")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """Asking for what is not there says so."""
    with pytest.raises(FileMissing, match="0000"):
        LocalFiles(tmp_path).load("0" * 64)


def test_damage_is_noticed(tmp_path: Path) -> None:
    """A file that was changed on the disk is not handed out, whether it still inflates or not."""
    files = LocalFiles(tmp_path)
    one, other = files.keep(b"one"), files.keep(b"other")
    files.path(one).write_bytes(files.path(other).read_bytes())
    with pytest.raises(FileDamaged, match="other bytes"):
        files.load(one)
    files.path(one).write_bytes(b"junk")
    with pytest.raises(FileDamaged):
        files.load(one)


def test_nothing_unfinished_stays(tmp_path: Path) -> None:
    """After a failed write there is neither the file nor a piece of it."""
    files = LocalFiles(tmp_path)
    with pytest.raises(TypeError):
        files.keep("text")  # type: ignore[arg-type]  # what fails here fails as a full disk would
    kept = files.keep(b"data")
    assert list(tmp_path.rglob("*.zst")) == [files.path(kept)]
    assert not list(tmp_path.rglob(".new-*"))


def test_bytes_sent_again_mend_a_damaged_file(tmp_path: Path) -> None:
    """Whether a bit has flipped, the file is cut short, or it holds something else that inflates."""
    files = LocalFiles(tmp_path)
    data, other = b"answer\n" * 9000, files.keep(b"other")
    name = files.keep(data)
    whole = files.path(name).read_bytes()
    flipped = whole[:20] + bytes([whole[20] ^ 4]) + whole[21:]
    for spoilt in (flipped, whole[:9], b"", files.path(other).read_bytes()):
        files.path(name).write_bytes(spoilt)
        assert files.keep(data) == name
        assert files.load(name) == data


def test_a_sound_file_is_not_written_again(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path)
    path = files.path(files.keep(b"data"))
    inode = path.stat().st_ino
    files.keep(b"data")
    assert path.stat().st_ino == inode


def test_a_file_that_is_kept_since_it_was_listed_is_not_collected(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path)
    name = files.keep(b"data")
    os.utime(files.path(name), (0, 0))
    (listed,) = files.stored()
    files.keep(b"data")
    assert not files.collect(listed)
    assert files.load(name) == b"data"
    (listed,) = files.stored()
    assert files.collect(listed)
    assert not files.collect(listed)


def test_a_file_that_is_removed_while_it_is_kept_is_written_again(tmp_path: Path) -> None:
    """Whoever keeps bytes says so only while no one removes them."""
    files = LocalFiles(tmp_path)
    name = files.keep(b"data")
    with ThreadPoolExecutor() as pool, (tmp_path / ".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = pool.submit(files.keep, b"data")
        with pytest.raises(TimeoutError):
            kept.result(0.2)
        files.path(name).unlink()
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert kept.result(60) == name
    assert files.load(name) == b"data"


def test_what_killed_processes_left_is_tidied_up(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path)
    name = files.keep(b"data")
    path = files.path(name)
    unfinished = path.with_name(".new-1234")
    unfinished.write_bytes(b"half")
    assert files.tidy() == 0
    os.utime(unfinished, (0, 0))
    assert files.tidy() == 1
    assert [each for each in tmp_path.rglob("*") if each.is_file() and each.name != ".lock"] == [path]


def test_a_large_file_is_read_in_pieces_and_its_damage_is_known_at_the_end(tmp_path: Path) -> None:
    """The last piece is never given where the bytes are not those that were stored."""
    files = LocalFiles(tmp_path)
    data = random.Random(1).randbytes(500_000)
    sha256 = files.keep(data)
    pieces = list(files.pieces(sha256))
    assert b"".join(pieces) == data
    assert max(map(len, pieces)) < 200_000
    assert list(files.pieces(files.keep(b""))) == []
    files.path(sha256).write_bytes(zstandard.compress(data[:-1] + bytes([data[-1] ^ 1])))
    given = files.pieces(sha256)
    received = bytearray()

    def receive() -> None:
        for piece in given:
            received.extend(piece)

    with pytest.raises(FileDamaged):
        receive()
    assert 0 < len(received) < len(data)
    with pytest.raises(FileMissing):
        files.pieces("0" * 64)
