"""The time of the service, by which contests begin, freeze and end. It never runs back, whatever the system's does.

The system's clock may be set back by hand, by a virtual machine or by NTP. A contest that has ended would be open
again, a frozen board would show its verdicts, and a team would wait an hour for a limit of a minute. So the time that
is told goes on from where it was, a tenth slower than the seconds that pass, until the system's clock has caught up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Lock

PACE = 0.9
"""How fast the time runs while it is ahead: an hour too much is worked off in ten."""
STEP = timedelta(seconds=1)
"""A change of the system's clock from which on it is worth a line in the log."""


def system_time() -> datetime:
    """The system's clock, as it is."""
    return datetime.now(UTC)


class ServiceClock:
    """Tells a time that never runs back: the system's clock (`wall`), or ahead of it by the steps that one made back.

    `steady` counts seconds and is never set (monotonic). `on_step` is called with each step of more than a second, such
    as -3600 s, from the thread that noticed it. May be used from any thread.
    """

    def __init__(
        self, wall: Callable[[], datetime] = system_time, steady: Callable[[], float] = time.monotonic
    ) -> None:
        self._wall = wall
        self._steady = steady
        self._lock = Lock()
        self._told = self._seen = wall()
        self._at = steady()
        self.on_step: Callable[[timedelta], object] = lambda _step: None

    def now(self) -> datetime:
        """The time, in UTC; at least as late as every time told before."""
        with self._lock:
            wall, at = self._wall(), self._steady()
            passed = at - self._at
            step = wall - self._seen - timedelta(seconds=passed)
            self._told = told = max(wall, self._told + timedelta(seconds=passed * PACE))
            self._seen, self._at = wall, at
        if abs(step) > STEP:
            self.on_step(step)
        return told

    def not_before(self, mark: datetime) -> None:
        """Tell no time before this one: what an earlier process told last."""
        with self._lock:
            self._told = max(self._told, mark)

    def ahead(self) -> timedelta:
        """How far the time told is ahead of the system's clock; zero but for some time after a step back."""
        told = self.now()
        with self._lock:
            return max(timedelta(0), told - self._wall())


_clocks = [ServiceClock()]


def the_clock() -> ServiceClock:
    """The clock of this process."""
    return _clocks[-1]


def utc_now() -> datetime:
    """The time of the service, in UTC: never earlier than it has been."""
    return _clocks[-1].now()


@contextmanager
def use(clock: ServiceClock) -> Iterator[ServiceClock]:
    """Let the whole process go by another clock: for tests."""
    _clocks.append(clock)
    try:
        yield clock
    finally:
        _clocks.remove(clock)
