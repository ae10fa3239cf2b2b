"""Points over time, as the history of one board, within bounds of what it may cost.

- Documents of boards. They are declared and never validated: their bytes are made once for all who ask.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NotRequired

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from app.contests.schemas import BoardState
from app.core import bodies, clics
from app.domain.history import Past, history, shown
from app.scoreboard.queries.contest_snapshot import ContestSnapshot


# Dicts: for 1,000 teams with 100 cases, models take 0.57 s to make and write, these 0.15 s. They are TypedDicts of
# typing_extensions, as pydantic takes no other before Python 3.12.
class BoardScore(TypedDict):
    """A team's points, and the contest time of its last improvement; null: none yet."""

    score: float
    time: str | None


class BoardRaw(TypedDict):
    """The answer that counts for one case: its raw score, its verdict, and the points it gives."""

    raw: int | float | None
    verdict: str
    points: float


class BoardProblem(TypedDict):
    """A team at a problem."""

    problem_id: str
    num_judged: int
    num_pending: int
    score: float
    time: NotRequired[Annotated[str, Field(description="contest time of the last improvement, if there are points")]]
    raw: NotRequired[Annotated[dict[str, BoardRaw], Field(description="with `cases=true`: by the test case's name")]]


class BoardRow(TypedDict):
    """The row of a team; teams with equal points and times share a rank."""

    rank: int
    team_id: str
    score: BoardScore
    problems: list[BoardProblem]


class BoardVersion(bodies.Sparse):
    """A board's version: its time, its state, and with `since` what has gone since that version."""

    time: str
    contest_time: str
    state: BoardState
    version: str = Field(description="for `since`; also the ETag")
    since: str | None = Field(None, description="only rows that changed after this version are here")
    removed_team_ids: list[str] | None = Field(None, description="with `since`: teams that left the scoreboard")


@clics.example(
    {
        "time": clics.EXAMPLES_TIME,
        "contest_time": clics.CONTEST_TIME,
        "state": clics.STATE,
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
class Scoreboard(BoardVersion):
    """A board in order of rank, or with `since` the rows that changed after that version."""

    rows: list[BoardRow]


class PastScore(BaseModel):
    """A team's points and rank from this contest time on."""

    contest_time: str
    score: float
    rank: int


class TeamHistory(BaseModel):
    """A team's points over time, at each change of its points or its rank."""

    team_id: str
    points: list[PastScore]


@clics.example(
    {
        "time": clics.EXAMPLES_TIME,
        "contest_time": clics.CONTEST_TIME,
        "state": clics.STATE,
        "teams": [{"team_id": "ants", "points": [{"contest_time": "0:41:00.000", "score": 42.5, "rank": 1}]}],
    }
)
class History(BaseModel):
    """Points over time, for charts; the last are the board's."""

    time: str
    contest_time: str
    state: BoardState
    teams: list[TeamHistory]


STEPS = (1, 10, 50, 200, 1000)
# Figures that a history has at most: steps times teams.
MOST_FIGURES = 200_000
# A history that took longer than this is not computed again for so many times as long.
DEAR_SECONDS, REST = 0.5, 20.0


@dataclass(frozen=True, slots=True)
class WrittenHistory:
    """A contest's history as one snapshot had it; until `good_until` (monotonic) it is good for later ones too."""

    snapshot: ContestSnapshot
    teams: Mapping[str, list[Past]]
    good_until: float

    def is_good_for(self, snapshot: ContestSnapshot, now: float) -> bool:
        """Whether it is of this snapshot, or too dear to compute again yet while all it shows is still public."""
        return self.snapshot is snapshot or (now < self.good_until and self.snapshot.is_like(snapshot))

    def documents(self, team_ids: Sequence[str] | None) -> list[clics.JsonObject]:
        """The history as JSON, of all teams or some."""
        wanted = self.teams if team_ids is None else {team: self.teams[team] for team in team_ids}
        return [{"team_id": team, "points": [_past(each) for each in past]} for team, past in wanted.items()]


def history_steps(snapshot: ContestSnapshot, steps: int) -> int:
    """The number of steps, one of few so that hundreds are never computed; fewer where there are many teams."""
    most = min(steps, MOST_FIGURES // max(1, len(snapshot.main.teams)))
    return max((each for each in STEPS if each <= most), default=1)


def compute_history(
    snapshot: ContestSnapshot, steps: int, dear_seconds: float = DEAR_SECONDS, rest: float = REST
) -> WrittenHistory:
    """The history of a snapshot's main board: takes a while."""
    began, live = time.monotonic(), snapshot.view.live(snapshot.contest)
    teams = history(
        lambda cells, changed: snapshot.view.board(snapshot.contest, cells, live, changed),
        shown(snapshot.official(), snapshot.freeze),
        steps,
        snapshot.contest.main_teams,
    )
    ended = time.monotonic()
    seconds = ended - began
    return WrittenHistory(snapshot, teams, ended + (rest * seconds if seconds > dear_seconds else 0.0))


def _past(past: Past) -> dict[str, object]:
    return {"contest_time": clics.format_reltime(past.time), "score": past.points, "rank": past.rank}
