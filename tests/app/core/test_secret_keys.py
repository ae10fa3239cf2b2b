"""Tokens of webhooks are stored encrypted everywhere, and a webhook whose key is missing says what to do."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from cryptography.fernet import Fernet, MultiFernet
from pydantic import ValidationError
from sqlalchemy import text

from app.archive.commands.places import try_places
from app.archive.queries.backup import backup, restore
from app.archive.queries.database_copy import copy_rows
from app.core.commands.output import Failure
from app.core.db.database import Database
from app.core.db.migrate import KEY_FILE, opened_keys, read_keys
from app.core.files.open_files import LocalFiles
from app.core.settings import Settings
from app.feed import queries as feed_queries
from tests.builders.contests import add_contest, add_problem
from tests.builders.service import open_api
from tests.builders.waiting import until

TOKEN = "a-token-nobody-may-find-7f3a"


def with_webhook(url: str, home: Path) -> Settings:
    """The settings of a service that was started once, and has one webhook."""
    with open_api(url, home) as api:
        body = {"id": "old", "url": "http://receiver.invalid/", "token": TOKEN}
        assert api.post("webhooks", user="admin", json=body).status_code == 201
    return Settings(home=home, database_url=url)


def tokens(database: Database, keys: MultiFernet) -> dict[str, str]:
    with database.read() as session:
        return {row.id: keys.decrypt(row.token).decode() for row in feed_queries.webhooks(session)}


def rows_as_text(database: Database) -> str:
    with database.read() as session:
        return repr(session.execute(text("SELECT * FROM webhooks")).all())


def folder_holds(folder: Path, what: str) -> list[str]:
    """The files below a folder that hold these bytes."""
    return [path.name for path in folder.rglob("*") if path.is_file() and what.encode() in path.read_bytes()]


def test_a_token_is_in_no_file_of_the_home_no_row_and_no_backup(database_url: str, tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "backup"
    with open_api(database_url, home) as api:
        body = {"id": "new", "url": "http://receiver.invalid/", "token": TOKEN}
        assert api.post("webhooks", user="admin", json=body).status_code == 201
        service = api.service
        assert TOKEN not in rows_as_text(service.database)
        assert tokens(service.database, service.keys) == {"new": TOKEN}
        backup(service.database, service.files, folder)
    assert folder_holds(tmp_path, TOKEN) == []
    key = (home / KEY_FILE).read_text().strip()
    assert [path.parent for path in tmp_path.rglob("*") if path.name == KEY_FILE] == [home]
    assert folder_holds(folder, key) == []
    assert stat.S_IMODE((home / KEY_FILE).stat().st_mode) == 0o600


def test_a_new_key_in_front_encrypts_and_older_ones_still_decrypt(sqlite_url: str, tmp_path: Path) -> None:
    settings = with_webhook(sqlite_url, tmp_path / "home")
    database, file = Database(sqlite_url), tmp_path / "home" / KEY_FILE
    new = Fernet.generate_key().decode()
    file.write_text(f"{new}\n{file.read_text()}")
    keys = opened_keys(settings)
    assert tokens(database, keys) == {"old": TOKEN}
    assert Fernet(new).decrypt(keys.encrypt(b"new")) == b"new"
    of_setting = Fernet.generate_key().decode()
    both = settings.model_copy(update={"secret_key": of_setting})
    assert read_keys(both) == [of_setting, *read_keys(settings)]
    file.unlink()
    assert opened_keys(both).decrypt(Fernet(of_setting).encrypt(b"new")) == b"new"
    assert not file.exists()
    database.close()


def test_a_webhook_whose_key_is_lost_says_what_to_do(sqlite_url: str, tmp_path: Path) -> None:
    """The service starts without the key, and makes another one."""
    settings = with_webhook(sqlite_url, tmp_path / "home")
    (settings.home / KEY_FILE).unlink()
    with open_api(sqlite_url, settings.home, again=True) as api:
        add_problem(api.service)
        add_contest(api.service)
        api.portal.call(api.app.state.sender.start)
        until(lambda: "put the key back" in str(api.get("webhooks", user="admin").json()))
    assert (settings.home / KEY_FILE).exists()


def test_a_file_of_keys_that_is_none_is_refused_before_the_start(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_text("no key at all")
    with pytest.raises(Failure, match="expected keys of 32 bytes"):
        try_places(Settings(home=tmp_path), new_database=True)


@pytest.mark.parametrize("key", ["short", "x" * 44, f"{'A' * 43}=,no"])
def test_a_setting_that_is_no_key_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(ValidationError, match="expected keys of 32 bytes"):
        Settings(secret_key=key)


def test_a_moved_database_and_a_restored_one_are_read_by_the_same_key(
    sqlite_url: str, postgresql_url: str, tmp_path: Path
) -> None:
    home, folder = tmp_path / "home", tmp_path / "backup"
    settings = with_webhook(sqlite_url, home)
    source, target = Database(sqlite_url), Database(postgresql_url)
    keys = opened_keys(settings)
    with target.engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    copy_rows(source, target)
    assert tokens(target, keys) == {"old": TOKEN}
    backup(target, LocalFiles(home / "files"), folder)
    restore(folder, sqlite_url, LocalFiles(home / "files"), replace=True)
    source.close()
    restored = Database(sqlite_url)
    assert tokens(restored, keys) == {"old": TOKEN}
    restored.close()
    target.close()
