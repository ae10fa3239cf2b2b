"""`jurado backup`, `restore` and `fsck` end with one line and an exit code that says how it went."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text, update

from app.core.db.database import Database
from app.core.db.serving import hold
from app.packages.catalog import VARIABLE
from app.tables import AnswerRow
from tests.app.conftest import Jurado
from tests.builders.contests import add_contest, add_problem
from tests.builders.packages import write_problems
from tests.builders.service import open_api
from tests.conftest import migrated_sqlite


@pytest.fixture(autouse=True)
def _few_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two small problems to start with, as each `init` imports them all."""
    monkeypatch.setenv(VARIABLE, str(write_problems(tmp_path / "problems")))


def test_a_service_is_backed_up_checked_and_restored(jurado: Jurado, tmp_path: Path) -> None:
    home, folder, other = tmp_path / "home", tmp_path / "backup", tmp_path / "other"
    there = json.loads(jurado("init", "--home", home, "--json").stdout)
    manifest = json.loads(jurado("backup", folder, "--home", home, "--json").stdout)
    assert manifest["rows"]["accounts"] == 1
    assert manifest["faulty"] == []
    refused = jurado("restore", folder, "--home", home)
    assert (refused.exit_code, "found rows in its table" in refused.stderr) == (1, True)
    assert jurado("restore", folder, "--home", other).exit_code == 0
    assert json.loads(jurado("init", "--home", other, "--json").stdout)["contests"] == there["contests"]
    checked = json.loads(jurado("fsck", "--home", other, "--json").stdout)
    assert (checked["files"], checked["faults"], checked["orphans"]) == (manifest["files"], [], 0)
    victim = next(path for path in (other / "files").rglob("*.zst"))
    victim.write_bytes(b"")
    found = jurado("fsck", "--home", other)
    assert (found.exit_code, "damaged" in found.stdout) == (1, True)
    mended = jurado("fsck", "--home", other, "--repair", "--from", folder, "--json")
    assert (mended.exit_code, len(json.loads(mended.stdout)["repaired"]["restored"])) == (0, 1)
    assert jurado("fsck", "--home", other).exit_code == 0


def test_a_service_goes_to_postgresql_and_s3_and_back_by_backup_and_restore(
    jurado: Jurado, tmp_path: Path, postgresql_url: str, s3_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The home stays; the database and the files go elsewhere by two settings."""
    home, folder, other = tmp_path / "home", tmp_path / "backup", tmp_path / "other"
    there = json.loads(jurado("init", "--home", home, "--json").stdout)
    assert jurado("backup", folder, "--home", home).exit_code == 0
    url = postgresql_url.replace("postgresql+psycopg://", "postgresql://")
    monkeypatch.setenv("JURADO_DATABASE_URL", url)
    monkeypatch.setenv("JURADO_FILES_URL", s3_url)
    done = jurado("restore", folder, "--home", home)
    assert done.exit_code == 0, done.output
    shutil.rmtree(home / "files")
    again = jurado("init", "--home", home, "--json")
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout) == there
    assert jurado("fsck", "--home", home).exit_code == 0
    refused = jurado("restore", folder, "--home", home)
    assert (refused.exit_code, "found rows in its table" in refused.stderr) == (1, True)
    assert jurado("backup", folder, "--home", home).exit_code == 0
    monkeypatch.delenv("JURADO_DATABASE_URL")
    monkeypatch.delenv("JURADO_FILES_URL")
    assert jurado("restore", folder, "--home", other).exit_code == 0
    assert json.loads(jurado("init", "--home", other, "--json").stdout)["contests"] == there["contests"]
    assert jurado("fsck", "--home", other).exit_code == 0


def test_fsck_mends_files_from_a_backup_and_names_answers_with_other_bytes(jurado: Jurado, tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "backup"
    home.mkdir()
    with open_api(migrated_sqlite(home / "jurado.db"), home) as api:
        add_problem(api.service)
        add_contest(api.service)
        sent = {"files": ("02.out", b"2\n")}
        assert api.post("contests/c/submissions", user="team", data={"problem_id": "echo"}, files=sent).is_success
    assert jurado("backup", folder, "--home", home).exit_code == 0
    next(path for path in (home / "files").rglob("*.zst")).write_bytes(b"")
    database = Database(f"sqlite:///{home / 'jurado.db'}")
    with database.write() as session:
        session.execute(update(AnswerRow).values(data=b"other bytes"))
    database.close()
    assert jurado("fsck", "--home", home, "--json").exit_code == 1
    alone = jurado("fsck", "--repair", "--home", home)
    assert (alone.exit_code, "damaged" in alone.stdout, "other bytes" in alone.stdout) == (1, True, True)
    mended = jurado("fsck", "--repair", "--home", home, "--from", folder, "--json")
    (fault,) = json.loads(mended.stdout)["faults"]
    assert (mended.exit_code, fault["kind"], fault["why"]) == (1, "rows", "other bytes than were sent")
    assert len(json.loads(mended.stdout)["repaired"]["restored"]) == 1


def test_nothing_is_restored_where_a_server_has_the_home_or_the_database(
    jurado: Jurado, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, folder, other = tmp_path / "home", tmp_path / "backup", tmp_path / "other"
    jurado("init", "--home", home)
    assert jurado("backup", folder, "--home", home).exit_code == 0
    monkeypatch.setenv("JURADO_DATABASE_URL", database_url)
    held = hold("jurado serve", other, database_url)
    before = accounts(database_url)
    for place in (other, tmp_path / "another"):  # of another home, it is the database that is in use
        refused = jurado("restore", folder, "--home", place, "--replace")
        assert refused.exit_code == 1
        assert "in use by jurado serve" in refused.stderr
        assert not any((place / "files").glob("*"))
    assert accounts(database_url) == before == 0
    held.release()
    assert jurado("restore", folder, "--home", other, "--replace").exit_code == 0
    assert accounts(database_url) == 1


def accounts(url: str) -> int:
    """How many accounts a database holds."""
    engine = create_engine(url)
    with engine.connect() as connection:
        count = connection.scalar(text("SELECT count(*) FROM accounts"))
    engine.dispose()
    return int(count or 0)


def test_what_is_not_there_is_one_line(jurado: Jurado, tmp_path: Path) -> None:
    for words in (
        ("backup", tmp_path / "to", "--home", tmp_path / "nowhere"),
        ("restore", tmp_path / "nothing", "--home", tmp_path / "home"),
        ("fsck", "--home", tmp_path / "nowhere"),
    ):
        done = jurado(*words)
        assert done.exit_code == 1
        assert (done.stderr.count("\n"), "expected" in done.stderr, "Traceback" in done.stderr) == (1, True, False)
