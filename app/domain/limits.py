"""Limits on a team's submissions to a problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol


class PerWindow(Protocol):
    """At most `count` submissions within each period of so many seconds."""

    @property
    def count(self) -> int: ...  # noqa: D102
    @property
    def seconds(self) -> int: ...  # noqa: D102


class SubmissionLimits(Protocol):
    """The number of submissions, the seconds between two, and how many in a period; None: no such limit."""

    @property
    def max_submissions(self) -> int | None: ...  # noqa: D102
    @property
    def interval_seconds(self) -> int | None: ...  # noqa: D102
    @property
    def per_window(self) -> PerWindow | None: ...  # noqa: D102


def limited(limits: SubmissionLimits) -> bool:
    """Return whether the number of submissions is limited."""
    return any(each is not None for each in (limits.max_submissions, limits.interval_seconds, limits.per_window))


def times_needed(limits: SubmissionLimits) -> int | None:
    """Return how many of a team's latest submissions decide about the next one; None: all of them."""
    if limits.max_submissions is not None:
        return None
    return 1 if limits.per_window is None else limits.per_window.count


@dataclass(frozen=True, slots=True)
class Quota:
    """A team's submissions under limits: the number `used`, the number `left`, and the time of the `next`.

    `left` None: no limit; `next` None: at once, unless none is left.
    """

    used: int
    left: int | None = None
    next: datetime | None = None

    @property
    def exhausted(self) -> bool:
        """Is no submission left, regardless of waiting?"""
        return self.left is not None and self.left <= 0

    def allows(self, now: datetime) -> bool:
        """May the team submit now?"""
        return not self.exhausted and (self.next is None or now >= self.next)


def quota(limits: SubmissionLimits, times: Sequence[datetime], now: datetime) -> Quota:
    """Compute the quota after counted submissions at these `times`."""
    earlier = sorted(times)
    left = None if limits.max_submissions is None else max(0, limits.max_submissions - len(earlier))
    waits = []
    if limits.interval_seconds is not None and earlier:
        waits.append(earlier[-1] + timedelta(seconds=limits.interval_seconds))
    if (window := limits.per_window) is not None and len(earlier) >= window.count:
        waits.append(earlier[-window.count] + timedelta(seconds=window.seconds))
    until = max(waits, default=None)
    return Quota(len(earlier), left, until if until is not None and until > now else None)
