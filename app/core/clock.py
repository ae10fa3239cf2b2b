"""The time of the service, by which contests begin, freeze and end; it never runs back.

The system's clock may be set back by hand, by a virtual machine or by NTP. That would reopen an ended contest, show the
verdicts behind a freeze, and stretch a limit of a minute to an hour. So the service's time continues from where it was,
at nine tenths of the speed, until the system's clock has caught up.

A step forward is followed at once, and marked in the database within seconds (`app.core.db.clock`). A lock orders
readers in threads, so that no verdict shows behind a freeze (guarantee 3).
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from threading import Lock

# Speed of the time while it is ahead: an hour is made up in ten.
PACE = 0.9
# The smallest change of the system's clock that is logged.
STEP = timedelta(seconds=1)


def system_time() -> datetime:
    """Read the system's clock."""
    return datetime.now(UTC)


class ServiceClock:
    """A clock that never runs back: the system's clock (`wall`), or ahead of it after that one was set back.

    `steady` is a monotonic clock in seconds. `on_step` is called with each step of more than a second, such as -3600 s,
    from the thread that noticed it. May be used from any thread.
    """

    def __init__(
        self, wall: Callable[[], datetime] = system_time, steady: Callable[[], float] = time.monotonic
    ) -> None:
        self._wall = wall
        self._steady = steady
        self._lock = Lock()
        self._returned = self._seen = wall()
        self._at = steady()
        self.on_step: Callable[[timedelta], object] = lambda _step: None

    def now(self) -> datetime:
        """Return the time in UTC, never earlier than any time returned before."""
        with self._lock:
            # Read under the lock: between two readings apart, another thread's would look like a step.
            wall, at = self._wall(), self._steady()
            passed = at - self._at
            step = wall - self._seen - timedelta(seconds=passed)
            self._returned = returned = max(wall, self._returned + timedelta(seconds=passed * PACE))
            self._seen, self._at = wall, at
        if abs(step) > STEP:
            self.on_step(step)
        return returned

    def follow(self, wall: Callable[[], datetime]) -> None:
        """Follow another clock than the system's; where that is behind, the time continues as after a step back."""
        with self._lock:
            self._wall = wall

    def not_before(self, mark: datetime) -> None:
        """Set the earliest time to return, the last one of an earlier process."""
        with self._lock:
            self._returned = max(self._returned, mark)

    def ahead(self) -> timedelta:
        """The lead over the system's clock; zero except for a while after a step back."""
        time_now = self.now()
        with self._lock:
            return max(timedelta(0), time_now - self._wall())


_clocks = [ServiceClock()]


def the_clock() -> ServiceClock:
    """The clock of this process."""
    return _clocks[-1]


def utc_now() -> datetime:
    """Return the time of the service in UTC; it never runs back."""
    return _clocks[-1].now()
