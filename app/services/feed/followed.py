"""A contest somebody follows: how far it has been looked at, and when it is to be looked at next."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple

from app.services.feed.log import Compaction, Log
from app.services.feed.submitted import Points
from app.storage.events import Mark

FIRST_SLICE = 64
SMALLEST_SLICE, LARGEST_SLICE = 8, 2048
SECONDS_OF_A_SLICE = 0.25
SHORTEST_PAUSE, LONGEST_PAUSE = 0.02, 1.0
SHARE_OF_PAUSE = 2.0  # a look that worked for a second is followed by two in which others may use the interpreter
SHARE_WITHIN_A_SWEEP = 0.25


class Waiter(NamedTuple):
    """Somebody who wants a look that begins after they came; `complete`: and all that it has begun to look at."""

    future: Future[Log | None]
    complete: bool


@dataclass
class Followed:
    """A contest somebody follows.

    dirty       something has changed since the last look began
    looking     a look is going on
    not_before  when the next look may begin (monotonic): looks leave time for others
    at          when the clock or the coalescing asks for one (monotonic)
    fingerprint what everybody's points depend on beside submissions
    later       since when (monotonic) something waits for a look at all points
    points      what each submission was told to be worth
    sweep       submissions that are yet to be looked at because what all of them are shown by has changed
    swept       a sweep has begun, and what it shows to be gone is not told yet
    after_due   what may refer to submissions is to be looked at once they are
    slice       how many of them a look takes
    state       the state as it was when everything but submissions was looked at last
    waiting     those who want a look that begins after they came
    """

    contest_id: str
    followers: int = 0
    dirty: bool = True
    looking: bool = False
    not_before: float = 0.0
    at: float | None = None
    log: Log | None = None
    mark: Mark = field(default_factory=Mark)
    generation: int = -1
    fingerprint: int | None = None
    later: float | None = None
    points: dict[int, Points] = field(default_factory=dict)
    superfluous: Compaction = field(default_factory=Compaction)
    sweep: list[int] = field(default_factory=list)
    swept: bool = False
    slice: int = field(default_factory=lambda: FIRST_SLICE)
    after_due: bool = False
    state: str | None = None
    waiting: list[Waiter] = field(default_factory=list)

    def stale(self, now: float) -> bool:
        """May what it shows be other than what the log says?"""
        if self.dirty or self.looking or self.swept or not self.followers:
            return True
        return self.at is not None and self.at <= now

    def begin_sweep(self, ids: list[int]) -> None:
        """Look at all of these, the first ones first, some with each look."""
        self.sweep = ids[::-1]
        self.swept = True

    def next_slice(self) -> list[int]:
        """Take the next ones to be looked at out of the sweep."""
        some = self.sweep[-self.slice :]
        del self.sweep[-self.slice :]
        return some

    def rest(self, now: float, worked: float) -> None:
        """Leave time for others after a look that worked for so many seconds; waiting for a lock is no work."""
        if not self.swept:
            pause = SHARE_OF_PAUSE * worked
        else:
            pause = SHARE_WITHIN_A_SWEEP * worked
            larger = self.slice * 2 if worked < SECONDS_OF_A_SLICE / 2 else self.slice
            wanted = larger if worked <= SECONDS_OF_A_SLICE * 2 else self.slice // 2
            self.slice = min(LARGEST_SLICE, max(SMALLEST_SLICE, wanted))
        self.not_before = now + min(LONGEST_PAUSE, max(SHORTEST_PAUSE, pause))


def next_look(followed: Followed, now: float) -> float:
    """When a contest is to be looked at next (monotonic)."""
    if followed.waiting:
        return followed.not_before
    if not followed.followers:
        return float("inf")
    if followed.dirty or followed.swept:
        return followed.not_before
    return max(followed.not_before, followed.at) if followed.at is not None else float("inf")
