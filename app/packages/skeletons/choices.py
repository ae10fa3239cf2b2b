"""The choices for a new package: how it is scored, what checks its answers, and its languages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from app.packages.names import LANGUAGE

Scoring = Literal["points", "minimise", "maximise", "rank", "pass-fail"]
CheckerKind = Literal["tokens", "exact", "lines", "unordered", "floats", "python", "c++", "metric"]
# These compare an answer with the expected one: it is right or wrong.
COMPARING: tuple[CheckerKind, ...] = ("tokens", "exact", "lines", "unordered", "floats")
# The checkers that can score so, first the default. `metric` accepts every table of predictions.
FITTING: Mapping[Scoring, tuple[CheckerKind, ...]] = {
    "points": (*COMPARING, "python", "c++", "metric"),
    "pass-fail": (*COMPARING, "python", "c++"),
    "minimise": ("python", "c++", "metric"),
    "maximise": ("python", "c++", "metric"),
    "rank": ("python", "c++", "metric"),
}


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices for a new package; `faults_of` names those that do not go together.

    title      of the problem, in every language
    languages  of the statement, the first one first
    empty      without an example problem: no test cases, generator, solver or example submissions
    """

    title: str
    scoring: Scoring = "points"
    checker: CheckerKind = "tokens"
    languages: tuple[str, ...] = ("en",)
    empty: bool = False


def faults_of(choices: Choices) -> list[str]:
    """What is wrong with the choices, in sentences; empty where they go together."""
    faults = []
    if not choices.title.strip() or not choices.title.isprintable():
        faults.append(f"--title: expected a line of text, found {choices.title!r}")
    if choices.checker not in (fitting := FITTING[choices.scoring]):
        expected = f"one that can score {choices.scoring} ({', '.join(fitting)})"
        faults.append(f"--checker: expected {expected}, found {choices.checker}")
    faults += [
        f"--language: expected a code such as en or pt-BR, found {language!r}"
        for language in choices.languages
        if not LANGUAGE.fullmatch(language)
    ]
    if len(set(choices.languages)) < len(choices.languages):
        faults.append(f"--language: expected each language once, found {', '.join(choices.languages)}")
    return faults
