"""Boards written as CLICS JSON: only what has changed since the last writing is written again."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import Any

import numpy as np

from app.domain import board_arrays
from app.domain.board_arrays import BoardArrays, moment
from app.domain.contests import Team
from app.domain.scoreboard import Cell, Row
from app.grading.scoreboard_cache import OLD_PAGES, ContestSnapshot, ScoreboardCache
from app.services.clics import format_reltime, format_time, number, state_json

WrittenRow = tuple[int, str]
"""A row as JSON: its rank, and what follows it."""
GZIP_LEVEL = 4
TIMES_KEPT = 65_536


@dataclass
class Page:
    """A written board: its version (also its ETag), its bytes, and its rows by team. Zipped once, if anybody asks.

    since    what changed since older versions, as it was written once for all who asked
    waiting  what is being made for those who wait for it
    replies  the whole page with its headers, zipped or not
    """

    version: str
    plain: bytes
    rows: Mapping[str, WrittenRow]
    head: Mapping[str, Any]
    zipped: bytes | None = None
    since: dict[str, bytes] = field(default_factory=dict, repr=False)
    waiting: dict[Any, Any] = field(default_factory=dict, repr=False)
    replies: dict[bool, Any] = field(default_factory=dict, repr=False)
    _zipping: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def tag(self) -> str:
        """Its ETag."""
        return f'"{self.version}"'

    def zip(self) -> bytes:
        """The bytes, zipped; takes a while the first time."""
        with self._zipping:
            if self.zipped is None:
                self.zipped = gzip.compress(self.plain, GZIP_LEVEL, mtime=0)
            return self.zipped


class RowRenderer:
    """The rows of one board as text, kept from one writing to the next; for one thread at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._teams: Sequence[Team] = ()
        self._problems: list[str] = []
        self._last: BoardArrays | None = None
        self._cells: list[list[str]] = []
        self._rests: list[str] = []
        self._ids: list[str] = []

    def write(self, arrays: BoardArrays) -> dict[str, WrittenRow]:
        """The rows of a board in order of rank."""
        problems = [problem.id for problem in arrays.problems]
        count = len(arrays.teams)
        last = self._last
        if last is None or problems != self._problems or not _same_teams(arrays.teams, self._teams):
            last = None
            self._ids = [dump(team.id).decode() for team in arrays.teams]
            self._cells = [[""] * count for _ in problems]
            self._rests = [""] * count
        self._teams, self._problems, self._last = arrays.teams, problems, arrays
        changed = np.ones(count, dtype=bool)
        if last is not None:
            changed = (arrays.totals != last.totals) | (arrays.times != last.times)
        for at, problem in enumerate(problems):
            changed |= self._write_cells(arrays, last, at, problem)
        self._write_rests(arrays, np.flatnonzero(changed).tolist())
        teams, rests = arrays.teams, self._rests
        order, ranks = arrays.order.tolist(), arrays.ranks.tolist()
        return {teams[team].id: (rank, rests[team]) for rank, team in zip(ranks, order, strict=True)}

    def _write_cells(self, arrays: BoardArrays, last: BoardArrays | None, at: int, problem: str) -> Any:
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

    def _write_rests(self, arrays: BoardArrays, teams: Sequence[int]) -> None:
        totals, times = arrays.totals.tolist(), arrays.times.tolist()
        for team in teams:
            time = "null" if moment(times[team]) is None else f'"{reltime(times[team])}"'
            cells = ",".join([column[team] for column in self._cells])
            self._rests[team] = (
                f'"team_id":{self._ids[team]},"score":{{"score":{totals[team]!r},"time":{time}}},"problems":[{cells}]}}'
            )


def _same_teams(one: Sequence[Team], other: Sequence[Team]) -> bool:
    return one is other or (
        len(one) == len(other) and all(mine.id == theirs.id for mine, theirs in zip(one, other, strict=True))
    )


@lru_cache(maxsize=TIMES_KEPT)
def reltime(microseconds: int) -> str:
    """A contest time of the columns as CLICS writes it."""
    return format_reltime(timedelta(microseconds=microseconds))


def page_at_hand(snapshot: ContestSnapshot, *, cases: bool = False, group_id: str | None = None) -> Page | None:
    """The written board, if it has been written."""
    page: Page | None = snapshot.pages.get((cases, group_id))
    return page


def rendered(
    boards: ScoreboardCache, snapshot: ContestSnapshot, *, cases: bool = False, group_id: str | None = None
) -> Page:
    """Write a board once for each choice of options; the rows of the last few versions stay, for `since`.

    May be called from any thread: one writes, the others wait for it.
    """
    key = page_key(snapshot, cases=cases, group_id=group_id)
    sheet: RowRenderer = boards.sheets.setdefault(key, RowRenderer())
    with sheet.lock:
        page = page_at_hand(snapshot, cases=cases, group_id=group_id)
        if page is None:
            page = render(sheet, snapshot, cases=cases, group_id=group_id)
            snapshot.pages[cases, group_id] = page
        older = boards.history[key]
        if page.version not in older:
            older[page.version] = page.rows
            while len(older) > OLD_PAGES:
                older.pop(next(iter(older)), None)
    return page


def page_key(snapshot: ContestSnapshot, *, cases: bool = False, group_id: str | None = None) -> tuple[Any, ...]:
    """Which board a page is of, whatever its version."""
    contest = snapshot.contest.id
    return (contest, snapshot.public, snapshot.closed, snapshot.phase, snapshot.virtual, cases, group_id)


def history(boards: ScoreboardCache, snapshot: ContestSnapshot) -> Mapping[str, Mapping[str, WrittenRow]]:
    """The rows of the last few versions of a board, by version."""
    return boards.history[page_key(snapshot)]


def changed_rows(boards: ScoreboardCache, snapshot: ContestSnapshot, page: Page, since: str) -> bytes:
    """What ?since= answers, for a version that is among the last few."""
    return changes(page, history(boards, snapshot)[since], since)


def render(sheet: RowRenderer, snapshot: ContestSnapshot, *, cases: bool = False, group_id: str | None = None) -> Page:
    """Write a board as CLICS JSON. The version is a hash of what it says: equal boards have equal versions."""
    arrays = arrays_of(snapshot, group_id)
    if cases and (not snapshot.public or snapshot.contest.settings.show_best):
        rows = {row.team.id: _written(row) for row in map(arrays.row, range(len(arrays.teams)))}
    else:
        rows = sheet.write(arrays)
    head = head_of(snapshot)
    text = ",".join([f'{{"rank":{rank},{rest}' for rank, rest in rows.values()]).encode()
    said = hashlib.blake2b(dump([head, group_id]), digest_size=12)
    said.update(text)
    version = said.hexdigest()
    plain = b"".join((dump({**head, "version": version})[:-1], b',"rows":[', text, b"]}"))
    return Page(version, plain, rows, head)


def head_of(snapshot: ContestSnapshot) -> dict[str, Any]:
    """What a board says beside its rows."""
    return {
        "time": format_time(snapshot.moment),
        "contest_time": format_reltime(snapshot.contest.clock.contest_time(snapshot.moment)),
        "state": state_json(snapshot.state),
    }


def arrays_of(snapshot: ContestSnapshot, group_id: str | None) -> BoardArrays:
    """The numbers of the main board, or of a group's own board, ranked by itself."""
    board = snapshot.main if group_id is None else snapshot.board
    arrays = board_arrays.arrays_of(board, snapshot.view.problems, snapshot.phase)
    if group_id is None:
        return arrays
    return arrays.among(lambda team: group_id in team.group_ids)


def changes(page: Page, before: Mapping[str, WrittenRow], since: str) -> bytes:
    """The rows that are not as they were, and the teams whose rows are gone; written once for all who ask."""
    found = page.since.get(since)
    if found is None:
        found = page.since[since] = _changes(page, before, since)
    return found


def _changes(page: Page, before: Mapping[str, WrittenRow], since: str) -> bytes:
    rows = [row for team, row in page.rows.items() if before.get(team) != row]
    gone = [team for team in before if team not in page.rows]
    head = dump({**page.head, "version": page.version, "since": since, "removed_team_ids": gone})
    return head[:-1] + b',"rows":[' + ",".join([f'{{"rank":{rank},{rest}' for rank, rest in rows]).encode() + b"]}"


def _written(row: Row) -> WrittenRow:
    document = row_document(row, cases=True)
    return document.pop("rank"), dump(document).decode()[1:]


def row_document(row: Row, *, cases: bool = False) -> dict[str, Any]:
    """One team's row."""
    return {
        "rank": row.rank,
        "team_id": row.team.id,
        "score": {"score": row.points, "time": None if row.time is None else format_reltime(row.time)},
        "problems": [cell_document(cell, cases=cases) for cell in row.cells],
    }


def cell_document(cell: Cell, *, cases: bool = False) -> dict[str, Any]:
    """One team at one problem; `time` is there only where there are points."""
    document: dict[str, Any] = {
        "problem_id": cell.problem_id,
        "num_judged": cell.num_judged,
        "num_pending": cell.num_pending,
        "score": cell.score,
    }
    if cell.score > 0 and cell.improved is not None:
        document["time"] = format_reltime(cell.improved)
    if cases:
        document["raw"] = {
            case: {
                "raw": number(counted.score.raw),
                "verdict": counted.score.verdict.value,
                "points": cell.points.case_points.get(case, 0.0),
            }
            for case, counted in sorted(cell.answers.items())
        }
    return document


def dump(value: Any) -> bytes:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
