"""Contests listed and made longer by commands."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.core.clics import format_time
from app.core.commands.lookup import state_word
from tests.app.conftest import Jurado

SECONDS = 60.0


def said(admin: Jurado, *words: str) -> str:
    done = admin(*words)
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.fixture
def contest(admin: Jurado) -> str:
    """A contest of twenty minutes that begins in nineteen and a half, with a problem and two teams."""
    name = f"x{uuid.uuid4().hex[:8]}"
    start = format_time(datetime.now(UTC) + timedelta(minutes=19, seconds=30))
    words = ("--start", start, "--duration", "0:20:00", "--freeze", "0:10:00")
    said(admin, "admin", "contest", "create", name, "Led", *words)
    said(admin, "admin", "contest", "add-problem", name, "comesolo")
    for team in ("ants", "bees"):
        said(admin, "admin", "team", "add", f"{name}-{team}", f"The {team}", "--contest", name)
    return name


def test_an_extended_contest_says_how_long_it_is(admin: Jurado, contest: str) -> None:
    assert said(admin, "admin", "contest", "extend", contest, "4") == f"contest {contest} is 0:04:00 longer: 0:24:00\n"
    changed = json.loads(said(admin, "admin", "contest", "extend", contest, "1", "--json"))
    assert changed["duration"] == "0:25:00.000"


def test_a_contest_is_listed_with_its_state(admin: Jurado, contest: str) -> None:
    (line,) = (line for line in said(admin, "admin", "contest", "list").splitlines() if contest in line)
    assert "before" in line
    assert "starts in 0:1" in line
    listed = json.loads(said(admin, "admin", "contest", "list", "--json"))
    assert {each["id"]: each["state_word"] for each in listed}["practice"] == "running"


@pytest.mark.parametrize(
    ("happened", "pauses", "word"),
    [
        ("", [], "before"),
        ("started", [], "running"),
        ("started", [{"start": "x", "end": None}], "paused"),
        ("started", [{"start": "x", "end": "y"}], "running"),
        ("started frozen", [], "frozen"),
        ("started frozen", [{"start": "x", "end": None}], "paused, frozen"),
        ("started frozen ended", [], "ended, frozen"),
        ("started ended", [], "ended"),
        ("started frozen ended thawed", [], "thawed"),
        ("started frozen ended thawed finalized", [], "finalised"),
    ],
)
def test_a_state_is_a_word(happened: str, pauses: list[Any], word: str) -> None:
    assert state_word({"state": dict.fromkeys(happened.split(), "x"), "removed_intervals": pauses}) == word


def test_who_comes_too_early_is_told_when_the_contest_starts(
    admin: Jurado, contest: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In place of empty tables and of problems there are not; a name that is one gets the same answer as any other."""
    monkeypatch.delenv("JURADO_TOKEN")
    (tmp_path / "a.out").write_text("1\n")
    early = "the contest has not begun: it starts in 0:1"
    for words in (("problems", contest), ("scoreboard", contest)):
        assert said(admin, *words).startswith(early)
    assert said(admin, "problems", contest, "--json") == "[]\n"
    for words in (
        ("problems", contest, "--inputs", str(tmp_path / "in")),
        *(("submit", contest, name, str(tmp_path / "a.out")) for name in ("comesolo", "none")),
    ):
        refused = admin(*words)
        assert refused.exit_code == 1
        assert refused.stderr.startswith(f"jurado: {early}")
