"""Points as whole grains: sums that are exact, whatever their order, and from which parts can be taken away again.

A grain is 2^-bits of a point, with as many bits as let a full score stay below 2^62. What a case or group is worth is
rounded to grains once; from then on there is only adding of integers, so that a board kept up to date equals one made
from scratch to the last bit, and all cases together are exactly the problem's maximum.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, ldexp
from typing import cast

from app.domain.contests import Aggregation, CaseKind, Group, ScoredProblem

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
