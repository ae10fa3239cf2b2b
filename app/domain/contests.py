"""Contests, their problems and their clock, as the rules see them."""

from __future__ import annotations

from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class Clock:
    """The times of a contest; `start` None means it is not set yet."""

    start: datetime | None
    duration: timedelta
    freeze_before_end: timedelta | None = None
    thaw: datetime | None = None

    @property
    def end(self) -> datetime | None:
        """When the contest ends, if it has a start."""
        return None if self.start is None else self.start + self.duration

    @property
    def freeze(self) -> datetime | None:
        """When the public board freezes, if it does."""
        if self.start is None or self.freeze_before_end is None:
            return None
        return self.start + self.duration - self.freeze_before_end

    def contest_time(self, moment: datetime) -> timedelta:
        """Time since the start; negative before it, zero while no start is set."""
        return moment - self.start if self.start is not None else timedelta(0)

    def started(self, now: datetime) -> bool:
        """Has the contest begun?"""
        return self.start is not None and now >= self.start

    def ended(self, now: datetime) -> bool:
        """Is the contest over?"""
        return self.end is not None and now >= self.end

    def running(self, now: datetime) -> bool:
        """May teams submit?"""
        return self.started(now) and not self.ended(now)

    def thawed(self, now: datetime) -> bool:
        """Has the frozen board been opened again?"""
        return self.thaw is not None and now >= self.thaw

    def frozen(self, now: datetime) -> bool:
        """Does the public board stand still? From the freeze until it is thawed, also past the end."""
        freeze = self.freeze
        return freeze is not None and now >= freeze and not self.thawed(now)


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
        thawed=past(clock.thaw) if clock.freeze is not None else None,
        finalized=past(finalized),
        end_of_updates=past(finalized),
    )


@dataclass(frozen=True, slots=True)
class Curtain:
    """What a frozen board hides: whatever was sent at `until` or later, but for the `revealed` (team, problem) pairs.

    Without `until` it hides nothing.
    """

    until: timedelta | None = None
    revealed: frozenset[tuple[str, str]] = frozenset()

    def hides(self, team_id: str, problem_id: str, time: timedelta) -> bool:
        """Is what this team sent to this problem at this contest time behind the curtain?"""
        return self.until is not None and time >= self.until and (team_id, problem_id) not in self.revealed


OPEN = Curtain()


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
