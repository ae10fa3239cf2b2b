"""What those are told who ask for a problem before they may see any: when they may, and the same of every name."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import ceil

from app.domain.contests import Clock
from app.services.clics import format_reltime


def not_begun(times: Clock, now: datetime) -> str:
    """When a contest that has not begun starts."""
    if times.start is None:
        return "the contest has not begun: no start is set yet"
    left = timedelta(seconds=max(0, ceil((times.start - now).total_seconds())))
    return f"the contest has not begun: it starts in {format_reltime(left).partition('.')[0]}"


def own_clock_not_begun() -> str:
    """When problems are seen in a contest in which each team has a clock of its own."""
    return "your team's own clock has not begun; others see the contest's problems once it has ended"
