"""Contests for practice: those that last for longer than a year, and decide nothing."""

from __future__ import annotations

from datetime import timedelta

from app.domain.contests import Clock

LONGEST_DECIDED = timedelta(days=366)


def is_for_practice(times: Clock) -> bool:
    """Whether a contest with these times decides nothing."""
    return times.duration > LONGEST_DECIDED
