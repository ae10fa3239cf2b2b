"""Boards of contests with final cases: provisional while they run, and final standings with the places moved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.contests import FINAL, HOUR, add_contest, add_problem, add_submission, change_contest
from tests.builders.scoring import share
from tests.builders.service import Api, open_api

BOARD = "/c/c/scoreboard"
RELEASED = {"final_release": "2026-01-01T00:00:00Z"}


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A running contest in which `team` leads by provisional cases, and `other` by final ones."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service, FINAL)
        add_contest(api.service, settings=RELEASED)
        add_submission(api.service, {"02": share(1), "03": share(0)})
        add_submission(api.service, {"02": share(0), "03": share(1)}, team="other", minute=2)
        yield api


def moves(page: str) -> dict[str, str]:
    """The cell of each team that says how far it moved."""
    rows = re.findall(r'<tr data-team="(\w+)".*?<td class="mv">(.*?)</td>', page, re.DOTALL)
    return {team: " ".join(re.sub(r"<[^>]+>", " ", cell).split()) for team, cell in rows}


def test_a_board_is_provisional_until_the_end_and_final_afterwards(api: Api) -> None:
    for user in (None, "team", "judge"):
        page = api.get(BOARD, user=user).text
        assert "Provisional" in page
        assert moves(page) == {"team": "", "other": ""}
    assert "Provisional" in api.get("/c/c/projector").text
    change_contest(api.service, duration_ms=int(HOUR.total_seconds() * 500))
    assert "Final standings" in api.get("/c/c/projector").text
    for user in (None, "team", "judge"):
        page = api.get(BOARD, user=user).text
        assert "Final standings" in page
        assert "Provisional<" not in page
        assert moves(page) == {"other": "▲1 1 place up", "team": "▼1 1 place down"}


def test_a_frozen_board_stays_provisional_for_contestants_after_the_end(api: Api) -> None:
    change_contest(api.service, duration_ms=int(HOUR.total_seconds() * 500), freeze_ms=600_000)
    assert "Provisional" in api.get(BOARD, user="team").text
    assert "Final standings" in api.get(BOARD, user="judge").text


def test_a_contest_without_final_cases_says_nothing_of_them(api: Api) -> None:
    change_contest(api.service, settings={})
    page = api.get(BOARD).text
    assert "Provisional" not in page
    assert "Final" not in page
