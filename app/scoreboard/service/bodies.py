"""Documents of boards. They are declared and never validated: their bytes are made once for all who ask.

- Earlier boards: a snapshot with its board as it was at a minute of the contest, by today's verdicts.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Annotated, NotRequired

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from app.contests.schemas import BoardState
from app.core.bodies import Sparse
from app.core.clics import CONTEST_TIME, EXAMPLES_TIME, STATE, example
from app.core.clock import utc_now
from app.domain.history import shown
from app.scoreboard.queries.contest_snapshot import ContestSnapshot, live_board, once_a_snapshot


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


class BoardVersion(Sparse):
    """A board's version: its time, its state, and with `since` what has gone since that version."""

    time: str
    contest_time: str
    state: BoardState
    version: str = Field(description="for `since`; also the ETag")
    since: str | None = Field(None, description="only rows that changed after this version are here")
    removed_team_ids: list[str] | None = Field(None, description="with `since`: teams that are on the board no more")


@example(
    {
        "time": EXAMPLES_TIME,
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


@example(
    {
        "time": EXAMPLES_TIME,
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


MOST_KEPT = 4


@once_a_snapshot
def _held(_snapshot: ContestSnapshot) -> dict[int, ContestSnapshot]:
    """The last few that were asked for, by minute. One thread at a time writes: see `BoardPages.past_soon`."""
    return {}


def past_at_hand(snapshot: ContestSnapshot, minute: int) -> ContestSnapshot | None:
    """The snapshot at a minute, if it has been computed."""
    return _held(snapshot).get(minute)


def past_board(snapshot: ContestSnapshot, minute: int) -> ContestSnapshot:
    """The snapshot with the board of a minute: takes as long as the first board of a contest."""
    if (past := past_at_hand(snapshot, minute)) is not None:
        return past
    sent = [attempt for attempt in snapshot.official() if attempt.time <= timedelta(minutes=minute)]
    board = live_board(snapshot.contest, snapshot.view, shown(sent, snapshot.freeze)).board()
    held = _held(snapshot)
    while len(held) >= MOST_KEPT:
        del held[next(iter(held))]
    past = held[minute] = replace(snapshot, board=board, memo={})
    return past


def last_minute(snapshot: ContestSnapshot) -> int:
    """The last whole minute of which the board can be asked for; 0 before the start."""
    clock = snapshot.contest.clock
    ends = [clock.contest_time(utc_now()), clock.duration]
    if snapshot.freeze.until is not None:
        ends.append(snapshot.freeze.until)
    return max(0, min(ends) // timedelta(minutes=1)) if snapshot.state.started is not None else 0
