"""The settings of a contest, parsed from the document that its row stores."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import pytest

from app.contests.schemas.bodies import ContestSettings as SettingsBody
from app.domain.awards import Prizes
from app.domain.contests import EVERY
from app.domain.final_cases import Finals
from app.domain.limits import Limits
from app.domain.rejections import Telling
from app.domain.settings import DEFAULTS, ContestSettings, read_settings
from app.domain.verdicts import JudgementType

DOCUMENT = {
    "partly_correct_as": "AC",
    "show_others_answers": True,
    "rejections": "position",
    "show_best": False,
    "answer_pattern": "{case}.dat",
    "final_release": "2026-11-21T02:19:00.000Z",
    "final_phase": "all",
    "practice": True,
    "virtual": True,
    "personal_duration": "1:30:00.500",
    "limits": {"max_submissions": 3, "interval_seconds": 60, "per_window": {"count": 2, "seconds": 600}},
    "team_bytes": None,
    "contest_bytes": None,
    "choose": True,
    "allow_overlap": True,
    "awards": {"gold": 1, "silver": 2, "bronze": 3, "ranks": 4},
    "staff_act_for_teams": True,
}
PARSED = ContestSettings(
    JudgementType.AC,
    True,
    Telling.POSITION,
    False,
    "{case}.dat",
    Finals(datetime(2026, 11, 21, 2, 19, tzinfo=UTC), None, EVERY),
    True,
    True,
    timedelta(hours=1, minutes=30, milliseconds=500),
    Limits(3, timedelta(minutes=1), 2, timedelta(minutes=10)),
    None,
    None,
    True,
    True,
    Prizes({"gold": 1, "silver": 2, "bronze": 3}, 4),
    True,
)


def test_every_setting_is_parsed() -> None:
    assert read_settings(DOCUMENT) == PARSED
    assert read_settings({"final_minutes": 20}).finals.window == timedelta(minutes=20)


def test_no_setting_of_the_example_has_its_default() -> None:
    assert [each.name for each in fields(PARSED) if getattr(PARSED, each.name) == getattr(DEFAULTS, each.name)] == []


def test_an_empty_document_has_the_defaults_that_the_api_documents() -> None:
    assert read_settings({}) == DEFAULTS == read_settings(SettingsBody().model_dump())


def test_the_api_and_the_domain_know_the_same_settings() -> None:
    written = set(SettingsBody.model_fields) - {"final_release", "final_minutes", "final_phase", "awards"}
    assert {each.name for each in fields(ContestSettings)} == written | {"finals", "prizes"}


@pytest.mark.parametrize("key", sorted(DOCUMENT.keys() - {"final_phase", "final_release", "awards"}))
def test_a_key_changes_its_own_setting_only(key: str) -> None:
    parsed = read_settings({key: DOCUMENT[key]})
    assert parsed == replace(DEFAULTS, **{key: getattr(PARSED, key)})
