"""The choices for a new package: how it is scored, what checks its answers, its languages and groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from app.packages.names import LANGUAGE

Scoring = Literal["points", "minimise", "maximise", "rank", "pass-fail"]
CheckerKind = Literal["python", "c++", "tokens", "exact", "floats", "lines", "unordered", "metric"]
CHECKERS: tuple[CheckerKind, ...] = get_args(CheckerKind)
OWN: tuple[CheckerKind, ...] = ("python", "c++")
RIGHT_OR_WRONG: tuple[CheckerKind, ...] = ("tokens", "exact", "floats", "lines", "unordered")
MOST_GROUPS = 9
MOST_POINTS = 10**6


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices for a new package; `problems_of` names those that do not go together.

    title      of the problem, in every language
    languages  of the statement, the first one first
    groups     points of the provisional groups of test cases; one alone is no folder of its own
    final      points of the final group; None: there is none
    author     for the credits; empty: nobody
    empty      without an example problem: no test cases, generator, solver or example submissions
    """

    title: str
    scoring: Scoring = "points"
    checker: CheckerKind = "tokens"
    languages: tuple[str, ...] = ("en",)
    groups: tuple[int, ...] = (100,)
    final: int | None = None
    author: str = ""
    empty: bool = False


def checkers_for(scoring: Scoring) -> tuple[CheckerKind, ...]:
    """The checkers that can score so.

    Checkers that only know right and wrong give all right answers the same raw score, and `metric` accepts all tables.
    """
    if scoring == "points":
        return CHECKERS
    return (*OWN, *RIGHT_OR_WRONG) if scoring == "pass-fail" else (*OWN, "metric")


def default_checker(scoring: Scoring) -> CheckerKind:
    """The checker of a package for which none is chosen: the simplest that can score so."""
    return "tokens" if "tokens" in checkers_for(scoring) else "python"


def faults_of(choices: Choices) -> list[str]:
    """What is wrong with the choices, in sentences; empty where they go together."""
    faults = []
    if not choices.title.strip() or not choices.title.isprintable():
        faults.append(f"--title: expected a line of text, found {choices.title!r}")
    if choices.checker not in checkers_for(choices.scoring):
        faults.append(_mismatch(choices.scoring, choices.checker))
    faults += [
        f"--language: expected a code such as en or pt-BR, found {language!r}"
        for language in choices.languages
        if not LANGUAGE.fullmatch(language)
    ]
    if len(set(choices.languages)) < len(choices.languages):
        faults.append(f"--language: expected each language once, found {', '.join(choices.languages)}")
    faults += _points_faults("--groups", choices.groups)
    if not 1 <= len(choices.groups) <= MOST_GROUPS:
        faults.append(f"--groups: expected the points of 1 to {MOST_GROUPS} groups, found {len(choices.groups)}")
    if choices.final is not None:
        faults += _points_faults("--final", [choices.final])
    return faults


def _mismatch(scoring: Scoring, checker: CheckerKind) -> str:
    what = "accepts every table of predictions" if checker == "metric" else "only knows right and wrong"
    fitting = ", ".join(checkers_for(scoring))
    return f"--checker: expected one that can score {scoring} ({fitting}), found {checker}, which {what}"


def _points_faults(option: str, points: Sequence[int]) -> list[str]:
    odd = [each for each in points if not 1 <= each <= MOST_POINTS]
    return [f"{option}: expected points from 1 to {MOST_POINTS}, found {each}" for each in odd]
