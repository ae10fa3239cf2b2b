"""Final cases: the release of their inputs, the deadline for their answers, and the time from which they decide."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.domain.contests import FINAL, PROVISIONAL, CaseKind, Clock


@dataclass(frozen=True, slots=True)
class Finals:
    """A contest's rules for final cases.

    release  all teams get the inputs at this moment, and may answer until the end
    window   each team gets the inputs when it asks, and may answer for this long
    kinds    kinds of cases that decide after the end: the final ones, or these with the provisional ones

    Without release and window final cases never count in this contest.
    """

    release: datetime | None = None
    window: timedelta | None = None
    kinds: frozenset[CaseKind] = FINAL

    @property
    def used(self) -> bool:
        """Does this contest use final cases?"""
        return self.release is not None or self.window is not None

    def decide(self, clock: Clock, now: datetime) -> bool:
        """Do final cases decide the public points now?"""
        return self.used and clock.decided(now)

    def phase(self, clock: Clock, now: datetime, *, public: bool) -> frozenset[CaseKind]:
        """The kinds of cases that give points now: final ones after the end, for the public after the thaw."""
        over = clock.decided(now) if public else clock.ended(now)
        return self.kinds if self.used and over else PROVISIONAL

    def deadline(self, clock: Clock, asked: datetime | None) -> datetime | None:
        """The deadline of a team that asked for the inputs at `asked`; None without a request or while unknown."""
        if self.window is None or asked is None:
            return None
        return clock.moment_of(min(clock.contest_time(asked) + self.window, clock.duration))

    def shown(self, clock: Clock, now: datetime, asked: datetime | None) -> bool:
        """May a team read the inputs? All may once they are released, or decide."""
        released = self.release is not None and clock.started(now) and now >= self.release
        return released or (self.window is not None and asked is not None) or self.decide(clock, now)

    def taken(self, clock: Clock, now: datetime, asked: datetime | None) -> bool:
        """Are a team's answers for final cases accepted now, as far as the contest is open to it?"""
        if self.decide(clock, now) or self.window is None or asked is None:
            return self.shown(clock, now, asked)
        return clock.contest_time(now) < clock.contest_time(asked) + self.window
