"""Builds problems, attempts and whole small contests for the rules, by hand and at random."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from fractions import Fraction

from hypothesis import strategies as st

from app.domain.contests import (
    Aggregation,
    Carry,
    Case,
    CaseKind,
    Counting,
    Direction,
    Group,
    Kind,
    ScoredProblem,
    ScoringRule,
    Team,
)
from app.domain.counting import Attempt, CaseVerdict, Exact, RawScore

REJECTED = RawScore(CaseVerdict.REJECTED)
JUDGE_ERROR = RawScore(CaseVerdict.JUDGE_ERROR)
CASES = ("1", "2", "3")
TEAMS = (Team("ants", "Ants"), Team("bees", "Bees"), Team("cats", "Cats"), Team("owls", "Owls", hidden=True))


def raw(value: Exact, multiplier: Exact | None = None) -> RawScore:
    """An accepted answer."""
    return RawScore(CaseVerdict.ACCEPTED, value, multiplier)


def share(multiplier: Exact) -> RawScore:
    """An accepted answer of absolute scoring, worth this share of its case's points."""
    return RawScore(CaseVerdict.ACCEPTED, 1, multiplier)


def rule(kind: Kind = Kind.RELATIVE, counting: Counting | None = None, **changes: object) -> ScoringRule:
    """A rule, relative by default, its counting that of the kind unless given."""
    usual = Counting.BEST_CASE if kind is Kind.ABSOLUTE else Counting.LAST
    return ScoringRule(kind=kind, counting=counting or usual, **changes)  # type: ignore[arg-type] # by name


def problem(
    scoring: ScoringRule | None = None, aggregation: Aggregation = Aggregation.SUM, names: tuple[str, ...] = CASES
) -> ScoredProblem:
    """One group of provisional cases worth 90 points in all, and so is the problem unless the rule says otherwise."""
    scoring = scoring or rule(max_points=Fraction(90))
    each = Fraction(90, len(names)) if aggregation is Aggregation.SUM else Fraction(90)
    group = Group("secret", CaseKind.PROVISIONAL, Fraction(90), aggregation)
    return ScoredProblem("p", scoring, (group,), tuple(Case(name, "secret", each) for name in names))


def attempt(
    id_: int, scores: Mapping[str, RawScore] | None, *, team: str = "ants", minute: int | None = None
) -> Attempt:
    """A submission to the problem `p`, at minute `id_` unless told otherwise; scores None: not judged yet."""
    return Attempt(id_, team, "p", timedelta(minutes=id_ if minute is None else minute), scores)


scores = st.one_of(
    st.just(REJECTED),
    st.builds(
        raw,
        st.one_of(st.integers(0, 12), st.fractions(0, 12, max_denominator=5)),
        st.fractions(0, 1, max_denominator=7),
    ),
)
rules = st.builds(
    ScoringRule,
    kind=st.sampled_from(Kind),
    direction=st.sampled_from(Direction),
    counting=st.sampled_from(Counting),
    carry=st.sampled_from(Carry),
    reference_counts=st.booleans(),
    max_points=st.just(Fraction(90)),
)
problems = st.builds(problem, rules, st.sampled_from(Aggregation))


@st.composite
def attempts(draw: st.DrawFn, most: int = 10) -> list[Attempt]:
    """Attempts of the four teams, some not judged yet, some at the same minute."""
    files = st.dictionaries(st.sampled_from(CASES), scores, max_size=3)
    attempts = []
    for id_ in range(1, draw(st.integers(0, most)) + 1):
        team = draw(st.sampled_from(TEAMS)).id
        judged = draw(st.one_of(st.none(), files, files, files))
        attempts.append(attempt(id_, judged, team=team, minute=draw(st.integers(0, 6))))
    return attempts


references = st.dictionaries(st.sampled_from(CASES), st.builds(raw, st.integers(0, 12)), max_size=3)

AWKWARD = (
    0,
    1,
    8,
    2**53,
    2**53 + 1,
    10**30,
    Fraction(1, 3),
    Fraction(2, 3),
    Fraction("12.345678901234567"),
    Fraction(12.345678901234567),
    Fraction("0.1"),
    Fraction(2**60 + 1, 7),
    Fraction(1, 2**70),
)
"""Raw scores without a common factor, of which no two fit into one column of floats."""
doubles = st.floats(0, 100, allow_subnormal=False).map(lambda value: Fraction(repr(value)))
"""Decimals as checkers print doubles: up to 17 digits."""
awkward_scores = st.builds(
    raw,
    st.one_of(st.sampled_from(AWKWARD), doubles),
    st.one_of(
        st.sampled_from([0, 1, Fraction(1, 3), Fraction(2, 3)]), st.floats(0, 1).map(lambda v: Fraction(repr(v)))
    ),
)


@st.composite
def awkward_attempts(draw: st.DrawFn, most: int = 8) -> list[Attempt]:
    """Attempts of the four teams, some at the same minute, with raw scores that have no common factor."""
    judged = st.dictionaries(st.sampled_from(CASES), st.one_of(awkward_scores, awkward_scores, st.just(REJECTED)))
    return [
        attempt(id_, draw(judged), team=draw(st.sampled_from(TEAMS)).id, minute=draw(st.integers(0, 6)))
        for id_ in range(1, draw(st.integers(0, most)) + 1)
    ]
