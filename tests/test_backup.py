"""A backup made while teams submit holds everything acknowledged before it began, and can be put into its place."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sqlalchemy import text

from app.archive.queries import backup as backups
from app.archive.queries.backup import backup, read_manifest, restore, verify
from app.archive.queries.database_copy import BackupError
from app.core.db.database import Database
from app.core.files.open_files import LocalFiles, open_files
from app.core.settings import Settings
from app.submissions.queries.submissions import INLINE_LIMIT
from app.tables import ContestRow, WebhookRow
from tests import s3
from tests.builders.contests import add_contest, add_problem
from tests.builders.service import Api, open_api

TEAMS = ("team", "other")
Sent = list[tuple[str, bytes]]


def answer(team: str, number: int) -> bytes:
    """An answer that lies in the database or, every second one, in a file."""
    return f"{team} {number}\n".encode() * (1 + number % 2 * INLINE_LIMIT)


def submit(api: Api, team: str, number: int) -> tuple[str, bytes]:
    """Send one; returns its id, which the service has acknowledged, and what was sent."""
    sent = answer(team, number)
    reply = api.post(
        "contests/c/submissions", user=team, data={"problem_id": "echo"}, files={"files": ("02.out", sent)}
    )
    assert reply.status_code == 201, reply.text
    return reply.json()["id"], sent


@contextmanager
def contest(url: str, home: Path, **settings: str) -> Iterator[Api]:
    """A service with one problem in one contest."""
    with open_api(url, home, **settings) as api:
        add_problem(api.service)
        add_contest(api.service)
        yield api


def holds(url: str, home: Path, expected: Sent, **settings: str) -> None:
    """Every one of these submissions is there with its bytes."""
    with open_api(url, home, again=True, **settings) as api:
        for id_, sent in expected:
            reply = api.get(f"contests/c/submissions/{id_}/answers/02", user="admin")
            assert (reply.status_code, reply.content) == (200, sent), id_


def test_a_backup_under_load_loses_nothing_acknowledged_before_it(database_url: str, tmp_path: Path) -> None:
    home, folder, other = tmp_path / "home", tmp_path / "backup", tmp_path / "other"
    other.mkdir()
    acknowledged: Sent = []
    begun, done = Event(), Event()
    with contest(database_url, home) as api, ThreadPoolExecutor(len(TEAMS)) as pool:

        def load(team: str) -> None:
            number = 0
            while not done.is_set():
                acknowledged.append(submit(api, team, number))
                number += 1
                if number > 2:
                    begun.set()

        loads = [pool.submit(load, team) for team in TEAMS]
        try:
            assert begun.wait(120)
            expected = list(acknowledged)
            manifest = backup(api.service.database, api.service.files, folder)
        finally:
            done.set()
        for each in loads:
            each.result()
        assert len(acknowledged) > len(expected)
    assert verify(folder)[0] == manifest
    restored = f"sqlite:///{other / 'jurado.db'}"
    restore(folder, restored, LocalFiles(other / "files"))
    holds(restored, other, expected)


def test_a_backup_of_sqlite_goes_to_postgresql(sqlite_url: str, postgresql_url: str, tmp_path: Path) -> None:
    folder, other = tmp_path / "backup", tmp_path / "other"
    with contest(sqlite_url, tmp_path / "home") as api:
        expected = [submit(api, "team", number) for number in range(3)]
        backup(api.service.database, api.service.files, folder)
    database = Database(postgresql_url)
    with database.engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    database.close()
    restore(folder, postgresql_url, LocalFiles(other / "files"))
    holds(postgresql_url, other, expected)
    with pytest.raises(BackupError, match="expected an empty database"):
        restore(folder, postgresql_url, LocalFiles(other / "files"))
    restore(folder, postgresql_url, LocalFiles(other / "files"), replace=True)
    holds(postgresql_url, other, expected)


def test_a_backup_of_files_on_s3_is_put_back_onto_s3_or_into_a_folder(
    sqlite_url: str, s3_url: str, s3_port: int, tmp_path: Path
) -> None:
    folder, other, bucket = tmp_path / "backup", tmp_path / "other", s3.address(s3_port, s3.new_bucket(s3_port))
    with contest(sqlite_url, tmp_path / "home", files_url=s3_url) as api:
        expected = [submit(api, "team", number) for number in range(3)]
        manifest = backup(api.service.database, api.service.files, folder)
    assert verify(folder)[0] == manifest
    other.mkdir()
    for at, settings in enumerate(({"files_url": bucket}, {})):
        url = f"sqlite:///{other / f'{at}.db'}"
        restore(folder, url, open_files(Settings.model_validate({"home": other, **settings})))
        holds(url, other, expected, **settings)


def die(*_: object) -> None:
    """As when the process is stopped here."""
    raise KeyboardInterrupt


def test_a_second_backup_copies_only_new_files_and_forgets_the_old_database(sqlite_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "backup"
    with contest(sqlite_url, tmp_path / "home") as api:
        submit(api, "team", 1)
        first = backup(api.service.database, api.service.files, folder)
        copied = {path: path.stat().st_ino for path in (folder / "files").rglob("*.zst")}
        expected = [submit(api, "other", 1)]
        second = backup(api.service.database, api.service.files, folder)
    assert second.files == first.files + 1
    assert {path: path.stat().st_ino for path in copied} == copied
    assert [path.name for path in folder.glob("jurado-*")] == [second.database]
    other = tmp_path / "other"
    other.mkdir()
    restore(folder, f"sqlite:///{other / 'jurado.db'}", LocalFiles(other / "files"))
    holds(f"sqlite:///{other / 'jurado.db'}", other, expected)


def test_a_backup_that_is_broken_off_leaves_the_one_before(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it dies after the database or at the manifest; where there was none before, there is none then."""
    folder, fresh = tmp_path / "backup", tmp_path / "fresh"
    with contest(sqlite_url, tmp_path / "home") as api:
        database, files = api.service.database, api.service.files
        submit(api, "team", 1)
        first = backup(database, files, folder)
        submit(api, "other", 1)

        for part in ("copy_files", "_finish"):
            with monkeypatch.context() as patched:
                patched.setattr(backups, part, die)
                for each in (folder, fresh):
                    with pytest.raises(KeyboardInterrupt):
                        backup(database, files, each)
            assert verify(folder)[0] == first
            with pytest.raises(BackupError, match="found no manifest"):
                verify(fresh)
        last = backup(database, files, folder)
        assert verify(folder)[0] == last
        assert len(list(folder.glob("jurado-*"))) == 1


def test_a_restore_makes_the_tokens_of_the_feed_given_before_it_invalid(sqlite_url: str, tmp_path: Path) -> None:
    """Else a follower that is ahead of the backup continues where other events have the numbers of those it knows.

    Webhooks continue at their places, which are of the backup.
    """
    home, folder, feed = tmp_path / "home", tmp_path / "backup", "contests/c/event-feed?stream=false"

    def events(api: Api) -> list[dict[str, Any]]:
        return [json.loads(line) for line in api.get(feed, user="admin").text.splitlines()]

    with contest(sqlite_url, home) as api:
        with api.service.database.write() as session:
            places = {"c": [session.get_one(ContestRow, "c").secret, 3], "gone": ["other", 5]}
            hook = {
                "url": "http://x.example/",
                "token": "t",
                "created": datetime.now(UTC),
            }
            session.add(WebhookRow(id="hook", account_id="admin", positions=places, active=False, **hook))
        backup(api.service.database, api.service.files, folder)
        submit(api, "team", 0)
        token = events(api)[-1]["token"]
        assert api.get(f"{feed}&since_token={token}", user="admin").status_code == 200
        ids = [each["id"] for each in events(api) if each["type"] == "judgements"]
    restore(folder, sqlite_url, LocalFiles(home / "files"), replace=True)
    with open_api(sqlite_url, home, again=True) as api:
        with api.service.database.read() as session:
            secret, places = session.get_one(ContestRow, "c").secret, session.get_one(WebhookRow, "hook").positions
        assert places == {"c": [secret, 3], "gone": ["other", 5]}
        submit(api, "other", 0)
        again = events(api)
        assert len([each for each in again if each["type"] == "judgements"]) == len(ids)
        assert api.get(f"{feed}&since_token={token}", user="admin").status_code == 400
        assert api.get(f"{feed}&since_token={again[-1]['token']}", user="admin").status_code == 200


def test_what_is_no_sound_backup_is_refused_before_anything_changes(sqlite_url: str, tmp_path: Path) -> None:
    folder, home = tmp_path / "backup", tmp_path / "home"
    with contest(sqlite_url, home) as api:
        expected = [submit(api, "team", number) for number in range(2)]
        manifest = backup(api.service.database, api.service.files, folder)
        with pytest.raises(BackupError, match="expected a folder for backups alone"):
            backup(api.service.database, api.service.files, home)
    with pytest.raises(BackupError, match="expected an empty database"):
        restore(folder, sqlite_url, LocalFiles(home / "files"))
    for spoil in (
        folder / manifest.database,
        next(path for path in (folder / "files").rglob("*.zst")),
    ):
        copy = tmp_path / f"spoilt-{spoil.name}"
        shutil.copytree(folder, copy)
        path = copy / spoil.relative_to(folder)
        path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:])
        with pytest.raises(BackupError):
            restore(copy, sqlite_url, LocalFiles(home / "files"), replace=True)
    holds(sqlite_url, home, expected)
    assert read_manifest(folder) == manifest


def test_a_backup_names_what_the_store_had_lost_and_keeps_the_rest(sqlite_url: str, tmp_path: Path) -> None:
    """The copy that an earlier backup has is as good as the file."""
    folder, fresh = tmp_path / "backup", tmp_path / "fresh"
    with contest(sqlite_url, tmp_path / "home") as api:
        service = api.service
        lost = hashlib.sha256(submit(api, "team", 1)[1]).hexdigest()
        backup(service.database, service.files, folder)
        service.files.path(lost).unlink()
        assert list(backup(service.database, service.files, folder).faulty) == []
        manifest = backup(service.database, service.files, fresh)
    assert list(manifest.faulty) == [lost]
    assert list(verify(fresh)[0].faulty) == [lost]
