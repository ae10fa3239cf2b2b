"""`jurado move` takes a database elsewhere and says what is there now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import make_url

from app.core.files.open_files import LocalFiles
from tests.app.conftest import Jurado


def test_a_service_is_moved_to_postgresql_and_starts_there(
    jurado: Jurado, tmp_path: Path, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    there = json.loads(jurado("init", "--home", home, "--json").stdout)
    url = postgresql_url.replace("postgresql+psycopg://", "postgresql://")
    done = jurado("move", url, "--home", home, "--json")
    assert done.exit_code == 0, done.output
    moved = json.loads(done.stdout)
    assert moved["rows"]["accounts"] == 1
    assert moved["rows"]["contests"] == 3
    password = make_url(url).password
    assert password is None or password not in done.output
    monkeypatch.setenv("JURADO_DATABASE_URL", url)
    assert json.loads(jurado("init", "--home", home, "--json").stdout) == there
    again = jurado("move", url, "--home", home)
    assert again.exit_code == 1
    assert "the same one" in again.output


def test_files_are_moved_to_s3_and_back(
    jurado: Jurado, tmp_path: Path, s3_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is there already is not copied again, damage is named, and a service starts with the files there."""
    home, back = tmp_path / "home", tmp_path / "back"
    there = json.loads(jurado("init", "--home", home, "--json").stdout)
    files = LocalFiles(home / "files")
    names = sorted(each.sha256 for each in files.stored())
    done = jurado("move", s3_url, "--home", home, "--json")
    assert done.exit_code == 0, done.output
    assert (json.loads(done.stdout)["files"], "secret" in done.output) == (len(names), False)
    files.path(names[0]).write_bytes(b"junk")
    again = jurado("move", s3_url, "--home", home, "--json")
    assert (again.exit_code, json.loads(again.stdout)["faulty"]) == (0, []), "S3 has it whole"
    monkeypatch.setenv("JURADO_FILES_URL", s3_url)
    assert json.loads(jurado("init", "--home", home, "--json").stdout) == there
    same = jurado("move", s3_url, "--home", home)
    assert (same.exit_code, "expected another place" in same.stderr) == (1, True)
    done = jurado("move", f"file://{back}", "--home", home)
    assert done.exit_code == 0, done.output
    assert sorted(each.sha256 for each in LocalFiles(back).stored()) == names
    for name in names:
        LocalFiles(back).examine(name)


def test_a_place_that_is_none_is_refused_in_one_line(jurado: Jurado, tmp_path: Path) -> None:
    home = tmp_path / "home"
    jurado("init", "--home", home)
    for url, words, code in (
        ("mysql://me@there/x", "expected postgresql://", 2),
        ("postgresql://me@/x?host=/nowhere", "the database cannot be used: connection", 1),
    ):
        done = jurado("move", url, "--home", home)
        assert (done.exit_code, words in done.stderr) == (code, True), done.output
        assert "Traceback" not in done.output
