"""Contests, their problems and their clock, as the rules see them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction


class Kind(StrEnum):
    """How raw scores become points."""

    ABSOLUTE = "absolute"
    RELATIVE = "relative"
    RANK = "rank"


class Direction(StrEnum):
    """Which raw score is better."""

    MAXIMISE = "maximise"
    MINIMISE = "minimise"


class Counting(StrEnum):
    """Which of a team's answers count."""

    BEST_CASE = "best-case"
    BEST = "best"
    LAST = "last"


class Carry(StrEnum):
    """What stands for a case a submission brings no file for."""

    BEST = "best"
    LATEST = "latest"
    NONE = "none"


class CaseKind(StrEnum):
    """What a case is for: shown with the statement, counting during the contest, or deciding after it."""

    SAMPLE = "sample"
    PROVISIONAL = "provisional"
    FINAL = "final"


PROVISIONAL = frozenset({CaseKind.PROVISIONAL})
FINAL = frozenset({CaseKind.FINAL})
EVERY = PROVISIONAL | FINAL


class Aggregation(StrEnum):
    """How a group's points come from its cases."""

    SUM = "sum"
    MIN = "min"
    PASS_FAIL = "pass-fail"


@dataclass(frozen=True, slots=True)
class Case:
    """One test case: `points` is its share of its group's maximum, an exact ratio."""

    name: str
    group: str
    points: Fraction


@dataclass(frozen=True, slots=True)
class Group:
    """One test data group; `require_pass` names the groups all of whose cases must be accepted in full first."""

    name: str
    kind: CaseKind
    max_points: Fraction
    aggregation: Aggregation = Aggregation.SUM
    require_pass: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoringRule:
    """How one problem of one contest is scored. `reference_counts`: the reference's raw scores take part in BEST."""

    kind: Kind = Kind.ABSOLUTE
    direction: Direction = Direction.MAXIMISE
    counting: Counting = Counting.BEST_CASE
    carry: Carry = Carry.BEST
    reference_counts: bool = False
    max_points: Fraction = Fraction(100)


@dataclass(frozen=True, slots=True)
class ScoredProblem:
    """A problem as a contest scores it: its rule, its groups and its cases, in order."""

    id: str
    rule: ScoringRule
    groups: tuple[Group, ...]
    cases: tuple[Case, ...]

    @property
    def final_cases(self) -> frozenset[str]:
        """The names of its final cases."""
        groups = {group.name for group in self.groups if group.kind is CaseKind.FINAL}
        return frozenset(case.name for case in self.cases if case.group in groups)

    def without_final(self) -> ScoredProblem:
        """The problem as if it had no final cases: what everybody may know of it before they decide."""
        groups = tuple(group for group in self.groups if group.kind is not CaseKind.FINAL)
        if len(groups) == len(self.groups):
            return self
        names = {group.name for group in groups}
        return replace(self, groups=groups, cases=tuple(case for case in self.cases if case.group in names))

    def counting(self, phase: frozenset[CaseKind]) -> frozenset[CaseKind]:
        """The kinds of cases that give its points in a phase: where it has none of these, its provisional ones."""
        if phase == PROVISIONAL:
            return phase
        return phase & {group.kind for group in self.groups} or PROVISIONAL


@dataclass(frozen=True, slots=True)
class Pause:
    """An interval taken out of a contest's time; without an `end` it lasts still."""

    start: datetime
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Clock:
    """The times of a contest; `start` None means it is not set yet.

    The contest's own time stands still in its `pauses`, so that freeze and end move by what was taken out. They are in
    order and do not overlap, and only the last may still last: until it is over nobody knows when the contest ends.
    """

    start: datetime | None
    duration: timedelta
    freeze_before_end: timedelta | None = None
    thaw: datetime | None = None
    pauses: tuple[Pause, ...] = ()

    @property
    def end(self) -> datetime | None:
        """When the contest ends, if that is known."""
        return self.moment_of(self.duration)

    @property
    def earliest_end(self) -> datetime | None:
        """When the contest ends if it goes on at once from the pause it is in; None without a start.

        What a pause takes out moves the thaw as it moves the end: this is the end a thaw is compared with.
        """
        if not self.pauses or self.pauses[-1].end is not None:
            return self.end
        last = self.pauses[-1]
        return replace(self, pauses=(*self.pauses[:-1], Pause(last.start, last.start))).end

    @property
    def freeze_time(self) -> timedelta | None:
        """The contest time from which the public board stands still, if it does."""
        return None if self.freeze_before_end is None else self.duration - self.freeze_before_end

    @property
    def freeze(self) -> datetime | None:
        """When the public board freezes, if it does and that is known."""
        return None if self.freeze_time is None else self.moment_of(self.freeze_time)

    def contest_time(self, moment: datetime) -> timedelta:
        """Time since the start without the pauses; negative before it, zero while no start is set."""
        if self.start is None:
            return timedelta(0)
        taken = sum((min(moment, pause.end or moment) - pause.start for pause in self._begun(moment)), timedelta(0))
        return moment - self.start - taken

    def moment_of(self, time: timedelta) -> datetime | None:
        """The first moment of a contest time; None while that is not known."""
        if self.start is None:
            return None
        moment = self.start + time
        for pause in self.pauses:
            if pause.start >= moment:
                break
            if pause.end is None:
                return None
            moment += pause.end - pause.start
        return moment

    def _begun(self, moment: datetime) -> list[Pause]:
        return [pause for pause in self.pauses if pause.start < moment]

    def started(self, now: datetime) -> bool:
        """Has the contest begun?"""
        return self.start is not None and now >= self.start

    def ended(self, now: datetime) -> bool:
        """Is the contest over?"""
        return self.end is not None and now >= self.end

    def paused(self, now: datetime) -> bool:
        """Does the contest's time stand still?"""
        return any(pause.start <= now and (pause.end is None or now < pause.end) for pause in self.pauses)

    def running(self, now: datetime) -> bool:
        """May teams submit?"""
        return self.started(now) and not self.ended(now) and not self.paused(now)

    def thawed(self, now: datetime) -> bool:
        """Has the frozen board been opened again? Never before the end."""
        return self.thaw is not None and now >= self.thaw and self.ended(now)

    def freeze_begun(self, now: datetime) -> bool:
        """Has the freeze begun, whether or not the board has been thawed since?"""
        return self.freeze is not None and now >= self.freeze

    def frozen(self, now: datetime) -> bool:
        """Does the public board stand still? From the freeze until it is thawed, also past the end."""
        return self.freeze_begun(now) and not self.thawed(now)

    def decided(self, now: datetime) -> bool:
        """May everybody know how it ended: is it over, and nothing of it frozen?"""
        return self.ended(now) and not self.frozen(now)

    def moments(self) -> list[datetime]:
        """Every moment at which something about it changes by itself."""
        found = [self.start, self.freeze, self.end, self.thaw]
        return [moment for moment in found if moment is not None]


@dataclass(frozen=True, slots=True)
class State:
    """CLICS contest state: the moments at which something happened, or None."""

    started: datetime | None = None
    frozen: datetime | None = None
    ended: datetime | None = None
    thawed: datetime | None = None
    finalized: datetime | None = None
    end_of_updates: datetime | None = None


def state(clock: Clock, now: datetime, finalized: datetime | None = None) -> State:
    """What has happened by `now`."""

    def past(moment: datetime | None) -> datetime | None:
        return moment if moment is not None and moment <= now else None

    return State(
        started=past(clock.start),
        frozen=past(clock.freeze),
        ended=past(clock.end),
        thawed=clock.thaw if clock.freeze is not None and clock.thawed(now) else None,
        finalized=past(finalized),
        end_of_updates=past(finalized),
    )


@dataclass(frozen=True, slots=True)
class Freeze:
    """What a frozen board hides: whatever was sent at `until` or later, but for the `revealed` (team, problem) pairs.

    Without `until` it hides nothing.
    """

    until: timedelta | None = None
    revealed: frozenset[tuple[str, str]] = frozenset()

    def hides(self, team_id: str, problem_id: str, time: timedelta) -> bool:
        """Is what this team sent to this problem at this contest time behind the freeze?"""
        return self.until is not None and time >= self.until and (team_id, problem_id) not in self.revealed


OPEN = Freeze()


@dataclass(frozen=True, slots=True)
class Team:
    """A team on the board; a hidden or disqualified one is neither shown nor part of any BEST."""

    id: str
    name: str
    hidden: bool = False
    group_ids: tuple[str, ...] = field(default_factory=tuple)
    disqualified: bool = False

    @property
    def counts(self) -> bool:
        """Is it on the board, and may its answers be BEST?"""
        return not (self.hidden or self.disqualified)
