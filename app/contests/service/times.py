"""Changed times of a contest, for programs and in words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from app.contests.schemas.bodies import Moved, TimesChange
from app.core.clics import format_reltime, format_time, format_time_or_none
from app.domain.contests import Clock
from app.domain.times import moves_freeze, opens_board


def times_change(before: Clock, after: Clock, now: datetime) -> TimesChange | None:
    """The moments before and after a change; None where it changed no time."""
    if before == after:
        return None
    return TimesChange(
        start=_moved(before.start, after.start),
        freeze=_moved(before.freeze, after.freeze),
        end=_moved(before.end, after.end),
        thaw=_moved(before.thaw, after.thaw),
        frozen=after.frozen(now),
        message="; ".join(
            [*_start_and_end(before, after, now), *_freeze(before, after, now), *_thaw(before, after, now)]
        ),
    )


def _moved(before: datetime | None, after: datetime | None) -> Moved:
    return Moved(before=format_time_or_none(before), after=format_time_or_none(after))


def _start_and_end(before: Clock, after: Clock, now: datetime) -> Iterator[str]:
    if before.start != after.start:
        was = format_time_or_none(before.start) or "no set time"
        yield f"the contest starts at {format_time_or_none(after.start) or 'no set time'} in place of {was}"
    if before.duration != after.duration:
        yield f"the contest lasts {format_reltime(after.duration)} in place of {format_reltime(before.duration)}"
    if None not in {before.end, after.end} and before.end != after.end:
        again = "had ended and goes on: it " if before.ended(now) else ""
        yield f"the contest {again}ends at {_time(after.end)} in place of {_time(before.end)}"


def _freeze(before: Clock, after: Clock, now: datetime) -> Iterator[str]:
    if opens_board(before, after, now):
        yield "the board was frozen and is open now"
    if moves_freeze(before, after, now):
        yield f"the freeze that had begun at {_time(before.freeze)} is moved to {_time(after.freeze)}"
    elif before.frozen(now) and after.frozen(now):
        yield f"the board has been frozen since {_time(after.freeze)} and stays frozen"
        if before.freeze_before_end != after.freeze_before_end:
            was, length = _length(before.freeze_before_end), _length(after.freeze_before_end)
            yield f"scoreboard_freeze_duration is {length} in place of {was}"
    elif before.freeze != after.freeze:
        verb = "has been frozen since" if after.frozen(now) else "freezes at"
        yield f"the board {verb} {_time(after.freeze)} in place of {_time(before.freeze)}"


def _thaw(before: Clock, after: Clock, _now: datetime) -> Iterator[str]:
    if before.thaw != after.thaw:
        yield f"the board thaws at {_time(after.thaw)} in place of {_time(before.thaw)}"


def _length(duration: timedelta | None) -> str:
    return "null" if duration is None else format_reltime(duration)


def _time(moment: datetime | None) -> str:
    return "no set time" if moment is None else format_time(moment)
