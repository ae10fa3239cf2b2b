"""A package's test data as the scoring rules see it."""

from __future__ import annotations

from fractions import Fraction

from app.domain.contests import Aggregation, Case, CaseKind, Direction, Group, Kind, ScoredProblem, ScoringRule
from app.packages.model import Package


def scored_problem(package: Package) -> ScoredProblem:
    """Give the groups, cases and default rule of a package; a contest may put its own rule in its place."""
    scoring = package.settings.scoring
    return ScoredProblem(
        id=package.slug,
        rule=ScoringRule(Kind(scoring.kind), Direction(scoring.direction), max_points=Fraction(package.max_score)),
        groups=tuple(
            Group(g.name, CaseKind(g.kind), Fraction(g.max_score or 0), Aggregation(g.aggregation), g.require_pass)
            for g in package.groups
        ),
        cases=tuple(Case(case.name, case.group, case.max_points) for case in package.cases),
    )
