"""A backup made as docs/guides/operating.md says, while teams submit, holds everything acknowledged before it began."""

from __future__ import annotations

import re
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event

from app.storage.submissions import INLINE_LIMIT
from tests.builders.contests import add_contest, add_problem
from tests.builders.service import Api, open_api

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "guides" / "operating.md"
TEAMS = ("team", "other")


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


def test_a_backup_under_load_loses_nothing(sqlite_url: str, tmp_path: Path) -> None:
    copy_database = re.search(r'sqlite3 /var/lib/jurado/jurado.db "(VACUUM INTO )', GUIDE.read_text())
    assert copy_database is not None
    home, backup = tmp_path / "home", tmp_path / "backup"
    backup.mkdir()
    acknowledged: list[tuple[str, bytes]] = []
    begun, done = Event(), Event()
    with open_api(sqlite_url, home) as api, ThreadPoolExecutor(len(TEAMS)) as pool:
        add_problem(api.service)
        add_contest(api.service)

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
            with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as database:
                database.execute(f"{copy_database[1]} ?", (str(backup / "jurado.db"),))
            shutil.copytree(home / "files", backup / "files")
        finally:
            done.set()
        for each in loads:
            each.result()
        assert len(acknowledged) > len(expected)
    with open_api(f"sqlite:///{backup / 'jurado.db'}", backup, again=True) as restored:
        for id_, sent in expected:
            found = restored.get(f"contests/c/submissions/{id_}/answers/02", user="admin")
            assert (found.status_code, found.content) == (200, sent), id_
