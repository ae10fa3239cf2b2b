"""Final cases: when their inputs may be had, until when answers for them are taken, and when they decide."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.domain.contests import FINAL, PROVISIONAL, CaseKind, Clock


@dataclass(frozen=True, slots=True)
class Finals:
    """How a contest treats final cases.

    release  everybody gets the inputs at this moment, and may answer until the end
    window   or each team gets them when it asks for them, and may answer for so long
    kinds    which cases decide after the end: the final ones, or these and the provisional ones together

    With neither release nor window they are kept for another time: they never count in this contest.
    """

    release: datetime | None = None
    window: timedelta | None = None
    kinds: frozenset[CaseKind] = FINAL

    @property
    def used(self) -> bool:
        """Can anybody get the inputs in this contest at all?"""
        return self.release is not None or self.window is not None

    def decide(self, clock: Clock, now: datetime) -> bool:
        """Do final cases give the points that everybody sees?"""
        return self.used and clock.decided(now)

    def phase(self, clock: Clock, now: datetime, *, public: bool) -> frozenset[CaseKind]:
        """The cases that give points now: provisional ones, and after the end (thawed, for the public) the final."""
        over = clock.decided(now) if public else clock.ended(now)
        return self.kinds if self.used and over else PROVISIONAL

    def deadline(self, clock: Clock, asked: datetime | None) -> datetime | None:
        """Until when a team that asked for the inputs at a moment may answer; None: it has not, or nobody can tell."""
        if self.window is None or asked is None:
            return None
        return clock.moment_of(min(clock.contest_time(asked) + self.window, clock.duration))

    def shown(self, clock: Clock, now: datetime, asked: datetime | None) -> bool:
        """May a team read the inputs? Everybody may once they are released, or have decided."""
        released = self.release is not None and clock.started(now) and now >= self.release
        return released or (self.window is not None and asked is not None) or self.decide(clock, now)

    def taken(self, clock: Clock, now: datetime, asked: datetime | None) -> bool:
        """Are answers for them taken from a team now, the contest being open to it?"""
        if self.decide(clock, now) or self.window is None or asked is None:
            return self.shown(clock, now, asked)
        return clock.contest_time(now) < clock.contest_time(asked) + self.window
