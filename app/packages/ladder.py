"""The ladder of a problem's methods: what each of them earns on the package's secret cases, and what it must earn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction

from app.core.faults import PackageError
from app.domain.contests import Aggregation, Kind, ScoredProblem
from app.domain.scoring import Bests, Counted, ProblemPoints, problem_points
from app.packages.demands import EVERY_PHASE, SLACK, Outcomes
from app.packages.model import Case, Package
from app.packages.scored import scored_problem
from app.packages.trials import Trial, open_trial

MOST = Fraction(100)
"""A whole ladder is told out of 100 points, whatever the package's own maximum."""


@dataclass(frozen=True, slots=True)
class Climb:
    """The cases of a ladder, the whole or the short one of `jurado.yaml`, and its rules.

    problem   what scores it, out of 100 points
    expected  least and most points of each method
    seconds   time limit of a case; `memory` in MiB
    """

    package: Package
    cases: tuple[Case, ...]
    problem: ScoredProblem
    expected: Mapping[str, tuple[float, float]]
    seconds: float
    memory: int


def plan_climb(package: Package, *, short: bool) -> Climb:
    """Choose the cases, and scale the cases of each group to the group's maximum.

    Raises ValueError where jurado.yaml has no ladder, or where its short ladder names what is no secret case of the
    package, or a case twice.
    """
    ladder = package.settings.ladder
    if ladder is None:
        raise ValueError(f"{package.slug}: expected a `ladder` in jurado.yaml, found none")
    secret = {case.name: case for case in package.cases if case.group != "sample"}
    names = ladder.short.cases if short else tuple(secret)
    unknown = [name for name in names if name not in secret]
    if unknown:
        raise ValueError(f"{package.slug}: ladder.short.cases: expected secret cases, found {', '.join(unknown)}")
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise ValueError(f"{package.slug}: ladder.short.cases: expected each case once, found {', '.join(twice)} again")
    cases = tuple(secret[name] for name in sorted(names))
    expected = ladder.points | (ladder.short.points or {}) if short else ladder.points
    seconds = float(ladder.short.seconds if short else ladder.seconds)
    return Climb(package, cases, _scaled(scored_problem(package), set(names)), expected, seconds, ladder.memory)


def _scaled(problem: ScoredProblem, names: set[str]) -> ScoredProblem:
    chosen = [case for case in problem.cases if case.name in names]
    counts = Counter(case.group for case in chosen)
    groups = {group.name: group for group in problem.groups}
    cases = tuple(
        replace(case, points=groups[case.group].max_points / counts[case.group])
        if groups[case.group].aggregation is Aggregation.SUM
        else case
        for case in chosen
    )
    rule = replace(problem.rule, max_points=MOST)
    return replace(problem, rule=rule, cases=cases, groups=tuple(g for g in problem.groups if counts[g.name]))


def open_cases(climb: Climb) -> dict[str, Trial]:
    """Give the checker of each case with the input read, by the case's name; raises PackageErrors."""
    return {case.name: open_trial(climb.package, case) for case in climb.cases}


def accepted_outcomes(climb: Climb, trials: Mapping[str, Trial]) -> dict[str, Outcomes]:
    """Judge the package's accepted example submissions on the climb's cases, by the submission's path."""
    outcomes: dict[str, Outcomes] = {}
    for submission in climb.package.submissions:
        if submission.path.startswith("accepted/"):
            files = {file.name: file for file in submission.answers}
            names = [case.name for case in climb.cases if f"{case.name}.out" in files]
            outcomes[submission.path] = {name: trials[name].judge(files[f"{name}.out"].read()) for name in names}
    return outcomes


def ladder_points(climb: Climb, judged: Mapping[str, Outcomes], known: Mapping[str, Outcomes]) -> list[ProblemPoints]:
    """Points of each method in the order of `judged`, out of 100.

    Relative and rank scoring compare with the best of all the methods and of the `known` outcomes (the package's
    accepted submissions), so that a ladder run without its top does not look better than it is.
    """
    bests = Bests(climb.problem.rule, teams=len(judged))
    for outcomes in (*judged.values(), *(known.values() if climb.problem.rule.kind is not Kind.RANK else ())):
        for name, outcome in outcomes.items():
            bests.add(name, outcome.raw_score)
    bests.close()
    return [
        problem_points(
            climb.problem,
            {name: Counted(outcome.raw_score, 1, timedelta(0)) for name, outcome in outcomes.items()},
            bests,
            EVERY_PHASE,
        )
        for outcomes in judged.values()
    ]


def within(points: float, expected: tuple[float, float]) -> bool:
    """Whether the points lie in the expected range, but for rounding."""
    return expected[0] - SLACK <= points <= expected[1] + SLACK


def check_ladder(package: Package) -> Iterator[PackageError]:
    """Yield what is wrong with a package's ladder as far as it can be told without running it."""
    ladder = package.settings.ladder
    if ladder is None:
        return
    for place, ranges in (("ladder.points", ladder.points), ("ladder.short.points", ladder.short.points or {})):
        for method, (least, most) in ranges.items():
            if least > most:
                message = f"expected [least, most], found [{least}, {most}]"
                yield PackageError("jurado.yaml", f"{place}.{method}", message, "warning")
    for method in sorted(set(ladder.short.points or {}) - set(ladder.points)):
        text = f"expected a method of ladder.points ({', '.join(ladder.points)}), found {method}"
        yield PackageError("jurado.yaml", "ladder.short.points", text, "warning")
    try:
        short = plan_climb(package, short=True)
    except ValueError as error:
        yield PackageError("jurado.yaml", "ladder.short.cases", str(error), "warning")
        return
    giving = {group.name for group in package.groups if group.max_score}
    missing = giving - {case.group for case in short.cases}
    if missing:
        text = f"expected a case of every group that gives points, found none of {', '.join(sorted(missing))}"
        yield PackageError("jurado.yaml", "ladder.short.cases", text, "warning")
