"""Scoreboards, their changes, reveals, awards and points over time."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from app.core.commands.resources.contests import ContestState


class RawScore(TypedDict):
    """The answer that counts for a test case: its raw score, or its verdict where it has none."""

    raw: int | float | None
    verdict: NotRequired[str]


class BoardCell(TypedDict):
    """One team at one problem; `raw` by test case where the raw scores were asked for."""

    problem_id: str
    num_judged: int
    num_pending: int
    score: NotRequired[float]
    time: NotRequired[str | None]
    raw: NotRequired[dict[str, RawScore] | None]


class TotalScore(TypedDict):
    """The points of a team, and the contest time of its last rise."""

    score: float
    time: NotRequired[str | None]


class BoardRow(TypedDict):
    """One team on the board."""

    rank: int
    team_id: str
    score: TotalScore
    problems: list[BoardCell]


class Board(TypedDict):
    """A whole scoreboard."""

    version: NotRequired[str]
    contest_time: str
    state: ContestState
    rows: list[BoardRow]


class BoardChange(TypedDict):
    """The rows in which a board differs from the one before, and its other new properties."""

    version: NotRequired[str]
    contest_time: NotRequired[str]
    state: NotRequired[ContestState]
    rows: list[BoardRow]
    removed_team_ids: list[str]


class OpenedPlace(TypedDict):
    """A place that a reveal has opened."""

    team_id: str
    problem_id: str


class NextPlace(TypedDict):
    """The place that comes next in a reveal; without a rank the team is not on the board."""

    team_id: str
    rank: int | None
    problem_ids: list[str]


class Reveal(TypedDict):
    """The progress of opening a frozen board."""

    opened: list[OpenedPlace]
    next: NextPlace | None
    left: int
    thawed: str | None


class Award(TypedDict):
    """An award; `team_ids` is null until the results are final."""

    id: str
    citation: str
    team_ids: list[str] | None


class PastScore(TypedDict):
    """The points and rank of a team from a contest time on."""

    contest_time: str
    score: float
    rank: int


class TeamHistory(TypedDict):
    """The points of one team over time."""

    team_id: str
    points: list[PastScore]


class History(TypedDict):
    """The points of all teams over time, up to `contest_time`."""

    contest_time: str
    teams: list[TeamHistory]
