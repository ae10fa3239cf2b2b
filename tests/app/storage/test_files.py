"""Content-addressed files: the same bytes once, damage noticed, nothing half written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.storage.files import FileDamaged, FileMissing, LocalFiles


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=5000))
def test_what_is_kept_comes_back(tmp_path: Path, data: bytes) -> None:
    """Any bytes come back as they were, under the same name each time."""
    files = LocalFiles(tmp_path)
    name = files.keep(data)
    assert files.keep(data) == name
    assert files.load(name) == data


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
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [files.path(kept)]
