"""Rows of boards as CLICS JSON: only those that have changed since the last writing are written again.

- Points over time, as the history of one board, within bounds of what it may cost.
- Documents of boards. They are declared and never validated: their bytes are made once for all who ask.
- Earlier boards: a snapshot with its board as it was at a minute of the contest, by today's verdicts.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, NotRequired

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from app.contests.schemas import BoardState
from app.core import bodies, clics
from app.core.clock import utc_now
from app.domain.board import Board, Cell, Row, moment
from app.domain.history import Past, history, shown
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


class BoardVersion(bodies.Sparse):
    """A board's version: its time, its state, and with `since` what has gone since that version."""

    time: str
    contest_time: str
    state: BoardState
    version: str = Field(description="for `since`; also the ETag")
    since: str | None = Field(None, description="only rows that changed after this version are here")
    removed_team_ids: list[str] | None = Field(None, description="with `since`: teams that are on the board no more")


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


# A row as JSON: its rank, and what follows it.
WrittenRow = tuple[int, str]


class RowRenderer:
    """The rows of one board as text, kept from one writing to the next; for one thread at a time."""

    def __init__(self) -> None:
        self._teams: list[str] = []
        self._problems: list[str] = []
        self._last: Board | None = None
        self._cells: list[list[str]] = []
        self._rests: list[str] = []
        self._ids: list[str] = []

    def write(self, arrays: Board) -> dict[str, WrittenRow]:
        """The rows of a board in order of rank."""
        problems = [problem.id for problem in arrays.problems]
        count = len(arrays.teams)
        last = self._last
        ids = [team.id for team in arrays.teams]
        if last is None or (problems, ids) != (self._problems, self._teams):
            last = None
            self._ids = [dump(team).decode() for team in ids]
            self._cells = [[""] * count for _ in problems]
            self._rests = [""] * count
        self._teams, self._problems, self._last = ids, problems, arrays
        changed = np.ones(count, dtype=bool)
        if last is not None:
            changed = (arrays.totals != last.totals) | (arrays.times != last.times)
        for at, problem in enumerate(problems):
            changed |= self._write_cells(arrays, last, at, problem)
        self._write_rests(arrays, np.flatnonzero(changed).tolist())
        rests = self._rests
        order, ranks = arrays.order.tolist(), arrays.ranks.tolist()
        return {ids[team]: (rank, rests[team]) for rank, team in zip(ranks, order, strict=True)}

    def _write_cells(self, arrays: Board, last: Board | None, at: int, problem: str) -> NDArray[np.bool_]:
        columns = (arrays.judged[at], arrays.pending[at], arrays.scores[at], arrays.improved[at])
        changed = np.ones(len(arrays.teams), dtype=bool)
        if last is not None:
            before = (last.judged[at], last.pending[at], last.scores[at], last.improved[at])
            changed = np.any([one != other for one, other in zip(columns, before, strict=True)], axis=0)
        where = np.flatnonzero(changed)
        head, cells = f'{{"problem_id":{dump(problem).decode()},"num_judged":', self._cells[at]
        values = [column[where].tolist() for column in columns]
        for team, judged, pending, score, improved in zip(where.tolist(), *values, strict=True):
            time = f',"time":"{reltime(improved)}"' if score > 0 and moment(improved) is not None else ""
            cells[team] = f'{head}{judged},"num_pending":{pending},"score":{score!r}{time}}}'
        return changed

    def _write_rests(self, arrays: Board, teams: Sequence[int]) -> None:
        totals, times = arrays.totals.tolist(), arrays.times.tolist()
        for team in teams:
            time = "null" if moment(times[team]) is None else f'"{reltime(times[team])}"'
            cells = ",".join([column[team] for column in self._cells])
            self._rests[team] = (
                f'"team_id":{self._ids[team]},"score":{{"score":{totals[team]!r},"time":{time}}},"problems":[{cells}]}}'
            )


def reltime(microseconds: int) -> str:
    """A contest time of the columns as CLICS writes it."""
    return clics.format_reltime(timedelta(microseconds=microseconds))


def head_of(snapshot: ContestSnapshot) -> dict[str, object]:
    """The properties of a board beside its rows."""
    return {
        "time": clics.format_time(snapshot.moment),
        "contest_time": clics.format_reltime(snapshot.contest.clock.contest_time(snapshot.moment)),
        "state": clics.state_json(snapshot.state),
    }


def arrays_of(snapshot: ContestSnapshot, group_id: str | None) -> Board:
    """The numbers of the main board, or of a group's own board, ranked by itself."""
    if group_id is None:
        return snapshot.main
    return snapshot.board.among(lambda team: group_id in team.group_ids)


def rows_with_cases(arrays: Board) -> dict[str, WrittenRow]:
    """The rows of a board in order of rank, with the raw scores of each case."""
    return {row.team.id: _written(row) for row in map(arrays.row, range(len(arrays.teams)))}


def _written(row: Row) -> WrittenRow:
    text = dump(row_document(row, cases=True)).decode()
    return row.rank, text.removeprefix(f'{{"rank":{row.rank},')


def row_document(row: Row, *, cases: bool = False) -> BoardRow:
    """The row of a team."""
    return {
        "rank": row.rank,
        "team_id": row.team.id,
        "score": {"score": row.points, "time": None if row.time is None else clics.format_reltime(row.time)},
        "problems": [cell_document(cell, cases=cases) for cell in row.cells],
    }


def cell_document(cell: Cell, *, cases: bool = False) -> BoardProblem:
    """The cell of a team at a problem."""
    document: BoardProblem = {
        "problem_id": cell.problem_id,
        "num_judged": cell.num_judged,
        "num_pending": cell.num_pending,
        "score": cell.score,
    }
    if cell.score > 0 and cell.improved is not None:
        document["time"] = clics.format_reltime(cell.improved)
    if cases:
        document["raw"] = {
            case: {
                "raw": clics.number(counted.score.raw),
                "verdict": counted.score.verdict.value,
                "points": cell.points.case_points.get(case, 0.0),
            }
            for case, counted in sorted(cell.answers.items())
        }
    return document


def dump(value: object) -> bytes:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


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

    def written(self, team_ids: Sequence[str] | None) -> bytes:
        """The history as JSON, of all teams or some."""
        wanted = self.teams if team_ids is None else {team: self.teams[team] for team in team_ids}
        teams = [{"team_id": team, "points": [_past(each) for each in past]} for team, past in wanted.items()]
        return dump({**head_of(self.snapshot), "teams": teams})


def history_steps(snapshot: ContestSnapshot, steps: int) -> int:
    """The number of steps, one of few so that hundreds are never computed; fewer where there are many teams."""
    most = min(steps, MOST_FIGURES // max(1, len(snapshot.main.teams)))
    return max((each for each in STEPS if each <= most), default=1)


def compute_history(
    snapshot: ContestSnapshot, steps: int, dear_seconds: float = DEAR_SECONDS, rest: float = REST
) -> WrittenHistory:
    """The history of a snapshot's main board: takes a while."""
    began, live = time.monotonic(), live_board(snapshot.contest, snapshot.view)
    teams = history(live, shown(snapshot.official(), snapshot.freeze), steps, snapshot.contest.main_teams)
    ended = time.monotonic()
    seconds = ended - began
    return WrittenHistory(snapshot, teams, ended + (rest * seconds if seconds > dear_seconds else 0.0))


def _past(past: Past) -> dict[str, object]:
    return {"contest_time": clics.format_reltime(past.time), "score": past.points, "rank": past.rank}
