"""No change of a contest's times moves a freeze that has begun, or opens a frozen board."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import assume, given
from hypothesis import strategies as st

from app.domain.contests import Clock, Pause
from app.domain.participation import moves_freeze, opens_board, with_duration, with_thaw_after_end

START = datetime(2026, 11, 21, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
minutes = st.integers(1, 400).map(lambda count: timedelta(minutes=count))


def test_a_longer_contest_stays_frozen_from_where_it_was() -> None:
    clock = Clock(START, timedelta(minutes=20), timedelta(minutes=10))
    now = START + timedelta(minutes=11)
    longer = with_duration(clock, timedelta(minutes=24), now)
    assert (longer.freeze, longer.end) == (clock.freeze, START + timedelta(minutes=24))
    assert longer.freeze_before_end == timedelta(minutes=14)


def test_a_freeze_that_lies_ahead_moves_with_the_end() -> None:
    clock = Clock(START, 5 * HOUR, HOUR)
    longer = with_duration(clock, 6 * HOUR, START + 3 * HOUR)
    assert (longer.freeze, longer.freeze_before_end) == (START + 5 * HOUR, HOUR)


@given(minutes, minutes, minutes, minutes, st.booleans(), minutes)
def test_no_length_moves_a_freeze_that_has_begun_or_opens_a_board(
    before_freeze: timedelta, freeze: timedelta, run: timedelta, more: timedelta, paused: bool, thaw: timedelta
) -> None:
    """Longer, shorter, and reopened after the end; also in a pause."""
    duration = before_freeze + freeze
    pauses = (Pause(START + run, None if paused else START + run + HOUR),)
    clock = Clock(START, duration, freeze, pauses=pauses)
    end = clock.earliest_end
    assert end is not None
    clock = replace(clock, thaw=end + thaw)
    now = START + run + timedelta(minutes=30)
    assume(not clock.decided(now))
    changed = with_thaw_after_end(clock, with_duration(clock, clock.contest_time(now) + more, now))
    assert not moves_freeze(clock, changed, now)
    assert not opens_board(clock, changed, now)
    assert changed.thaw is not None
    assert changed.earliest_end is not None
    assert changed.thaw >= changed.earliest_end


def test_a_thaw_moves_only_where_it_would_come_before_the_end() -> None:
    clock = Clock(START, 5 * HOUR, HOUR, START + 6 * HOUR)
    assert with_thaw_after_end(clock, replace(clock, duration=6 * HOUR)).thaw == clock.thaw
    assert with_thaw_after_end(clock, replace(clock, duration=7 * HOUR)).thaw == START + 8 * HOUR
    assert with_thaw_after_end(clock, replace(clock, duration=4 * HOUR)).thaw == clock.thaw


def test_a_freeze_taken_away_or_moved_later_opens_a_board_that_stood_still() -> None:
    clock, now = Clock(START, 5 * HOUR, HOUR), START + 4.5 * HOUR
    for other in (None, HOUR / 4):
        assert moves_freeze(clock, replace(clock, freeze_before_end=other), now)
        assert opens_board(clock, replace(clock, freeze_before_end=other), now)
    assert not moves_freeze(clock, replace(clock, freeze_before_end=None), START)
