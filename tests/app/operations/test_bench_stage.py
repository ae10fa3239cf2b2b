"""The rows that measurements write straight into the database are those that grading would have stored."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from app.core.db.database import Database
from app.core.settings import Settings
from bench.scoreboard import fill
from bench.stage import CONTEST, prepare
from tests.builders.service import open_service, serve


@pytest.fixture
def home(tmp_path: Path) -> tuple[Path, str]:
    """A home with a filled contest of one team, and the team's token."""
    home = tmp_path / "home"
    (token,) = prepare(home)
    database = Database(Settings(home=home, database_url="", files_url="").database)
    with database.write() as session:
        fill(session, teams=1)
    database.close()
    return home, token


def test_a_submission_of_the_benchs_builder_has_a_report(home: tuple[Path, str]) -> None:
    folder, token = home
    address = f"{CONTEST}/submissions/1"
    with open_service(f"sqlite:///{folder / 'jurado.db'}", folder, again=True) as service, serve(service) as api:
        headers = {"Authorization": f"Bearer {token}"}
        shown: httpx.Response = api.get(f"contests/{address}/report", headers=headers)
        assert (shown.status_code, shown.json()["cases"][0]["message"]["text"]) == (200, "accepted")
        page = api.get(f"/c/{address}", headers=headers)
        assert (page.status_code, "Case by case" in page.text) == (200, True)
