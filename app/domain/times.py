"""Changes of a contest's times that keep a freeze that has begun, and a frozen board frozen.

The freeze is stored as a time before the end, as in CLICS, so that every change of the end must decide about the
freeze.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from app.domain.contests import Clock


def with_duration(clock: Clock, duration: timedelta, now: datetime) -> Clock:
    """The clock of a contest made longer or shorter at `now`.

    A future freeze moves with the end; a freeze that has begun keeps its start, and its length changes.
    """
    before_end = clock.freeze_before_end
    if clock.freeze_begun(now) and clock.freeze_time is not None:
        before_end = duration - clock.freeze_time
    return replace(clock, duration=duration, freeze_before_end=before_end)


def with_thaw_after_end(before: Clock, after: Clock) -> Clock:
    """Move a thaw that would come before the new end by as much as the end moved."""
    was, end = before.earliest_end, after.earliest_end
    if was is None or end is None or after.thaw is None or after.thaw >= end:
        return after
    return replace(after, thaw=after.thaw + (end - was))


def moves_freeze(before: Clock, after: Clock, now: datetime) -> bool:
    """Does a change move or remove a freeze that has begun?"""
    return before.freeze_begun(now) and before.freeze_time != after.freeze_time


def opens_board(before: Clock, after: Clock, now: datetime) -> bool:
    """Does a change open a frozen board?"""
    return before.frozen(now) and not after.frozen(now)
