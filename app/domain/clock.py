"""The time of the service, by which contests begin, freeze and end. It never runs back, whatever the system's does.

The system's clock may be set back by hand, by a virtual machine or by NTP. A contest that has ended would be open
again, a frozen board would show its verdicts, and a team would wait an hour for a limit of a minute. So the time that
is told goes on from where it was, a tenth slower than the seconds that pass, until the system's clock has caught up.

A clock set forward is followed once that is durable (`app.storage.clock`): a time told and then forgotten by a kill
would run back at the next start.
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
UNBOUNDED = datetime.max.replace(tzinfo=UTC)


def system_time() -> datetime:
    """The system's clock, as it is."""
    return datetime.now(UTC)


class ServiceClock:
    """Tells a time that never runs back: the system's clock (`wall`), or ahead of it by the steps that one made back.

    `steady` counts seconds and is never set (monotonic). `on_step` is called with each step of more than a second, such
    as -3600 s, from the thread that noticed it. May be used from any thread.

    Steps forward are told only up to the `bound`, the latest time that a later process is sure to go on from; beyond it
    the time runs on with the seconds that pass. `on_held` is called with each reading that the bound holds back.
    """

    def __init__(
        self, wall: Callable[[], datetime] = system_time, steady: Callable[[], float] = time.monotonic
    ) -> None:
        self._wall = wall
        self._steady = steady
        self._lock = Lock()
        self._told = self._seen = wall()
        self._at = steady()
        self._bound = UNBOUNDED
        self.on_step: Callable[[timedelta], object] = lambda _step: None
        self.on_held: Callable[[], object] = lambda: None

    def now(self) -> datetime:
        """The time, in UTC; at least as late as every time told before."""
        told, _due = self._read()
        return told

    def due(self) -> datetime:
        """The time that `now` would tell without a bound."""
        _told, due = self._read()
        return due

    def allow(self, bound: datetime = UNBOUNDED) -> None:
        """Let steps forward be told up to this time."""
        with self._lock:
            self._bound = bound

    def _read(self) -> tuple[datetime, datetime]:
        """Go on to this moment: the time told, and the one due."""
        with self._lock:
            wall, at = self._wall(), self._steady()
            passed = at - self._at
            step = wall - self._seen - timedelta(seconds=passed)
            due = max(wall, self._told + timedelta(seconds=passed * PACE))
            self._told = told = min(due, max(self._bound, self._told + timedelta(seconds=passed)))
            self._seen, self._at = wall, at
        if abs(step) > STEP:
            self.on_step(step)
        if due - told > STEP:
            self.on_held()
        return told, due

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
