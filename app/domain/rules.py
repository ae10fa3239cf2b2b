"""The scoring rule of a contest's problem as a document, and the rule a problem brings by itself."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeVar

from app.domain.contests import Carry, Counting, Direction, Kind, ScoringRule
from app.domain.documents import RuleDocument

E = TypeVar("E", Kind, Direction, Counting, Carry)

KEYS = frozenset(RuleDocument.__annotations__)


def default_rule(kind: Kind, direction: Direction, max_points: Fraction) -> ScoringRule:
    """The rule of a problem no contest says anything about: best per case, or for relative kinds the last submission.

    `max_points` are those of the package, so that a point there is a point here.
    """
    counting = Counting.BEST_CASE if kind is Kind.ABSOLUTE else Counting.LAST
    return ScoringRule(kind, direction, counting, Carry.BEST, reference_counts=False, max_points=max_points)


def read_rule(document: Mapping[str, object], kind: Kind, direction: Direction, max_points: Fraction) -> ScoringRule:
    """The rule a contest's document makes over the problem's own; what it leaves out stays as by default.

    Raises ValueError that names the key where a value is not one of those possible, or a key is unknown.
    """
    if unknown := sorted(set(document) - KEYS):
        raise ValueError(f"rule: expected the keys {', '.join(sorted(KEYS))}, found {', '.join(unknown)}")
    base = default_rule(_choice(document, "kind", kind), _choice(document, "direction", direction), max_points)
    return ScoringRule(
        base.kind,
        base.direction,
        _choice(document, "counting", base.counting),
        _choice(document, "carry", base.carry),
        _truth(document, "reference_counts", base.reference_counts),
        _points(document, base.max_points),
    )


def write_rule(rule: ScoringRule) -> RuleDocument:
    """The document of a rule, every key written out; `max_points` as a number, or `"7/3"` where it is no integer."""
    points = rule.max_points
    return {
        "kind": rule.kind.value,
        "direction": rule.direction.value,
        "counting": rule.counting.value,
        "carry": rule.carry.value,
        "reference_counts": rule.reference_counts,
        "max_points": points.numerator if points.denominator == 1 else str(points),
    }


def _choice(document: Mapping[str, object], key: str, default: E) -> E:
    value = document.get(key)
    if value is None:
        return default
    try:
        return type(default)(str(value))
    except ValueError:
        expected = ", ".join(choice.value for choice in type(default))
        raise ValueError(f"rule.{key}: expected one of {expected}, found {value!r}") from None


def _truth(document: Mapping[str, object], key: str, default: bool) -> bool:
    value = document.get(key, default)
    if not isinstance(value, bool):
        raise ValueError(f"rule.{key}: expected true or false, found {value!r}")
    return value


def _points(document: Mapping[str, object], default: Fraction) -> Fraction:
    value = document.get("max_points")
    if value is None:
        return default
    try:
        points = Fraction(str(value)) if not isinstance(value, bool) else Fraction(-1)
    except (ValueError, ZeroDivisionError):
        points = Fraction(-1)
    if points < 0:
        raise ValueError(f"rule.max_points: expected a number of points from 0 up, found {value!r}")
    return points
