"""The scoring rule that a problem brings by itself."""

from __future__ import annotations

from fractions import Fraction

from app.domain.contests import Carry, Counting, Direction, Kind, ScoringRule


def default_rule(kind: Kind, direction: Direction, max_points: Fraction) -> ScoringRule:
    """The rule of a problem no contest says anything about: best per case, or for relative kinds the last submission.

    `max_points` are those of the package, so that a point there is a point here.
    """
    counting = Counting.BEST_CASE if kind is Kind.ABSOLUTE else Counting.LAST
    return ScoringRule(kind, direction, counting, Carry.BEST, reference_counts=False, max_points=max_points)
