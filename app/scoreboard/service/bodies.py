"""Documents of boards. They are declared and never validated: their bytes are made once for all who ask."""

from __future__ import annotations

from pydantic import BaseModel, Field

from app.contests.schemas.bodies import BoardState
from app.core.bodies import Sparse
from app.core.examples import CONTEST_TIME, STATE, TIME, example


class BoardScore(BaseModel):
    """A team's points, and the contest time of its last improvement; null: none yet."""

    score: float
    time: str | None


class BoardRaw(BaseModel):
    """The answer that counts for one case: its raw score, its verdict, and the points it gives."""

    raw: int | float | None
    verdict: str
    points: float


class BoardProblem(Sparse):
    """A team at a problem."""

    problem_id: str
    num_judged: int
    num_pending: int
    score: float
    time: str | None = Field(None, description="contest time of the last improvement; left out without points")
    raw: dict[str, BoardRaw] | None = Field(None, description="with `cases=true`: by the test case's name")


class BoardRow(BaseModel):
    """The row of a team; teams with equal points and times share a rank."""

    rank: int
    team_id: str
    score: BoardScore
    problems: list[BoardProblem]


@example(
    {
        "time": TIME,
        "contest_time": CONTEST_TIME,
        "state": STATE,
        "version": "5f1c0e7d2b9a4c6e8f013579",
        "rows": [
            {
                "rank": 1,
                "team_id": "ants",
                "score": {"score": 42.5, "time": "0:41:00.000"},
                "problems": [
                    {"problem_id": "comesolo", "num_judged": 3, "num_pending": 0, "score": 42.5, "time": "0:41:00.000"},
                ],
            }
        ],
    }
)
class Scoreboard(Sparse):
    """A board in order of rank, or with `since` the rows that changed after that version."""

    time: str
    contest_time: str
    state: BoardState
    version: str = Field(description="for `since`; also the ETag")
    since: str | None = Field(None, description="only rows that changed after this version are here")
    removed_team_ids: list[str] | None = Field(None, description="with `since`: teams that are on the board no more")
    rows: list[BoardRow]


class CompactProblem(BaseModel):
    """The cells of a problem, an array a property, in the order of the board's `team_ids`."""

    problem_id: str
    num_judged: list[int]
    num_pending: list[int]
    scores: list[int] = Field(description="in hundredths of a point, cut")


@example(
    {
        "time": TIME,
        "contest_time": CONTEST_TIME,
        "state": STATE,
        "version": "5f1c0e7d2b9a4c6e8f013579",
        "team_ids": ["ants", "bees"],
        "ranks": [1, 2],
        "scores": [4250, 0],
        "times": [2460, None],
        "problems": [
            {
                "problem_id": "comesolo",
                "num_judged": [3, 1],
                "num_pending": [0, 1],
                "scores": [4250, 0],
            }
        ],
    }
)
class CompactScoreboard(Sparse):
    """The compact form of a board: each array has an entry for each of `team_ids`, which are in order of rank."""

    time: str
    contest_time: str
    state: BoardState
    version: str = Field(description="for `since`; also the ETag, and the version of the whole form")
    since: str | None = Field(None, description="only rows that changed after this version are here")
    removed_team_ids: list[str] | None = Field(None, description="with `since`: teams that are on the board no more")
    team_ids: list[str]
    ranks: list[int]
    scores: list[int] = Field(description="in hundredths of a point, cut")
    times: list[int | None] = Field(description="seconds of contest time of the last improvement; null: none yet")
    problems: list[CompactProblem]


class TableRow(BaseModel):
    """The row of a team, with names in place of ids."""

    rank: int
    team_id: str
    team: str
    points: float
    time: str | None
    problems: dict[str, float] = Field(description="points by the problem's label")


@example(
    {
        "contest_id": "spring",
        "time": TIME,
        "contest_time": CONTEST_TIME,
        "state": STATE,
        "rows": [
            {
                "rank": 1,
                "team_id": "ants",
                "team": "The Ants",
                "points": 42.5,
                "time": "0:41:00.000",
                "problems": {"A": 42.5},
            }
        ],
    }
)
class ScoreTable(BaseModel):
    """The board as a table."""

    contest_id: str
    time: str
    contest_time: str
    state: BoardState
    rows: list[TableRow]


class PastScore(BaseModel):
    """A team's points and rank from this contest time on."""

    contest_time: str
    score: float
    rank: int


class TeamHistory(BaseModel):
    """A team's points over time, at each change of its points or its rank."""

    team_id: str
    points: list[PastScore]


@example(
    {
        "time": TIME,
        "contest_time": CONTEST_TIME,
        "state": STATE,
        "teams": [{"team_id": "ants", "points": [{"contest_time": "0:41:00.000", "score": 42.5, "rank": 1}]}],
    }
)
class History(BaseModel):
    """Points over time, for charts; the last are the board's."""

    time: str
    contest_time: str
    state: BoardState
    teams: list[TeamHistory]
