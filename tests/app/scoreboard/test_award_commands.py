"""Awards from the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.app.conftest import Jurado
from tests.builders.scripted import Scripted

AWARDS = [
    {"id": "winner", "citation": "Contest winner", "team_ids": None},
    {"id": "kind", "citation": "Kindest team", "team_ids": ["ants", "bees"]},
    {"id": "none", "citation": "For nobody", "team_ids": []},
]


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    answers: dict[str, Any] = {
        "GET contests/c/awards": AWARDS,
        "GET contests/c/teams": [{"id": "ants", "name": "The Ants"}],
        "PUT contests/c/awards/kind": AWARDS[1],
        "DELETE contests/c/awards/kind": None,
        "GET contests/empty/awards": [],
        "GET contests/empty/teams": [],
    }
    return Scripted(answers).install(monkeypatch)


def test_awards_are_shown_with_the_names_of_their_teams(jurado: Jurado, there: Scripted) -> None:
    shown = jurado("awards", "c").stdout
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.splitlines() if line.startswith("│")]
    assert rows == [
        ["winner", "Contest winner", "not known yet"],
        ["kind", "Kindest team", "The Ants, bees"],
        ["none", "For nobody", "no team"],
    ]
    assert json.loads(jurado("awards", "c", "--json").stdout) == AWARDS
    assert jurado("awards", "empty").stdout == "no awards yet\n"


def test_an_award_is_given_and_taken_back(jurado: Jurado, there: Scripted) -> None:
    done = jurado("admin", "award", "set", "c", "kind", "Kindest team", "--team", "ants", "--team", "bees")
    assert (done.exit_code, done.stdout) == (0, "award kind goes to ants, bees\n")
    sent = {"id": "kind", "citation": "Kindest team", "team_ids": ["ants", "bees"]}
    assert there.sent("PUT contests/c/awards/kind") == [sent]
    assert jurado("admin", "award", "delete", "c", "kind").exit_code == 0
