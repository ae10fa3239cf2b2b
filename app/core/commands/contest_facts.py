"""The state and the clock of a contest in plain words, and why its problems cannot be seen yet."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from app.core.commands.client import Client
from app.core.commands.output import JsonMapping
from app.core.commands.times import span


def facts_of(client: Client, contest: str) -> JsonMapping:
    """Read a contest with its `state` and the pauses taken out of its time."""
    state = client.get(f"contests/{contest}/state")
    facts = client.get(f"contests/{contest}")
    facts.update(removed_intervals=state.get("removed_intervals") or [], state=state)
    return facts


def state_word(facts: JsonMapping) -> str:
    """Give the state of a contest in a word or two, such as `running` or `ended, frozen`."""
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


def paused(facts: JsonMapping) -> bool:
    """Tell whether the contest's time stands still."""
    return any(removed["end"] is None for removed in facts["removed_intervals"])


def contest_time(facts: JsonMapping, now: datetime) -> timedelta | None:
    """Give the time a contest has run, in whole seconds, without its pauses: below 0 before its start, None without."""
    if not facts["start_time"]:
        return None
    gone = now - datetime.fromisoformat(facts["start_time"])
    for removed in facts["removed_intervals"]:
        end = datetime.fromisoformat(removed["end"]) if removed["end"] else now
        gone -= end - datetime.fromisoformat(removed["start"])
    return timedelta(seconds=math.floor(gone.total_seconds()))


def clock_words(facts: JsonMapping, now: datetime) -> str:
    """Say how long a contest goes on, or until it begins."""
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
    """Say why a contest's problems are hidden: it or the team's own clock has not begun; None: they are shown."""
    facts = facts_of(client, contest)
    if not facts["state"].get("started"):
        gone = contest_time(facts, client.now())
        if gone is None:
            return "the contest has not begun: no start is set yet"
        return f"the contest has not begun: it starts in {max(-gone, timedelta(0))}"
    if facts["settings"].get("personal_duration") and not facts["state"].get("ended"):
        return f"your team's own clock has not begun (jurado begin {contest} --personal)"
    return None
