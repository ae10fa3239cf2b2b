"""The bundled problems, those that are played, and checkers, listed by walking `problems/` and `checkers/`.

- The board that a package brings along: `board.js`, which pages run in a frame without rights.
- The ladder of a problem's methods: what each of them earns on the package's secret cases, and what it must earn.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from app.core.faults import PackageError, PackageErrors, mismatch
from app.core.shipped import shipped
from app.domain import contests, counting
from app.domain.scoring import Bests, ProblemPoints, problem_points
from app.packages import model, settings, trials, zips
from app.packages.contents import size_of
from app.packages.submissions import EVERY_PHASE, SLACK, Outcomes, scored_problem
from checkers.doors import N_, Phrase

VARIABLE = "JURADO_PROBLEMS"
# The folder of packages that are played, among those of other packages.
GAMES = "games"
DOOR = re.compile(rb"^def score_answer\(", re.MULTILINE)


def problems_folder() -> Path:
    """Find the folder of bundled packages: JURADO_PROBLEMS, the program's own, or `problems/` below `.`.

    Raises PackageErrors naming the places looked at where there is none.
    """
    named = os.environ.get(VARIABLE)
    places = [Path(named)] if named else [shipped("problems"), Path.cwd() / "problems"]
    for place in places:
        if place.is_dir():
            return place
    looked = ", ".join(map(str, places))
    missing = Phrase(N_("none at %(looked)s"), looked=looked)
    raise PackageErrors([PackageError("", "", mismatch(N_("a folder of problem packages"), missing))])


def bundled() -> dict[str, Path]:
    """List the bundled packages: slug to folder, sorted by slug."""
    return _packages(problems_folder())


def bundled_games() -> dict[str, Path]:
    """List the bundled packages of problems that are played, which lie a folder deeper: slug to folder, sorted."""
    folder = problems_folder() / GAMES
    return _packages(folder) if folder.is_dir() else {}


def _packages(folder: Path) -> dict[str, Path]:
    return {path.name: path for path in sorted(folder.iterdir()) if (path / "problem.yaml").is_file()}


def checkers() -> tuple[str, ...]:
    """List the checkers of this installation by name: what of `checkers/` has the four doors, and those next to it."""
    spec = find_spec("checkers")
    folders = [Path(folder) for folder in (spec.submodule_search_locations or () if spec is not None else ())]
    modules = [path for folder in folders for path in (*folder.glob("*.py"), *folder.glob("*/__init__.py"))]
    # Read and not imported: what a checker imports takes a second and many megabytes.
    with_doors = [path for path in modules if DOOR.search(path.read_bytes()) is not None]
    names = (path.parent.name if path.stem == "__init__" else path.stem for path in with_doors)
    return tuple(sorted({*settings.BESIDE, *names}))


NAME = "board.js"
# Bytes of a board's module.
LARGEST = 256 * 1024


def check_board(package: model.Package) -> Iterator[PackageError]:
    """Yield what is wrong with a package's board, as far as it shows without running it."""
    size = 0 if NAME not in package.files else size_of(package.files, NAME)
    if size > LARGEST:
        yield PackageError(NAME, "", mismatch(N_("at most %(largest)s bytes"), str(size), largest=LARGEST))


def board_module(archive: IO[bytes]) -> str | None:
    """The module of a package, a zip with one folder at its top; None where it brings none."""
    with zips.open_zip(archive) as opened:
        for entry in opened.infolist():
            top, _, name = entry.filename.partition("/")
            if name == NAME and top and entry.file_size <= LARGEST:
                # One byte more than the limit: only reading to the end checks the CRC.
                return zips.inflate(opened, entry, LARGEST + 1, lambda _: None).decode()
    return None


# A whole ladder is told out of 100 points, whatever the package's own maximum.
MOST = Fraction(100)


@dataclass(frozen=True, slots=True)
class Climb:
    """The cases of a ladder, the whole or the short one of `jurado.yaml`, and its rules.

    problem   what scores it, out of 100 points
    expected  least and most points of each method
    seconds   time limit of a case; `memory` in MiB
    """

    package: model.Package
    cases: tuple[model.Case, ...]
    problem: contests.ScoredProblem
    expected: Mapping[str, tuple[float, float]]
    seconds: float
    memory: int


def plan_climb(package: model.Package, *, short: bool) -> Climb:
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


def _scaled(problem: contests.ScoredProblem, names: set[str]) -> contests.ScoredProblem:
    chosen = [case for case in problem.cases if case.name in names]
    counts = Counter(case.group for case in chosen)
    groups = {group.name: group for group in problem.groups}
    cases = tuple(
        replace(case, points=groups[case.group].max_points / counts[case.group])
        if groups[case.group].aggregation is contests.Aggregation.SUM
        else case
        for case in chosen
    )
    rule = replace(problem.rule, max_points=MOST)
    return replace(problem, rule=rule, cases=cases, groups=tuple(g for g in problem.groups if counts[g.name]))


def accepted_outcomes(climb: Climb) -> dict[str, Outcomes]:
    """Judge the package's accepted example submissions on the climb's cases, by the submission's path."""
    outcomes: dict[str, Outcomes] = {}
    for submission in climb.package.submissions:
        if submission.path.startswith("accepted/"):
            files = {file.name: file for file in submission.answers}
            cases = [case for case in climb.cases if f"{case.name}.out" in files]
            outcomes[submission.path] = {
                case.name: trials.judge_here(climb.package, case, files[f"{case.name}.out"].read()) for case in cases
            }
    return outcomes


def ladder_points(climb: Climb, judged: Mapping[str, Outcomes], known: Mapping[str, Outcomes]) -> list[ProblemPoints]:
    """Points of each method in the order of `judged`, out of 100.

    Relative and rank scoring compare with the best of all the methods and of the `known` outcomes (the package's
    accepted submissions), so that a ladder run without its top does not look better than it is.
    """
    bests = Bests(climb.problem.rule, teams=len(judged))
    for outcomes in (*judged.values(), *(known.values() if climb.problem.rule.kind is not contests.Kind.RANK else ())):
        for name, outcome in outcomes.items():
            bests.add(name, outcome.raw_score)
    bests.close()
    return [
        problem_points(
            climb.problem,
            {name: counting.Counted(outcome.raw_score, 1, timedelta(0)) for name, outcome in outcomes.items()},
            bests,
            EVERY_PHASE,
        )
        for outcomes in judged.values()
    ]


def within(points: float, expected: tuple[float, float]) -> bool:
    """Whether the points lie in the expected range, but for rounding."""
    return expected[0] - SLACK <= points <= expected[1] + SLACK
