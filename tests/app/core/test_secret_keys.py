"""Tokens of webhooks are stored encrypted everywhere, and a key that is missing is a line that says what to do."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from pydantic import ValidationError
from sqlalchemy import text

from app.archive.commands.places import try_places
from app.archive.queries.backup import backup, read_manifest, restore
from app.archive.queries.database_copy import copy_rows
from app.core.commands.output import Failure
from app.core.db.database import Database
from app.core.db.migrate import KEY_FILE, Encrypted, SecretKeyError, SecretKeys, key_id_of
from app.core.files.open_files import LocalFiles
from app.core.settings import Settings
from app.feed import queries as feed_queries
from app.operations.service.bootstrap import bring_keys, check_keys
from app.tables import WebhookRow
from tests.builders.service import open_api

TOKEN = "a-token-nobody-may-find-7f3a"


def with_webhook(url: str, home: Path) -> Settings:
    """The settings of a service that was started once, and has one webhook."""
    with open_api(url, home) as api:
        body = {"id": "old", "url": "http://receiver.invalid/", "token": TOKEN}
        assert api.post("webhooks", user="admin", json=body).status_code == 201
    return Settings(home=home, database_url=url)


def tokens(database: Database, keys: SecretKeys) -> dict[str, str]:
    with database.read() as session:
        return {row.id: keys.decrypt(feed_queries.encrypted_token(row)) for row in feed_queries.webhooks(session)}


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
        manifest = backup(service.database, service.files, folder)
        assert manifest.secret_keys == read_manifest(folder).secret_keys == service.keys.ids
    assert folder_holds(tmp_path, TOKEN) == []
    key = (home / KEY_FILE).read_text().strip()
    assert [path.parent for path in tmp_path.rglob("*") if path.name == KEY_FILE] == [home]
    assert folder_holds(folder, key) == []
    assert stat.S_IMODE((home / KEY_FILE).stat().st_mode) == 0o600


def test_a_change_that_breaks_off_leaves_every_token_readable(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = with_webhook(database_url, tmp_path / "home")
    database = Database(database_url)
    old = check_keys(database, settings)

    def die(*_: object) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(SecretKeys, "encrypt", die)
        with pytest.raises(KeyboardInterrupt):
            bring_keys(database, settings, renew=True)
    assert tokens(database, old) == {"old": TOKEN}
    keys = bring_keys(database, settings)
    assert (keys.ids[1:], tokens(database, keys)) == (old.ids, {"old": TOKEN})
    database.close()


def test_a_new_key_in_front_encrypts_all_tokens_anew(database_url: str, tmp_path: Path) -> None:
    """The older key may then be taken away."""
    home = tmp_path / "home"
    settings = with_webhook(database_url, home)
    database = Database(database_url)
    old = bring_keys(database, settings)
    new = bring_keys(database, settings, renew=True)
    assert new.ids[1:] == old.ids
    (home / KEY_FILE).write_text((home / KEY_FILE).read_text().splitlines()[0])
    keys = bring_keys(database, settings)
    assert (keys.ids, tokens(database, keys)) == (new.ids[:1], {"old": TOKEN})
    of_setting = Fernet.generate_key().decode()
    keys = bring_keys(database, settings.model_copy(update={"secret_key": of_setting}))
    assert keys.ids == [key_id_of(of_setting), *new.ids[:1]]
    (home / KEY_FILE).unlink()
    assert tokens(database, bring_keys(database, settings.model_copy(update={"secret_key": of_setting})))
    assert not (home / KEY_FILE).exists()
    database.close()


def test_a_missing_or_wrong_key_says_which_and_what_to_do(database_url: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    settings = with_webhook(database_url, home)
    database = Database(database_url)
    (lost,) = bring_keys(database, settings).ids
    wrong = Fernet.generate_key().decode()
    for content, found in (("", "no key"), (wrong, key_id_of(wrong))):
        (home / KEY_FILE).write_text(content)
        with pytest.raises(SecretKeyError) as error:
            bring_keys(database, settings)
        assert f"encrypted by the key {lost}: expected it in {home / KEY_FILE}" in str(error.value)
        assert f"found {found}." in str(error.value)
        assert "jurado init --new-secret-key" in str(error.value)
        assert wrong not in str(error.value)
        assert (home / KEY_FILE).read_text() == content
    (home / KEY_FILE).write_text("no key at all")
    with pytest.raises(SecretKeyError, match="expected keys of 32 bytes"):
        bring_keys(database, settings)
    (home / KEY_FILE).write_text(wrong)
    keys = bring_keys(database, settings, renew=True)
    assert (len(keys.ids), tokens(database, keys)) == (2, {})
    database.close()


def test_of_a_newer_versions_database_that_is_said_and_not_that_a_key_is_missing(
    sqlite_url: str, tmp_path: Path
) -> None:
    """Its keys may lie elsewhere; whoever is told of a lost key makes another one and loses webhooks."""
    settings = with_webhook(sqlite_url, tmp_path / "home")
    database = Database(sqlite_url)
    bring_keys(database, settings)
    (tmp_path / "home" / KEY_FILE).unlink()
    with pytest.raises(Failure, match="are encrypted by the key"):
        try_places(settings)
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = 'f00000000000'"))
    database.close()
    with pytest.raises(Failure, match="a newer one made it"):
        try_places(settings)


def test_a_damaged_token_is_no_token(tmp_path: Path) -> None:
    keys = SecretKeys([Fernet.generate_key().decode()], "here")
    made = keys.encrypt(TOKEN)
    assert keys.decrypt(made) == TOKEN
    with pytest.raises(SecretKeyError, match="found a damaged one"):
        keys.decrypt(Encrypted(made.text[:-8] + "AAAAAAA=", made.key_id))


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
    keys = bring_keys(source, settings)
    with target.engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    copy_rows(source, target)
    assert tokens(target, check_keys(target, settings)) == {"old": TOKEN}
    backup(target, LocalFiles(home / "files"), folder)
    restore(folder, sqlite_url, LocalFiles(home / "files"), replace=True)
    source.close()
    restored = Database(sqlite_url)
    assert tokens(restored, keys) == {"old": TOKEN}
    with restored.read() as session:
        assert session.get_one(WebhookRow, "old").key_id == keys.ids[0]
    restored.close()
    target.close()
