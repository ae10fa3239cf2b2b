"""Contests, their problems and their clock: the types that scoring works on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from functools import cached_property


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
    """The role of a case: shown with the statement, counting during the contest, or deciding after it."""

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
    """One test data group; it gives points only if all cases of the groups in `require_pass` earn their full points."""

    name: str
    kind: CaseKind
    max_points: Fraction
    aggregation: Aggregation = Aggregation.SUM
    require_pass: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoringRule:
    """The scoring of one problem in one contest. `reference_counts`: the reference's raw scores take part in BEST."""

    kind: Kind = Kind.ABSOLUTE
    direction: Direction = Direction.MAXIMISE
    counting: Counting = Counting.BEST_CASE
    carry: Carry = Carry.BEST
    reference_counts: bool = False
    max_points: Fraction = Fraction(100)


@dataclass(frozen=True)
class ScoredProblem:
    """A problem in a contest: its rule, and its groups and cases in order.

    memo  what is computed of it once, by phase (`scoring.weights`)
    """

    id: str
    rule: ScoringRule
    groups: tuple[Group, ...]
    cases: tuple[Case, ...]
    memo: dict[frozenset[CaseKind], object] = field(init=False, default_factory=dict, compare=False, repr=False)

    @property
    def final_cases(self) -> frozenset[str]:
        """Names of the final cases."""
        groups = {group.name for group in self.groups if group.kind is CaseKind.FINAL}
        return frozenset(case.name for case in self.cases if case.group in groups)

    @cached_property
    def without_final(self) -> ScoredProblem:
        """The problem without its final cases, as the public sees it before they decide; the same one each time."""
        groups = tuple(group for group in self.groups if group.kind is not CaseKind.FINAL)
        if len(groups) == len(self.groups):
            return self
        names = {group.name for group in groups}
        return replace(self, groups=groups, cases=tuple(case for case in self.cases if case.group in names))

    def counting(self, phase: frozenset[CaseKind]) -> frozenset[CaseKind]:
        """The kinds of cases that give points in a phase; provisional ones where the problem has none of the phase."""
        if phase == PROVISIONAL:
            return phase
        return phase & {group.kind for group in self.groups} or PROVISIONAL


@dataclass(frozen=True, slots=True)
class Pause:
    """An interval taken out of a contest's time; without an `end` it is still going on."""

    start: datetime
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Clock:
    """The times of a contest; `start` is None until it is set.

    The contest's own time stands still in its `pauses`, so that freeze and end move by their length. Pauses are in
    order without overlap; only the last may be open, and the end is unknown while it is.
    """

    start: datetime | None
    duration: timedelta
    freeze_before_end: timedelta | None = None
    thaw: datetime | None = None
    pauses: tuple[Pause, ...] = ()

    @property
    def end(self) -> datetime | None:
        """The end of the contest; None while it is unknown."""
        return self.moment_of(self.duration)

    @property
    def earliest_end(self) -> datetime | None:
        """The end of the contest if an open pause ended at its start; None without a start.

        A pause moves thaw and end alike: thaw times are compared with this end.
        """
        if not self.pauses or self.pauses[-1].end is not None:
            return self.end
        last = self.pauses[-1]
        return replace(self, pauses=(*self.pauses[:-1], Pause(last.start, last.start))).end

    @property
    def freeze_time(self) -> timedelta | None:
        """The contest time of the freeze; None without one."""
        return None if self.freeze_before_end is None else self.duration - self.freeze_before_end

    @property
    def freeze(self) -> datetime | None:
        """The moment of the freeze; None without one, or while it is unknown."""
        return None if self.freeze_time is None else self.moment_of(self.freeze_time)

    def contest_time(self, moment: datetime) -> timedelta:
        """Time since the start without the pauses; negative before it, zero while no start is set."""
        if self.start is None:
            return timedelta(0)
        taken = sum((min(moment, pause.end or moment) - pause.start for pause in self._begun(moment)), timedelta(0))
        return moment - self.start - taken

    def moment_of(self, time: timedelta) -> datetime | None:
        """The first moment with a contest time; None while it is unknown."""
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
        """Is the contest paused?"""
        return any(pause.start <= now and (pause.end is None or now < pause.end) for pause in self.pauses)

    def running(self, now: datetime) -> bool:
        """May teams submit?"""
        return self.started(now) and not self.ended(now) and not self.paused(now)

    def thawed(self, now: datetime) -> bool:
        """Has the frozen board been thawed? Never before the end."""
        return self.thaw is not None and now >= self.thaw and self.ended(now)

    def freeze_begun(self, now: datetime) -> bool:
        """Has the freeze begun, whether or not the board has been thawed since?"""
        return self.freeze is not None and now >= self.freeze

    def frozen(self, now: datetime) -> bool:
        """Is the public board frozen? From the freeze until the thaw, also after the end."""
        return self.freeze_begun(now) and not self.thawed(now)

    def decided(self, now: datetime) -> bool:
        """Are the results public: is the contest over and its board thawed?"""
        return self.ended(now) and not self.frozen(now)

    def moments(self) -> list[datetime]:
        """The moments at which the contest changes by the clock."""
        times = [self.start, self.freeze, self.end, self.thaw]
        return [moment for moment in times if moment is not None]


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
    """Compute the CLICS state at `now`."""

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
    """The freeze hides submissions from contest time `until` on, except those of `revealed` (team, problem) pairs.

    Without `until` it hides nothing.
    """

    until: timedelta | None = None
    revealed: frozenset[tuple[str, str]] = frozenset()

    def hides(self, team_id: str, problem_id: str, time: timedelta) -> bool:
        """Does the freeze hide a submission of this team to this problem at this contest time?"""
        return self.until is not None and time >= self.until and (team_id, problem_id) not in self.revealed


OPEN = Freeze()


@dataclass(frozen=True, slots=True)
class Team:
    """A team on the board; a hidden or disqualified one is neither shown nor part of any BEST.

    extra  how much later than the contest its time ends
    """

    id: str
    name: str
    hidden: bool = False
    group_ids: tuple[str, ...] = field(default_factory=tuple)
    disqualified: bool = False
    extra: timedelta = timedelta(0)

    @property
    def counts(self) -> bool:
        """Is the team on the board, with answers that may be BEST?"""
        return not (self.hidden or self.disqualified)
