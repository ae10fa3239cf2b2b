"""Contests, their state and clocks, and the decisions of a team in them."""

from __future__ import annotations

from typing import NotRequired

from pydantic import JsonValue
from typing_extensions import TypedDict


class Pause(TypedDict):
    """A time taken out of a contest; `end` is null while the pause lasts."""

    start: str
    end: str | None
    contest_time: NotRequired[str]


class ContestState(TypedDict):
    """The times at which a contest reached each state; null or absent: not yet."""

    started: NotRequired[str | None]
    frozen: NotRequired[str | None]
    ended: NotRequired[str | None]
    thawed: NotRequired[str | None]
    finalized: NotRequired[str | None]
    removed_intervals: NotRequired[list[Pause] | None]


class Duration(TypedDict):
    """The length of a contest; null: without an end."""

    duration: str | None


class WithSettings(TypedDict):
    """The settings of a contest by name."""

    settings: dict[str, JsonValue]


class Contest(WithSettings):
    """A contest: its times and settings."""

    id: str
    name: str
    start_time: str | None
    duration: str
    scoreboard_freeze_duration: str | None
    scoreboard_thaw_time: str | None
    open_to_all: bool


class ContestFacts(Contest):
    """A contest with its state and the pauses taken out of its time."""

    state: ContestState
    removed_intervals: list[Pause]


class TimesChange(TypedDict):
    """The effect of a change on a contest's times: a sentence a time, and whether the board stays frozen."""

    message: str
    frozen: bool


class ExtendedContest(Contest):
    """A contest whose times have changed."""

    times_change: TimesChange


class ContestProblem(TypedDict):
    """A problem as a contest shows it."""

    id: str
    label: str
    name: str
    test_data_count: int
    max_score: float
    rule: dict[str, JsonValue]


class Window(TypedDict):
    """So many submissions in any so many seconds."""

    count: int
    seconds: float


class Limits(TypedDict):
    """Limits of a team's submissions to a problem; null or absent: none."""

    max_submissions: NotRequired[int | None]
    interval_seconds: NotRequired[float | None]
    per_window: NotRequired[Window | None]
    open_games: NotRequired[int | None]
    move_seconds: NotRequired[float | None]
    game_seconds: NotRequired[float | None]


class LimitSettings(TypedDict):
    """The settings of a contest that limit its teams; bytes null: any number."""

    team_bytes: int | None
    contest_bytes: int | None
    limits: Limits


class ProblemLimits(TypedDict):
    """The limits that hold at a problem of a contest."""

    problem_id: str
    limits: Limits


class ContestLimits(TypedDict):
    """The bytes that all teams have sent to a contest, and the limits of its problems; `bytes_limit` null: none."""

    bytes_used: int
    bytes_limit: int | None
    problems: list[ProblemLimits]


class WithLimits(TypedDict):
    """The limits of a problem in a contest."""

    limits: Limits
