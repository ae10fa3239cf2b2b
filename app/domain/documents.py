"""The JSON documents that rows, graders and packages exchange, key by key, and the type of any JSON value.

They were validated when they were written. A document whose keys are all optional (`total=False`) has the defaults of
whoever parses it: `app.domain.settings`, `app.domain.limits`, `app.domain.rules`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypeAlias, TypedDict

JsonValue: TypeAlias = "str | int | float | bool | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
"""Any JSON, to be read and not changed: parsed arrays are lists, and parsed objects are dicts."""


class MessageDocument(TypedDict):
    """A checker's message: a key with arguments for other languages, beside its English text."""

    key: str
    text: str
    args: Mapping[str, int | str]


class PerWindowDocument(TypedDict):
    """`count` submissions within each window of so many seconds."""

    count: int
    seconds: float


class LimitsDocument(TypedDict, total=False):
    """How often a team may submit to a problem; null: as often as it likes.

    Of problems that are played: how many games it may have open at once, and its time for a move and for a game.
    """

    max_submissions: int | None
    interval_seconds: float | None
    per_window: PerWindowDocument | None
    open_games: int | None
    move_seconds: float | None
    game_seconds: float | None


class PrizesDocument(TypedDict, total=False):
    """How many medals of each colour a contest gives, and how many ranks it names."""

    gold: int
    silver: int
    bronze: int
    ranks: int


class SettingsDocument(TypedDict, total=False):
    """What a contest decides beyond the CLICS properties; times and durations as CLICS writes them."""

    partly_correct_as: str
    show_others_answers: bool
    rejections: str
    show_best: bool
    answer_pattern: str | None
    final_release: str | None
    final_minutes: int | None
    final_phase: str
    practice: bool
    virtual: bool
    personal_duration: str | None
    limits: LimitsDocument
    team_bytes: int | None
    contest_bytes: int | None
    choose: bool
    allow_overlap: bool
    awards: PrizesDocument
    staff_act_for_teams: bool


class RuleDocument(TypedDict, total=False):
    """The part of a problem's scoring rule that a contest sets; `max_points` is text such as 7/3 if no integer."""

    kind: str
    direction: str
    counting: str
    carry: str
    reference_counts: bool
    max_points: int | float | str


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


class ImageDocument(TypedDict):
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
    """A problem's jurado.yaml with its defaults written out; rows of earlier versions lack the later keys."""

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
