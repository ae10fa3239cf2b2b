"""The clock of a contest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from app.domain.contests import Clock, State, state

START = datetime(2026, 11, 21, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
CLOCK = Clock(START, 5 * HOUR, HOUR, thaw=START + 7 * HOUR)


def test_a_contest_begins_at_its_start_and_is_over_at_its_end() -> None:
    moments = [START - HOUR, START, START + 4 * HOUR, START + 5 * HOUR]
    assert [CLOCK.running(moment) for moment in moments] == [False, True, True, False]
    assert [CLOCK.ended(moment) for moment in moments] == [False, False, False, True]


def test_the_board_is_frozen_from_the_freeze_until_it_is_thawed_also_past_the_end() -> None:
    hours = {3: False, 4: True, 5: True, 6: True, 7: False}
    assert {hour: CLOCK.frozen(START + hour * HOUR) for hour in hours} == hours
    assert not Clock(START, 5 * HOUR).frozen(START + 9 * HOUR)
    assert Clock(START, 5 * HOUR, HOUR).frozen(START + 99 * HOUR)


def test_a_contest_without_a_start_never_begins() -> None:
    clock = Clock(None, HOUR, HOUR)
    assert not clock.started(START)
    assert not clock.frozen(START)
    assert not clock.ended(START)
    assert clock.contest_time(START) == timedelta(0)
    assert state(clock, START) == State()


def test_the_state_has_what_happened_and_nothing_that_will() -> None:
    assert state(CLOCK, START - HOUR) == State()
    assert state(CLOCK, START + 4 * HOUR) == State(started=START, frozen=START + 4 * HOUR)
    end, final = START + 5 * HOUR, START + 8 * HOUR
    assert state(CLOCK, START + 9 * HOUR, final) == State(START, START + 4 * HOUR, end, CLOCK.thaw, final, final)


def test_without_a_freeze_there_is_no_thaw_either() -> None:
    assert state(Clock(START, HOUR, thaw=START), START + HOUR).thawed is None
