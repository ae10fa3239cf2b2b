"""From raw scores to points: the one place where points are computed, whoever asks.

Only raw scores (and the checker's multiplier for absolute scoring) are ever stored. The steps, each a pure function:

1. `counted_answers`   which of a team's answers counts for each case (carry-over, best-case, best or last)
2. `Bests`             BEST of each case over the counted answers of the visible teams, and of the reference
3. `multiplier`        0..1 for one counted answer: absolute, YOUR/BEST or BEST/YOUR, or by rank
4. `problem_points`    groups (sum, min, pass-fail, require_pass) scaled to the problem's maximum

Multipliers are correctly rounded quotients of exact integers. A grain is 2^-bits of a point, with as many bits as let a
full score stay below 2^62. What a case or group is worth is rounded to grains once; from then on integers are added, so
that points do not depend on the order of arrival, and all cases together are exactly the problem's maximum. This module
is the authority, and the slow twin of `incremental_scoring`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from math import inf, ldexp
from typing import cast

from app.domain.contests import PROVISIONAL, Aggregation, CaseKind, Direction, Group, Kind, ScoredProblem, ScoringRule
from app.domain.counting import Answers, Exact, RawScore

BELOW_ONE = 1.0 - 2.0**-53
BELOW = 2**62
FEWEST_BITS, MOST_BITS = -900, 900
# All views show points rounded to nine decimals, so that 63 points computed as 62.99999999999999 are 63.
DECIMALS = 10**9
# Above this number of points, a float has fewer than nine decimals.
LARGEST_ROUNDED = 2**53 / DECIMALS


def shown(points: float, most: float = inf) -> float:
    """Round points to the number that all views show; the maximum stays what it is."""
    if points >= min(most, LARGEST_ROUNDED):
        return points
    return min(most, round(points * DECIMALS) / DECIMALS)


def grain_bits(most: Fraction) -> int:
    """The largest number of bits with which `most` points are fewer than 2^62 grains."""
    if most <= 0:
        return 0
    bits = 63 - most.numerator.bit_length() + most.denominator.bit_length()
    while most * Fraction(2) ** bits >= BELOW:
        bits -= 1
    return max(FEWEST_BITS, min(MOST_BITS, bits))


def earned(weight: int, share: float) -> int:
    """The grains that a share 0..1 of a weight is."""
    return weight if share >= 1.0 else min(weight, round(float(weight) * share))


@dataclass(frozen=True, slots=True)
class GroupWeight:
    """A group in grains: what it gives in full, the names of its cases, and whether it counts in the phase at hand."""

    group: Group
    full: int
    cases: tuple[str, ...]
    counts: bool


@dataclass(frozen=True, slots=True)
class Weights:
    """A problem in grains, for one phase: `cases` are those that count, in order.

    scale   contest points per point of the package
    exact   points of each case in the package
    """

    bits: int
    full: int
    most: float
    scale: Fraction
    exact: Mapping[str, Fraction]
    groups: tuple[GroupWeight, ...]
    cases: Mapping[str, int]

    def points(self, grains: int) -> float:
        """Grains as points: the nearest float, and exactly the maximum where nothing is missing."""
        return self.most if grains >= self.full else min(self.most, ldexp(float(grains), -self.bits))

    def part(self, grains: int) -> float:
        """Grains of a case or a group as the points that views show."""
        return shown(ldexp(float(grains), -self.bits))


def weights(problem: ScoredProblem, phase: frozenset[CaseKind]) -> Weights:
    """The weights of a problem, worked out once."""
    kinds = problem.counting(phase)
    if kinds not in problem.memo:
        problem.memo[kinds] = _weights(problem, kinds)
    return cast(Weights, problem.memo[kinds])


def _weights(problem: ScoredProblem, phase: frozenset[CaseKind]) -> Weights:
    most = problem.rule.max_points
    total = sum((group.max_points for group in problem.groups if group.kind in phase), Fraction(0))
    bits = grain_bits(most)
    scale = most / total if total else Fraction(0)
    unit = scale * Fraction(2) ** bits
    groups: list[GroupWeight] = []
    cases: dict[str, int] = {}
    before = Fraction(0)
    for group in problem.groups:
        counts = group.kind in phase
        mine = [case for case in problem.cases if case.group == group.name]
        after = before + group.max_points if counts else before
        groups.append(
            GroupWeight(group, round(after * unit) - round(before * unit), tuple(c.name for c in mine), counts)
        )
        if counts:
            at = before
            for case in mine:
                # What rounding takes from one case of a sum it gives to the next: together they are the group.
                then = at + case.points
                cases[case.name] = round(then * unit) - round(at * unit)
                at = then if group.aggregation is Aggregation.SUM else at
        before = after
    ordered = {case.name: cases[case.name] for case in problem.cases if case.name in cases}
    full = round(total * unit)
    exact = {case.name: case.points for case in problem.cases}
    return Weights(bits, full, float(most) if full else 0.0, scale, exact, tuple(groups), ordered)


@dataclass(frozen=True, slots=True)
class TotalScale:
    """The grain in which the points of some problems are added up, and their maximum."""

    bits: int
    most: float

    @property
    def tolerance(self) -> float:
        """Totals that differ by more than this differ exactly; it is many times the error of grains and floats."""
        return self.most * 2.0**-46


def total_scale(problems: Iterable[ScoredProblem]) -> TotalScale:
    """The scale of the total of these problems."""
    most = sum((problem.rule.max_points for problem in problems), Fraction(0))
    return TotalScale(grain_bits(most), float(most))


@dataclass
class Bests:
    """Per case, the data of all counted answers that relative and rank scoring need."""

    rule: ScoringRule
    teams: int = 0
    best: dict[str, Exact] = field(default_factory=dict)
    raws: Mapping[str, list[Exact]] = field(default_factory=dict)

    def add(self, case: str, score: RawScore) -> None:
        """Add an accepted answer of a visible team, or of the reference."""
        if not score.accepted or score.raw is None:
            return
        old = self.best.get(case)
        pick = max if self.rule.direction is Direction.MAXIMISE else min
        self.best[case] = score.raw if old is None else pick(old, score.raw)
        if self.rule.kind is Kind.RANK:
            cast("dict[str, list[Exact]]", self.raws).setdefault(case, []).append(self._towards(score.raw))

    def close(self) -> Bests:
        """Sort the raw scores for `rank`; call once after the last `add`."""
        for raws in self.raws.values():
            raws.sort()
        return self

    def _towards(self, raw: Exact) -> Exact:
        return raw if self.rule.direction is Direction.MAXIMISE else -raw

    def multiplier(self, case: str, score: RawScore) -> float:
        """The share 0..1 of the case's points that `score` earns, as a float."""
        return rounded_share(self.share(case, score))

    def share(self, case: str, score: RawScore) -> Exact:
        """The share 0..1 of the case's points that `score` earns, exactly."""
        if not score.accepted:
            return 0
        if self.rule.kind is Kind.ABSOLUTE:
            return within_one(score.multiplier if score.multiplier is not None else 0)
        if score.raw is None:
            return 0
        if self.rule.kind is Kind.RANK:
            return self._rank_share(case, score.raw)
        best = self.best.get(case, score.raw)
        return relative(score.raw, best, self.rule.direction)

    def _rank_share(self, case: str, raw: Exact) -> Exact:
        raws = self.raws.get(case, [])
        ahead = len(raws) - bisect_right(raws, self._towards(raw))
        # An answer that does not count itself may be behind all teams and the reference: the bound keeps it at 0.
        return within_one(Fraction(self.teams - ahead, self.teams)) if self.teams else 1


def relative(yours: Exact, best: Exact, direction: Direction) -> Exact:
    """YOUR/BEST, or BEST/YOUR when less is better; BEST = 0 gives 1 to equals and 0 to the rest.

    An answer outside BEST (of a hidden team, or no longer counted) may be better than BEST, and gives 1 as well.
    """
    if yours == best or (yours > best) is (direction is Direction.MAXIMISE):
        return 1
    top, bottom = (yours, best) if direction is Direction.MAXIMISE else (best, yours)
    if best == 0 or bottom == 0:
        return 0
    return within_one(Fraction(top) / Fraction(bottom))


def within_one(share: Exact) -> Exact:
    """Bound a share to 0..1."""
    return min(1, max(0, share))


def rounded_share(share: Exact) -> float:
    """The nearest float; below 1 unless the share is 1, as groups pass by full shares only."""
    nearest = float(share)
    return nearest if nearest < 1.0 or share >= 1 else BELOW_ONE


@dataclass(frozen=True, slots=True)
class GroupPoints:
    """Points of one group out of `max_points`; `why` gives the reason for 0 points."""

    group: Group
    points: float
    max_points: float
    why: str = ""


def adds_up(aggregation: str, points: float, cases: Iterable[float | None]) -> bool:
    """Return whether a group's points are the sum of its `cases`' points: no worst case decides, and no other group."""
    return aggregation == Aggregation.SUM and (points > 0 or not any(cases))


@dataclass(frozen=True, slots=True)
class ProblemPoints:
    """Points of one team at one problem: sum, groups, each case's multiplier and points, time of the last rise.

    `points` are as views show them; `unrounded` is what totals are made of.
    """

    points: float
    unrounded: float
    groups: tuple[GroupPoints, ...]
    multipliers: Mapping[str, float]
    case_points: Mapping[str, float]
    improved: timedelta | None


def problem_points(
    problem: ScoredProblem, answers: Answers, bests: Bests, phase: frozenset[CaseKind] = PROVISIONAL
) -> ProblemPoints:
    """Points of the counted `answers` of one team; groups outside `phase` give none, the rest fill `max_points`.

    A problem without any case of the phase keeps its provisional points.
    """
    multipliers = {case: bests.multiplier(case, counted.score) for case, counted in answers.items()}
    scale = weights(problem, phase)
    passed = {each.group.name for each in scale.groups if all(multipliers.get(name, 0.0) >= 1.0 for name in each.cases)}
    gains = [(each, *_gain(each, scale, multipliers, passed)) for each in scale.groups if each.counts]
    groups = tuple(GroupPoints(g.group, scale.part(gain), scale.part(g.full), why) for g, gain, why in gains)
    grains = {name: earned(weight, multipliers.get(name, 0.0)) for name, weight in scale.cases.items()}
    gained = {name for each, gain, _ in gains if gain > 0 for name in each.cases}
    earning = {name for name, gain in grains.items() if gain > 0 and name in gained}
    improved = [answer.improved for case, answer in answers.items() if case in earning]
    points = scale.points(sum(gain for _, gain, _ in gains))
    case_points = {name: scale.part(gain) for name, gain in grains.items()}
    last = max(improved) if points > 0 and improved else None
    return ProblemPoints(shown(points, scale.most), points, groups, multipliers, case_points, last)


def exact_points(
    problem: ScoredProblem, answers: Answers, bests: Bests, phase: frozenset[CaseKind] = PROVISIONAL
) -> Fraction:
    """The points of `problem_points` without any rounding: ranks and ties are decided by these."""
    scale = weights(problem, phase)
    shares = {case: bests.share(case, counted.score) for case, counted in answers.items()}
    passed = {each.group.name for each in scale.groups if all(shares.get(name, 0) == 1 for name in each.cases)}
    sums: dict[int, int] = {}  # numerators by denominator: Fractions are slow to add
    for each in scale.groups:
        if not each.counts or not passed.issuperset(each.group.require_pass):
            continue
        for points, share in _exact_parts(each, scale, shares, passed):
            bottom = points.denominator * share.denominator
            sums[bottom] = sums.get(bottom, 0) + points.numerator * share.numerator
    return sum((Fraction(top, bottom) for bottom, top in sums.items()), Fraction(0)) * scale.scale


def _exact_parts(
    weight: GroupWeight, scale: Weights, shares: Mapping[str, Exact], passed: set[str]
) -> Iterable[tuple[Fraction, Exact]]:
    """The points that a group's sum has as terms, each with the share that is earned of it."""
    group = weight.group
    if not weight.cases:
        return ()
    if group.aggregation is Aggregation.SUM:
        return ((scale.exact[name], shares[name]) for name in weight.cases if name in shares)
    if group.aggregation is Aggregation.MIN:
        return ((group.max_points, min(shares.get(name, 0) for name in weight.cases)),)
    return ((group.max_points, int(group.name in passed)),)


def _gain(weight: GroupWeight, scale: Weights, multipliers: Mapping[str, float], passed: set[str]) -> tuple[int, str]:
    """The grains of a group, and the reason for 0."""
    group = weight.group
    missing = [name for name in group.require_pass if name not in passed]
    if missing:
        return 0, f"needs {', '.join(missing)} to pass"
    if not weight.cases:
        return 0, ""
    shares = [multipliers.get(name, 0.0) for name in weight.cases]
    if group.aggregation is Aggregation.SUM:
        gain = sum(earned(scale.cases[name], share) for name, share in zip(weight.cases, shares, strict=True))
    elif group.aggregation is Aggregation.MIN:
        gain = earned(weight.full, min(shares))
    else:
        gain = weight.full if group.name in passed else 0
    return gain, "" if gain > 0 else _why_nothing(group, shares)


def _why_nothing(group: Group, shares: Sequence[float]) -> str:
    zero = sum(1 for share in shares if share == 0.0)
    if group.aggregation is Aggregation.PASS_FAIL:
        short = sum(1 for share in shares if share < 1.0)
        return f"all {len(shares)} cases must be right, {short} not yet"
    if group.aggregation is Aggregation.MIN:
        return f"the worst case decides, {zero} of {len(shares)} cases give nothing yet"
    return "no case gives points yet"


def cut(points: float, digits: int) -> float:
    """Truncate points to fewer decimals: 99.96 is 99.9, never 100.0.

    Every format that shows fewer decimals than a number has cuts it like this.
    Points that equal a decimal as floats are not cut to the next lower one: 0.29 stays 0.29 although 0.29 * 100 is
    below 29.
    """
    scale: int = 10**digits
    units: int = round(points * scale)
    return (units if units / scale <= points else units - 1) / scale
