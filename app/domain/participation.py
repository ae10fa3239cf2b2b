"""Personal clocks: `virtual` after the end of a contest, `personal` where each team chooses its start.

- Final cases: the release of their inputs, the deadline for their answers, and the time from which they decide.
- The scoring rule that a problem brings by itself.
- Changes of a contest's times that keep a freeze that has begun, and a frozen board frozen.
- Contests for practice: those that last for longer than a year, and decide nothing.
- Limits on a team's submissions to a problem.
- Messages of rejections as a contest shows them: the checker's sentence, only the place of the fault, or neither.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Protocol

from app.domain.contests import FINAL, PROVISIONAL, Carry, CaseKind, Clock, Counting, Direction, Kind, ScoringRule
from app.domain.documents import MessageDocument


class ParticipationKind(StrEnum):
    """Which clock is a team's own."""

    OFFICIAL = "official"
    VIRTUAL = "virtual"
    PERSONAL = "personal"


@dataclass(frozen=True, slots=True)
class Participation:
    """A team's own clock, begun at `start`."""

    kind: ParticipationKind
    start: datetime


def own_clock(
    clock: Clock, personal: timedelta | None, participation: Participation | None, extra: timedelta = timedelta(0)
) -> Clock:
    """Return the clock of a team's submissions, which ends later than that of other teams by its `extra` time.

    A personal clock runs for its own duration, at most until the contest's end, and stands still in the contest's
    pauses. A virtual clock is as long as the contest was.
    """
    if participation is None:
        freeze = None if clock.freeze_before_end is None else clock.freeze_before_end + extra
        return replace(clock, duration=clock.duration + extra, freeze_before_end=freeze) if extra else clock
    if participation.kind is ParticipationKind.VIRTUAL:
        return Clock(participation.start, clock.duration + extra)
    begun = clock.contest_time(participation.start)
    window = min(personal if personal is not None else clock.duration, clock.duration - begun) + extra
    pauses = tuple(pause for pause in clock.pauses if pause.end is None or pause.end > participation.start)
    return Clock(participation.start, window, pauses=pauses)


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


def default_rule(kind: Kind, direction: Direction, max_points: Fraction) -> ScoringRule:
    """The rule of a problem no contest says anything about: best per case, or for relative kinds the last submission.

    `max_points` are those of the package, so that a point there is a point here.
    """
    counting = Counting.BEST_CASE if kind is Kind.ABSOLUTE else Counting.LAST
    return ScoringRule(kind, direction, counting, Carry.BEST, reference_counts=False, max_points=max_points)


def with_duration(clock: Clock, duration: timedelta, now: datetime) -> Clock:
    """The clock of a contest made longer or shorter at `now`.

    A future freeze moves with the end; a freeze that has begun keeps its start, and its length changes.
    """
    before_end = clock.freeze_before_end
    if clock.freeze_begun(now) and clock.freeze_time is not None:
        before_end = duration - clock.freeze_time
    return replace(clock, duration=duration, freeze_before_end=before_end)


def with_thaw_after_end(before: Clock, after: Clock) -> Clock:
    """Move a thaw that would come before the new end by as much as the end moved."""
    was, end = before.earliest_end, after.earliest_end
    if was is None or end is None or after.thaw is None or after.thaw >= end:
        return after
    return replace(after, thaw=after.thaw + (end - was))


def moves_freeze(before: Clock, after: Clock, now: datetime) -> bool:
    """Does a change move or remove a freeze that has begun?"""
    return before.freeze_begun(now) and before.freeze_time != after.freeze_time


def opens_board(before: Clock, after: Clock, now: datetime) -> bool:
    """Does a change open a frozen board?"""
    return before.frozen(now) and not after.frozen(now)


LONGEST_DECIDED = timedelta(days=366)


def is_for_practice(times: Clock) -> bool:
    """Whether a contest with these times decides nothing."""
    return times.duration > LONGEST_DECIDED


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


class Telling(StrEnum):
    """What a contest tells of a rejection."""

    VERDICT = "verdict"
    POSITION = "position"
    FULL = "full"


def reduced(message: MessageDocument, telling: Telling) -> MessageDocument:
    """Reduce a rejection's message (key, text, args); without a place only the verdict is left."""
    if telling is Telling.FULL:
        return message
    where = message["args"].get("where") if telling is Telling.POSITION else None
    if not isinstance(where, str):
        return {"key": "rejected", "text": "rejected", "args": {}}
    place: MessageDocument = {"key": "rejected-at", "text": f"{where}: rejected", "args": {"where": where}}
    phrases = message.get("phrases", {})
    return {**place, "phrases": {"where": phrases["where"]}} if "where" in phrases else place
