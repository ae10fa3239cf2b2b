"""The state of a followed contest between two looks, and the requests that wait for a look."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple

from app.feed.queries import Mark
from app.feed.service.differences import Shown
from app.feed.service.log import Log
from app.feed.service.rendering import Points

SHORTEST_PAUSE, LONGEST_PAUSE = 0.02, 1.0
# The pause after a look, as a share of its work: others may use the interpreter.
SHARE_OF_PAUSE, SHARE_WITHIN_A_SWEEP = 2.0, 0.25


class Waiter(NamedTuple):
    """A request for a look that begins after it; with `complete`, for the whole comparison that the look begins.

    until  number of the sweep that ends the comparison; 0 before the look
    """

    future: Future[Log | None]
    complete: bool
    until: int = 0


@dataclass
class Followed:
    """A followed contest.

    dirty       a change since the last look began
    looking     a look is running
    not_before  earliest time of the next look (monotonic): looks leave time for others
    at          time of the next look by the clock or by coalescing (monotonic)
    heard       last event of the log that a notice of another process has named
    basis       everything but submissions that points and visibility depend on; None: not known
    later       time (monotonic) since which a comparison of all points is due
    points      published points of each submission
    sweep       submissions still to be rendered after a change that affects all of them
    swept       a sweep has begun, and its deletions are unpublished
    again       the basis has changed since the sweep began: another one follows it
    sweeps      number of sweeps that have ended
    after_due   kinds that refer to submissions are to be rendered after the sweep
    state       the state at the last look
    waiting     requests for a look that begins after them
    changed_ids submissions that have changed since the last look, by their numbers
    """

    contest_id: str
    followers: int = 0
    dirty: bool = True
    looking: bool = False
    not_before: float = 0.0
    at: float | None = None
    log: Log | None = None
    heard: int = 0
    mark: Mark = field(default_factory=Mark)
    generation: int = -1
    basis: object = None
    later: float | None = None
    points: dict[int, Points] = field(default_factory=dict)
    sweep: list[int] = field(default_factory=list)
    swept: bool = False
    again: bool = False
    sweeps: int = 0
    after_due: bool = False
    state: Sequence[Shown] = ()
    waiting: list[Waiter] = field(default_factory=list)
    changed_ids: set[int] = field(default_factory=set)

    def stale(self, now: float) -> bool:
        """Whether the contest may differ from its log."""
        if self.dirty or self.looking or self.swept or not self.followers:
            return True
        return self.at is not None and self.at <= now

    def next_look(self) -> float:
        """The time of the next look (monotonic)."""
        if self.waiting or (self.followers and (self.dirty or self.swept)):
            return self.not_before
        return max(self.not_before, self.at) if self.followers and self.at is not None else float("inf")

    def left(self, waiting: Sequence[Waiter]) -> list[Waiter]:
        """Return the requests that this look has not answered. Each waits for two sweeps at most."""
        sweeps = self.sweeps + bool(self.sweep) + self.again
        numbered = [each._replace(until=each.until or sweeps) for each in waiting if each.complete and self.swept]
        return [each for each in numbered if each.until > self.sweeps]

    def rest(self, worked: float) -> None:
        """Schedule a pause after a look of `worked` seconds of thread time."""
        pause = worked * (SHARE_WITHIN_A_SWEEP if self.swept else SHARE_OF_PAUSE)
        self.not_before = time.monotonic() + min(LONGEST_PAUSE, max(SHORTEST_PAUSE, pause))
