"""What is to be known of a contest, in plain words: its state, its clock, and why nothing is seen of it yet."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from app.cli.board_tables import span
from app.cli.client import Client


def facts_of(client: Client, contest: str) -> dict[str, Any]:
    """A contest's properties, the pauses taken out of its time, and its `state`."""
    state = client.get(f"contests/{contest}/state")
    return {
        **client.get(f"contests/{contest}"),
        "removed_intervals": state.get("removed_intervals") or [],
        "state": state,
    }


def state_word(facts: Mapping[str, Any]) -> str:
    """The state of a contest in a word or two, such as `running` or `ended, frozen`."""
    state = facts["state"]
    frozen = ", frozen" if state.get("frozen") and not state.get("thawed") else ""
    if state.get("finalized"):
        return "finalised"
    if state.get("ended"):
        return "thawed" if state.get("thawed") else f"ended{frozen}"
    if not state.get("started"):
        return "before"
    if paused(facts):
        return f"paused{frozen}"
    return "frozen" if frozen else "running"


def paused(facts: Mapping[str, Any]) -> bool:
    """Does the contest's time stand still?"""
    return any(removed["end"] is None for removed in facts.get("removed_intervals") or ())


def contest_time(facts: Mapping[str, Any], now: datetime) -> timedelta | None:
    """How long a contest has run, in whole seconds, without its pauses; below 0 before its start, None without one."""
    if not facts.get("start_time"):
        return None
    gone = now - datetime.fromisoformat(facts["start_time"])
    for removed in facts.get("removed_intervals") or []:
        end = datetime.fromisoformat(removed["end"]) if removed["end"] else now
        gone -= end - datetime.fromisoformat(removed["start"])
    return timedelta(seconds=math.floor(gone.total_seconds()))


def clock_words(facts: Mapping[str, Any], now: datetime) -> str:
    """How long a contest goes on, or until it begins, in words."""
    state = facts["state"]
    if state.get("finalized"):
        return "final"
    if state.get("ended"):
        return "over, not final yet"
    gone = contest_time(facts, now)
    if gone is None:
        return "no start set yet"
    if gone < timedelta(0):
        return f"starts in {-gone}"
    halted = "paused, " if paused(facts) else ""
    return f"{halted}{max(span(facts['duration']) - gone, timedelta(0))} left"


def why_nothing(client: Client, contest: str) -> str | None:
    """Why nothing is seen of a contest's problems: it has not begun, or the team's own clock has not; else None."""
    facts = facts_of(client, contest)
    if not facts["state"].get("started"):
        gone = contest_time(facts, client.now())
        if gone is None:
            return "the contest has not begun: no start is set yet"
        return f"the contest has not begun: it starts in {max(-gone, timedelta(0))}"
    if facts["settings"].get("personal_duration") and not facts["state"].get("ended"):
        return f"your team's own clock has not begun (jurado begin {contest} --personal)"
    return None
