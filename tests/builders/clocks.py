"""A system's clock that a test sets back or forth while the service goes by it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from app.core.clock import ServiceClock, _clocks, system_time


@contextmanager
def use(clock: ServiceClock) -> Iterator[ServiceClock]:
    """Make the whole process use another clock."""
    _clocks.append(clock)
    try:
        yield clock
    finally:
        _clocks.remove(clock)


@dataclass
class WallClock:
    """The machine's clock and an offset, which `step` changes at once."""

    offset: timedelta = timedelta(0)

    def __call__(self) -> datetime:
        """The time on the wall."""
        return system_time() + self.offset

    def step(self, by: timedelta) -> None:
        """Set it, as an operator or NTP would."""
        self.offset += by


@contextmanager
def wall_clock() -> Iterator[WallClock]:
    """Let the service go by a clock that can be set."""
    wall = WallClock()
    with use(ServiceClock(wall)):
        yield wall


@contextmanager
def noon_of(day: date) -> Iterator[WallClock]:
    """Let the service go by a clock that begins at noon of a day: no midnight comes while a test runs."""
    wall = WallClock(datetime.combine(day, time(12), UTC) - system_time())
    with use(ServiceClock(wall)):
        yield wall


@contextmanager
def still_clock(later: timedelta = timedelta(0)) -> Iterator[datetime]:
    """Let the service's time stand still, perhaps a bit later: what a test waits for takes none of it."""
    moment = system_time() + later
    with use(ServiceClock(lambda: moment, lambda: 0.0)):
        yield moment
