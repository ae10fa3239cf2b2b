"""The clock of a contest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.contests import Clock, Pause, State, state

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


@pytest.mark.parametrize(
    ("hour", "time", "running", "paused", "frozen", "ended"),
    [
        (-1, -1, False, False, False, False),
        (0, 0, True, False, False, False),
        (1.5, 1.5, True, False, False, False),
        (2, 2, False, True, False, False),
        (2.5, 2, False, True, False, False),
        (3, 2, True, False, False, False),
        (4, 3, True, False, False, False),
        (5, 4, True, False, True, False),
        (5.5, 4.5, True, False, True, False),
        (6, 5, False, False, True, True),
        (7.5, 6.5, False, False, True, True),
        (8, 7, False, False, False, True),
    ],
)
def test_what_a_pause_takes_out_moves_the_freeze_and_the_end(
    hour: float, time: float, running: bool, paused: bool, frozen: bool, ended: bool
) -> None:
    """From the second hour to the third the contest stood still; the board thaws after eight hours."""
    clock = Clock(START, 5 * HOUR, HOUR, START + 8 * HOUR, (Pause(START + 2 * HOUR, START + 3 * HOUR),))
    now = START + hour * HOUR
    assert clock.contest_time(now) == time * HOUR
    found = (clock.running(now), clock.paused(now), clock.frozen(now), clock.ended(now))
    assert found == (running, paused, frozen, ended)


def test_while_a_contest_is_paused_nobody_knows_its_end() -> None:
    clock = Clock(START, 5 * HOUR, HOUR, pauses=(Pause(START + 2 * HOUR),))
    later = START + 99 * HOUR
    assert (clock.end, clock.freeze) == (None, None)
    assert clock.contest_time(later) == 2 * HOUR
    assert clock.paused(later)
    assert state(clock, later) == State(started=START)
    frozen = Clock(START, 5 * HOUR, HOUR, pauses=(Pause(START + 4.5 * HOUR),))
    assert (frozen.end, frozen.freeze) == (None, START + 4 * HOUR)
    assert frozen.frozen(later)


def test_a_board_is_never_thawed_before_the_end() -> None:
    clock = Clock(START, 5 * HOUR, HOUR, START + 5 * HOUR, (Pause(START + HOUR, START + 2 * HOUR),))
    assert clock.frozen(START + 5.5 * HOUR)
    assert not clock.frozen(START + 6 * HOUR)


lengths = st.lists(st.integers(1, 200), max_size=10)


@given(lengths, st.booleans(), st.integers(0, 300))
def test_the_first_moment_of_a_contest_time_has_that_contest_time(lengths: list[int], last: bool, minutes: int) -> None:
    """Running and paused stretches take turns; contest time never runs back and stands still only in pauses."""
    edges = [sum(lengths[: at + 1]) for at in range(len(lengths))]
    moments = [START + timedelta(minutes=edge) for edge in edges]
    pauses = [Pause(begin, end) for begin, end in zip(moments[0::2], moments[1::2], strict=False)]
    if last and len(moments) % 2:
        pauses.append(Pause(moments[-1]))
    clock = Clock(START, 5 * HOUR, pauses=tuple(pauses))
    time = timedelta(minutes=minutes)
    moment = clock.moment_of(time)
    if moment is None:
        assert pauses[-1].end is None
        assert clock.contest_time(pauses[-1].start) < time
    else:
        assert clock.contest_time(moment) == time
        assert minutes == 0 or clock.contest_time(moment - timedelta(microseconds=1)) < time
    times = [clock.contest_time(START + timedelta(minutes=at)) for at in range(0, 400, 7)]
    assert times == sorted(times)
