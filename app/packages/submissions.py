"""The example submissions of a package: folders of answer files, and what submissions.yaml demands of them.

- Answer files that belong to no test case.
- The format's globs, by the names of a path.
- A package's test data as the scoring rules see it.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from fnmatch import fnmatchcase
from fractions import Fraction
from itertools import chain, islice

from app.core.faults import MORE, NONE, Faults, PackageError
from app.core.parsing import read_model
from app.domain.contests import Aggregation, Case, CaseKind, Direction, Group, Kind, ScoredProblem, ScoringRule
from app.domain.counting import Counted
from app.domain.scoring import Bests, ProblemPoints, problem_points
from app.packages import contents, model, settings, tools, trials
from app.packages.names import PATTERNS
from checkers.doors import N_, Phrase

FILE = "submissions/submissions.yaml"


def read_submissions(files: Mapping[str, bytes], faults: Faults) -> tuple[model.Submission, ...]:
    """Collect `submissions/<folder>/<name>/...` (or a single file there); at least one must be in `accepted`."""
    by_program: dict[str, list[contents.File]] = defaultdict(list)
    for name in files:
        top, _, path = name.partition("/")
        if top != "submissions" or name == FILE:
            continue
        if "/" not in path:
            faults.add(name, N_("expected submissions in folders such as submissions/accepted/"))
        else:
            by_program["/".join(path.split("/")[:2])].append(contents.File(name, files))
    if not any(path.startswith("accepted/") for path in by_program):
        faults.expect("submissions/accepted", "", N_("at least one accepted submission"), NONE)
    return tuple(model.Submission(path, tuple(by_program[path])) for path in sorted(by_program))


def read_rules(files: Mapping[str, bytes], faults: Faults) -> tuple[model.SubmissionRule, ...]:
    """Read submissions.yaml over the format's default demands on its default folders."""
    read = read_model(settings.DemandsByGlob, files[FILE], FILE, faults) if FILE in files else None
    given = {} if read is None else read.root
    rules: list[model.SubmissionRule] = []
    for glob in dict.fromkeys((*settings.DEFAULTS, *given)):
        if next(islice(_alternatives(glob), MOST_ALTERNATIVES, None), None) is not None:
            faults.expect(FILE, glob, f"at most {MOST_ALTERNATIVES} alternatives in a glob", MORE)
        default = settings.DEFAULTS.get(glob, settings.Demands())
        own = given.get(glob, default)
        verdicts = {"permitted": own.permitted or default.permitted, "required": own.required or default.required}
        rules.append(model.SubmissionRule(glob, None, own.model_copy(update=verdicts)))
        rules += [model.SubmissionRule(glob, cases, demands) for cases, demands in (own.model_extra or {}).items()]
    return tuple(rules)


def check_unused(package: model.Package) -> Iterator[PackageError]:
    """Yield answer files of example submissions that belong to no test case."""
    pattern = package.settings.answers.pattern
    patterns = (pattern,) if pattern else PATTERNS
    expected = {each.format(case=case.name) for case in package.cases for each in patterns}
    for submission in package.submissions:
        if tools.program_of(submission, package.files) is None:
            for file in submission.answers:
                if file.name not in expected and file.path != FILE:
                    yield PackageError(file.path, "", "no test case is called like this answer file", "note")


BRACES = re.compile(r"(?s)\A(.*?)\{([^{}]*)\}(.*)")  # the first pair with none in it
MOST_ALTERNATIVES = 100


def matches(glob: str, path: str) -> bool:
    """Tell whether the format's glob (`*` within a name, `{a,b}`) matches the path or one of the folders it lies in."""
    names = path.split("/")
    patterns = (each.replace("[", "[[]").split("/") for each in islice(_alternatives(glob), MOST_ALTERNATIVES))
    return any(len(each) <= len(names) and all(map(fnmatchcase, names, each)) for each in patterns)


def _alternatives(glob: str) -> Iterator[str]:
    """The globs without braces that a glob stands for, one after the other: each pair of braces multiplies them."""
    made = [start + word + end for start, words, end in BRACES.findall(glob) for word in words.split(",")]
    return chain.from_iterable(map(_alternatives, made)) if made else iter((glob,))


def scored_problem(package: model.Package) -> ScoredProblem:
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


# The outcomes of one submission's answers, by the case's name.
Outcomes = Mapping[str, trials.Outcome]

EVERY_PHASE = frozenset({CaseKind.PROVISIONAL, CaseKind.FINAL})
SLACK = 1e-6


def check_demands(package: model.Package, judged: Mapping[str, Outcomes]) -> Iterator[PackageError]:
    """Yield every demand that a submission does not meet; `judged` has the outcomes of those judged, by their path."""
    for submission in package.submissions:
        if (outcomes := judged.get(submission.path)) is None:
            continue
        points = submission_points(package, outcomes, judged)
        for rule in package.submission_rules:
            if matches(rule.glob, submission.path):
                cases = (case.name for case in package.cases if not rule.cases or matches(rule.cases, case.path))
                about = {name: outcomes[name] for name in cases if name in outcomes}
                yield from _check(submission, rule, about, points)


def submission_points(package: model.Package, outcomes: Outcomes, judged: Mapping[str, Outcomes]) -> ProblemPoints:
    """Points of one submission by the package's groups, all phases together.

    The checker's own multipliers count, whatever the package's kind of scoring, so that points do not depend on who
    takes part; where the checker gives none, raw scores count relative to the best of all the example submissions.
    """
    problem = scored_problem(package)
    accepted = [(name, o) for by_case in judged.values() for name, o in by_case.items() if o.score is not None]
    # One accepted answer without a multiplier makes all points relative: shares of both kinds do not compare.
    own = all(outcome.score is not None and outcome.score.multiplier is not None for _, outcome in accepted)
    rule = replace(problem.rule, kind=Kind.ABSOLUTE if own else Kind.RELATIVE)
    bests = Bests(rule)
    for name, outcome in accepted:
        bests.add(name, outcome.raw_score)
    answers = {name: Counted(outcome.raw_score, 1, timedelta(0)) for name, outcome in outcomes.items()}
    return problem_points(replace(problem, rule=rule), answers, bests.close(), EVERY_PHASE)


def _check(
    submission: model.Submission, rule: model.SubmissionRule, outcomes: Outcomes, points: ProblemPoints
) -> Iterator[PackageError]:
    """Yield what a rule misses; `outcomes` are those of the cases that it is about."""

    def unmet(expected: str, found: str) -> PackageError:
        source = "submissions/%(path)s: expected %(expected)s, found %(found)s"
        text = Phrase(source, path=submission.path, expected=expected, found=found)
        return PackageError(FILE, f"{rule.glob}, {rule.cases}" if rule.cases else rule.glob, text, "warning")

    demands = rule.demands
    verdicts = {name: outcome.verdict if outcome.score is None else "AC" for name, outcome in outcomes.items()}
    for name, verdict in verdicts.items():
        if demands.permitted is not None and verdict not in demands.permitted:
            unexpected = f"{verdict} on case {name} ({outcomes[name].rejected or 'accepted'})"
            yield unmet(f"only {', '.join(sorted(demands.permitted))}", unexpected)
    if demands.required is not None and set(demands.required).isdisjoint(verdicts.values()):
        expected = f"{' or '.join(sorted(demands.required))} on at least one case"
        yield unmet(expected, ", ".join(sorted(set(verdicts.values()))))
    if demands.message and not any(demands.message in (outcome.rejected or "") for outcome in outcomes.values()):
        yield unmet(f"a message with `{demands.message}`", "none")
    if demands.score is not None:
        low, high = demands.score
        of_groups = {group.group.name: group.points for group in points.groups}
        score = points.points if rule.cases in (None, "secret") else of_groups.get(rule.cases)
        if score is None:
            yield unmet("a score of a group that gives points", f"no such group as {rule.cases}")
        elif not low - SLACK <= score <= high + SLACK:
            expected = f"a score of {low:g}" if low == high else f"a score in {low:g}..{high:g}"
            yield unmet(expected, f"{score:.6g}")
