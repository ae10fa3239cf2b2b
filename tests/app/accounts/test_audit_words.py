"""The audit log in words: sentences with values before and after, in the reader's zone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.accounts.pages import audit_words
from app.core.db.audit import CHANGED
from app.tables import Base
from tests.builders.contests import HOUR, add_contest, add_problem, change_contest
from tests.builders.service import Api, open_api

ORIGIN = {"Origin": "http://jurado.test"}
BRATISLAVA = {"Cookie": "jurado_zone=Europe/Bratislava"}


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A contest that begins in an hour of 2026, at noon."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service, started=-HOUR, duration=5 * HOUR)
        change_contest(api.service, start_time=datetime(2030, 1, 7, 7, tzinfo=UTC))
        yield api


def told(api: Api, page: str = "/admin/contests/c/audit", headers: dict[str, str] | None = None) -> list[list[str]]:
    """The sentences of each entry, newest first."""
    shown = api.get(page, user="admin", headers=headers or {}).text.split('<ol class="card list over"')[1]
    return [re.findall(r"<p>([^<]*)</p>", entry) for entry in shown.split("<li>")[1:]]


def test_changes_of_a_contest_are_sentences_with_both_values_in_the_readers_zone(api: Api) -> None:
    assert api.patch("contests/c", user="admin", json={"duration": "5:10:00"}).is_success
    assert told(api)[0] == ["Changed the end from 2030-01-07 12:00 UTC to 2030-01-07 12:10 UTC."]
    in_zone = "Changed the end from 2030-01-07 13:00 Europe/Bratislava to 2030-01-07 13:10 Europe/Bratislava."
    assert told(api, headers=BRATISLAVA)[0] == [in_zone]
    assert api.patch("contests/c", user="admin", json={"name": "<b>Newer</b>"}).is_success
    assert told(api)[0] == ["Renamed the contest from Contest c to &lt;b&gt;Newer&lt;/b&gt;."]
    settings = {"final_minutes": 30, "limits": {"max_submissions": 3}}
    assert api.patch("contests/c", user="admin", json={"settings": settings}).is_success
    assert told(api)[0] == [
        "Changed minutes for the final inputs from none to 30.",
        "Changed submissions per team and problem from none to 3.",
    ]
    spanish = "Se cambió «minutos para las entradas finales» de ninguno a 30."
    assert told(api, headers={"Accept-Language": "es"})[0][0] == spanish
    moved = {"id": "c", "start_time": "2030-01-07T08:30:00Z", "scoreboard_freeze_duration": "1:00:00"}
    assert api.patch("contests/c", user="admin", json=moved).is_success
    assert told(api)[0] == [
        "Changed the start from 2030-01-07 07:00 UTC to 2030-01-07 08:30 UTC.",
        "Changed the freeze before the end from none to 1:00.",
    ]


def test_roles_and_passwords_are_sentences_without_secrets(api: Api) -> None:
    assert api.put("contests/c/roles/staff", user="admin", json={"role": "judge"}).is_success
    assert told(api)[0] == ["Granted staff a role in the contest: judge."]
    assert api.put("contests/c/roles/staff", user="admin", json={"role": "owner"}).is_success
    assert told(api)[0] == ["Changed the role of staff in the contest from judge to owner."]
    assert api.delete("contests/c/roles/staff", user="admin").is_success
    assert told(api)[0] == ["Revoked a role of staff in the contest: owner."]
    assert api.post("accounts/staff/password", user="admin").is_success
    assert "Changed the password of staff." in told(api, "/admin/audit")[0]


def test_every_sentence_is_about_a_column_of_a_table() -> None:
    tables = {name: set(table.columns.keys()) for name, table in Base.metadata.tables.items()}
    for table, what, column in audit_words.SENTENCES:
        assert table in tables, table
        assert (column in {*tables[table], "end"}) is (what == CHANGED), (table, column)


def test_a_row_without_id_and_unknown_columns_are_told_too() -> None:
    row = {"table": "contest_teams", "id": None, "what": "added", "before": {}, "after": {"team_id": "ants"}}
    other = {"table": "groups", "id": "one", "what": "changed", "before": {"name": "A"}, "after": {"name": "B"}}
    said = audit_words.sentences({"objects": [row, row, other]}, "")
    assert said == ["Added the team ants to the contest.", "Changed name (groups one) from A to B."]
