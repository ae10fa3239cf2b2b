"""Changes of a contest's times: none of them moves a freeze that has begun, or thaws a board.

The freeze is kept as a time before the end, as CLICS has it: who moves the end has to say what becomes of the freeze.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from app.domain.contests import Clock


def with_duration(clock: Clock, duration: timedelta, now: datetime) -> Clock:
    """The clock of a contest made longer or shorter at `now`.

    A freeze that lies ahead moves with the end; one that has begun keeps its start, so that its length changes.
    """
    before_end = clock.freeze_before_end
    if clock.freeze_begun(now) and clock.freeze_time is not None:
        before_end = duration - clock.freeze_time
    return replace(clock, duration=duration, freeze_before_end=before_end)


def with_thaw_after_end(before: Clock, after: Clock) -> Clock:
    """The clock with its thaw moved as far as the end was, where the thaw would otherwise come before the end."""
    was, end = before.earliest_end, after.earliest_end
    if was is None or end is None or after.thaw is None or after.thaw >= end:
        return after
    return replace(after, thaw=after.thaw + (end - was))


def moves_freeze(before: Clock, after: Clock, now: datetime) -> bool:
    """Does a freeze that has begun get another start, or none?"""
    return before.freeze_begun(now) and before.freeze_time != after.freeze_time


def opens_board(before: Clock, after: Clock, now: datetime) -> bool:
    """Is a board that stood still until now open after a change?"""
    return before.frozen(now) and not after.frozen(now)
