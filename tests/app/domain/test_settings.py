"""The settings of a contest, read from JSON, and the values that they give the domain."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.contests.schemas import ContestSettings, Limits
from app.domain.contests import EVERY, FINAL
from app.domain.history import Prizes
from app.domain.participation import Finals

DOCUMENT = {
    "partly_correct_as": "AC",
    "show_others_answers": True,
    "rejections": "position",
    "show_best": False,
    "answer_pattern": "{case}.dat",
    "final_release": "2026-11-21T02:19:00.000Z",
    "final_minutes": None,
    "final_phase": "all",
    "practice": True,
    "virtual": True,
    "personal_duration": "1:30:00.500",
    "limits": {
        "max_submissions": 3,
        "interval_seconds": 60,
        "per_window": {"count": 2, "seconds": 600},
        "open_games": 4,
        "move_seconds": 5,
        "game_seconds": 6,
    },
    "team_bytes": None,
    "contest_bytes": None,
    "share_tools": True,
    "choose": True,
    "awards": {"gold": 1, "silver": 2, "bronze": 3, "ranks": 4},
    "staff_act_for_teams": True,
    "visibility": "draft",
    "description": "Six *problems*.",
}


def test_settings_are_written_as_they_were_read() -> None:
    assert DOCUMENT.keys() == ContestSettings.model_fields.keys()
    assert ContestSettings.model_validate(DOCUMENT).model_dump(mode="json") == DOCUMENT


def test_the_domain_gets_times_finals_and_prizes() -> None:
    read = ContestSettings.model_validate(DOCUMENT)
    assert read.personal_duration == timedelta(hours=1, minutes=30, milliseconds=500)
    assert read.finals == Finals(datetime(2026, 11, 21, 2, 19, tzinfo=UTC), None, EVERY)
    assert ContestSettings(final_minutes=20).finals == Finals(None, timedelta(minutes=20), FINAL)
    assert read.prizes == Prizes({"gold": 1, "silver": 2, "bronze": 3}, 4)


@pytest.mark.parametrize("key", sorted(DOCUMENT.keys() - {"final_minutes"}))
def test_a_key_changes_its_own_setting_only(key: str) -> None:
    changed = ContestSettings.model_validate({key: DOCUMENT[key]}).model_dump(mode="json")
    assert changed == ContestSettings().model_dump(mode="json") | {key: DOCUMENT[key]}
    assert changed != ContestSettings().model_dump(mode="json")


def test_a_problem_inherits_the_limits_that_it_does_not_give() -> None:
    contest = Limits(max_submissions=5, interval_seconds=60)
    assert Limits(max_submissions=9).over(contest) == Limits(max_submissions=9, interval_seconds=60)
    assert Limits(interval_seconds=None).over(contest) == Limits(max_submissions=5)
