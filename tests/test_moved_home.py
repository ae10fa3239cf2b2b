"""A home with everything in it answers the same after a move to another database and store, and after a restore."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from sqlalchemy import text

from app.archive.queries.backup import backup, copy_files, restore
from app.archive.queries.database_copy import copy_rows
from app.core.clock import ServiceClock, utc_now
from app.core.db.database import Database
from app.core.files.open_files import LocalFiles, open_files
from app.core.settings import Settings
from tests.builders.clocks import use
from tests.builders.service import Api, open_api
from tests.builders.whole_home import Answers, empty_tables, fill, walked

TOKEN = re.compile(rb'"token":"[^"]*"')


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    """Let it be one and the same moment for the service."""
    with use(ServiceClock(lambda: moment)):
        yield


def without_tokens(answers: Answers) -> Answers:
    """Answers without tokens of event feeds, which a restore makes invalid."""
    return {each: (status, TOKEN.sub(b"", body)) for each, (status, body) in answers.items()}


def differences(
    api: Api, expected: Answers, seen: Callable[[Answers], Answers] = lambda answers: answers
) -> dict[tuple[str, str | None], object]:
    """What is answered otherwise than before, with what it was; `seen`: answers as they are compared."""
    answers, expected = seen(walked(api)), seen(expected)
    return {each: (expected.get(each), answers.get(each)) for each in answers if answers[each] != expected.get(each)}


def test_a_home_with_everything_answers_the_same_on_postgresql_and_s3_and_after_a_restore(
    sqlite_url: str, postgresql_url: str, s3_url: str, tmp_path: Path
) -> None:
    home, other, folder = tmp_path / "home", tmp_path / "other", tmp_path / "backup"
    with open_api(sqlite_url, home, webhook_networks="127.0.0.0/8") as api:
        fill(api)
        assert empty_tables(api.service.database) == set(), "each table has rows: add some of new tables"
        moment = utc_now()
        with at(moment):
            before = walked(api)
        shown = {status for status, _body in before.values()}
        backup(api.service.database, api.service.files, folder)
    source, target = Database(sqlite_url), Database(postgresql_url)
    copied = copy_rows(source, target)
    with source.engine.connect() as connection:
        assert set(copied) == {
            row[0] for row in connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'"))
        } - {"alembic_version", "sqlite_sequence", "sqlite_stat1"}
    source.close()
    target.close()
    files = LocalFiles(home / "files")
    names = {each.sha256 for each in files.stored()}
    _size, faulty = copy_files(files, open_files(Settings(home=home, files_url=s3_url)), names, lambda *_: None)
    assert not faulty
    shutil.rmtree(home / "files")
    with at(moment), open_api(postgresql_url, home, again=True, files_url=s3_url) as api:
        assert differences(api, before) == {}
    other.mkdir()
    shutil.copy(home / "secret.key", other)
    restored = f"sqlite:///{other / 'jurado.db'}"
    restore(folder, restored, LocalFiles(other / "files"))
    with at(moment), open_api(restored, other, again=True) as api:
        assert differences(api, before, without_tokens) == {}
    assert {200, 401, 403, 404} <= shown
