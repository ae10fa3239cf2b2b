"""The time of the service against a system's clock that is set back and forth."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.clock import PACE, ServiceClock, utc_now
from tests.builders.clocks import use

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Systems:
    """A system's two clocks: `wall` can be set, `steady` only counts."""

    def __init__(self) -> None:
        self.wall = NOON
        self.steady = 0.0
        self.steps: list[timedelta] = []

    def clock(self) -> ServiceClock:
        clock = ServiceClock(lambda: self.wall, lambda: self.steady)
        clock.on_step = self.steps.append
        return clock

    def pass_(self, seconds: float) -> None:
        self.wall += timedelta(seconds=seconds)
        self.steady += seconds


@pytest.fixture
def systems() -> Systems:
    return Systems()


def test_the_time_is_the_systems_as_long_as_that_runs_on(systems: Systems) -> None:
    clock = systems.clock()
    for seconds in (0, 0.001, 5, 3600):
        systems.pass_(seconds)
        assert clock.now() == systems.wall
    assert (systems.steps, clock.ahead()) == ([], timedelta(0))


def test_a_step_back_is_told_and_the_time_goes_on_from_where_it_was(systems: Systems) -> None:
    clock = systems.clock()
    systems.wall -= HOUR
    assert clock.now() == NOON
    systems.pass_(10)
    assert clock.now() == NOON + PACE * timedelta(seconds=10)
    assert systems.steps == [-HOUR]


def test_the_time_runs_slower_until_the_systems_clock_has_caught_up(systems: Systems) -> None:
    clock = systems.clock()
    systems.wall -= timedelta(seconds=60)
    clock.now()
    systems.pass_(599)
    assert timedelta(0) < clock.ahead() < timedelta(seconds=1)
    systems.pass_(2)
    assert (clock.now(), clock.ahead()) == (systems.wall, timedelta(0))


def test_a_step_forward_is_followed_and_told(systems: Systems) -> None:
    clock = systems.clock()
    systems.wall += HOUR
    assert clock.now() == NOON + HOUR
    assert systems.steps == [HOUR]


def test_a_clock_begins_where_an_earlier_process_ended(systems: Systems) -> None:
    clock = systems.clock()
    clock.not_before(NOON + HOUR)
    assert clock.now() == NOON + HOUR
    clock.not_before(NOON - HOUR)
    assert clock.now() >= NOON + HOUR


@given(st.lists(st.tuples(st.floats(0, 1e4), st.floats(-1e5, 1e5)), max_size=30))
def test_the_time_never_runs_back_and_is_never_behind_the_system(moves: list[tuple[float, float]]) -> None:
    systems = Systems()
    clock = systems.clock()
    last = clock.now()
    for seconds, step in moves:
        systems.pass_(seconds)
        systems.wall += timedelta(seconds=step)
        told = clock.now()
        assert told >= max(last, systems.wall)
        last = told


def test_the_whole_process_goes_by_the_clock_in_use(systems: Systems) -> None:
    with use(systems.clock()):
        assert utc_now() == NOON
    assert utc_now() != NOON
