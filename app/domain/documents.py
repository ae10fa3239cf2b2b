"""The JSON documents that rows, graders and packages exchange, key by key, and the type of any JSON value.

They were validated when they were written.

- What a grader is given and what it returns, an answer at a time: plain values, so that a grader loads no database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NotRequired, TypeAlias, TypedDict

import typing_extensions

from app.domain.counting import CaseVerdict, Exact

# Any JSON, to be read and not changed: parsed arrays are lists, and parsed objects are dicts.
JsonValue: TypeAlias = "str | int | float | bool | Sequence[JsonValue] | Mapping[str, JsonValue] | None"


# Models contain them, too: before Python 3.12 pydantic takes those of typing_extensions alone.
class PhraseDocument(typing_extensions.TypedDict):
    """The English source of an argument with its values, for other languages; a value may be a phrase too."""

    source: str
    values: Mapping[str, int | float | str | PhraseDocument]


class MessageDocument(typing_extensions.TypedDict):
    """A checker's message: a key with arguments for other languages, in addition to its English text.

    phrases  the sources of those arguments that are English phrases
    """

    key: str
    text: str
    args: Mapping[str, int | str]
    phrases: NotRequired[Mapping[str, PhraseDocument]]


class ScoringDocument(TypedDict):
    """How raw scores become points, and which way is better."""

    kind: str
    direction: str


class ReferenceDocument(TypedDict, total=False):
    """How reference answers are made; a test case may have some keys of its own.

    `program`: the place of the package's own solver, which is run in place of a method of `solver`.
    """

    method: str | None
    solver: str | None
    program: str
    seconds: float
    steps: int | None
    seed: int
    memory: int


class AnswersDocument(TypedDict):
    """What an answer file may be: most bytes, and a pattern for its name."""

    limit: int
    pattern: str | None


class ProgramLimitsDocument(TypedDict):
    """Limits of a package for its checker on one answer: seconds, and MiB; null: the server's."""

    seconds: int | None
    memory: int | None
    output: int | None


class ProgramDocument(TypedDict):
    """The checker that a package brings: its protocol, what its numbers mean, and the file of its bundle."""

    protocol: str
    points: str
    sha256: str
    limits: NotRequired[ProgramLimitsDocument]


class ImageDocument(typing_extensions.TypedDict):
    """An image that a checker left beside a score: its name, which says whom it is for, its type, sides and file."""

    name: str
    mime: str
    width: int
    height: int
    size: int
    sha256: str


class GameDocument(TypedDict):
    """A problem that is played: the name of its rules, and the contestant's time for a move and for a game."""

    name: str
    move_seconds: float | None
    game_seconds: float | None


class CaseListDocument(TypedDict):
    """The order of test cases, and points of single ones by their names."""

    order: list[str]
    points: dict[str, int]


class ProblemSettingsDocument(TypedDict):
    """A problem's jurado.yaml with its defaults written out; what it does not use is left out."""

    checker: str
    program: NotRequired[ProgramDocument]
    input_validators: NotRequired[Mapping[str, str]]
    game: NotRequired[GameDocument]
    scoring: ScoringDocument
    reference: NotRequired[ReferenceDocument | None]
    ladder: NotRequired[JsonValue]
    answers: NotRequired[AnswersDocument]
    inputs: NotRequired[Mapping[str, int]]
    final: NotRequired[list[str]]
    testcases: NotRequired[CaseListDocument]
    languages: NotRequired[Mapping[str, str | None]]
    submission_seconds: NotRequired[float]


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """One answer to check: its bytes or the file they lie in, and the case it is for.

    The case's name and points are for checkers that packages bring; bundled ones know neither.
    """

    test_case_id: int
    input_sha256: str
    answer_sha256: str | None
    data: bytes | None
    sha256: str | None
    refused: MessageDocument | None
    checker_args: Sequence[str] = ()
    points_num: int = 0
    points_den: int = 1
    case_name: str = ""


@dataclass(frozen=True, slots=True)
class FoundScore:
    """What a grader found for one answer."""

    test_case_id: int
    verdict: CaseVerdict
    raw: Exact | None
    max_raw: Exact | None
    multiplier: Exact | None
    message: MessageDocument
    run_time_ms: int
    judge_message: str | None = None
    images: Sequence[ImageDocument] = ()
