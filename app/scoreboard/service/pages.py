"""The written boards: each version of a board is written, zipped and compared once, for all who ask.

Of rows as CLICS JSON, only those that have changed since the last writing are written again.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import islice
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core import clics
from app.core.load import SharedWork
from app.domain.board import Board, Cell, Row, moment
from app.domain.contests import CaseKind
from app.scoreboard.queries.contest_snapshot import ContestSnapshot, once_a_snapshot
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.scoreboard.service.history import BoardProblem, BoardRow, WrittenHistory, compute_history

GZIP_LEVEL = 4
OLD_VERSIONS = 8
# Boards of which the last rows are kept. Where there are more, the next version of each is written from scratch.
MOST_BOARDS = 256


# A row as JSON: its rank, and what follows it.
WrittenRow = tuple[int, str]


# Any: columns of any numbers.
def row_bytes(teams: int, *columns: NDArray[Any]) -> list[bytes]:
    """The numbers of each team as bytes: rows with equal bytes look the same."""
    parts = [np.ascontiguousarray(each.T).view(np.uint8).reshape(teams, -1) for each in columns if each.size]
    return [row.tobytes() for row in np.hstack(parts)] if parts else []


class RowRenderer:
    """The rows of one board as text, kept from one writing to the next; for one thread at a time."""

    def __init__(self) -> None:
        self._problems: list[str] = []
        self._rests: dict[tuple[str, bytes], str] = {}

    def write(self, arrays: Board) -> dict[str, WrittenRow]:
        """The rows of a board in order of rank; those whose numbers are as before are not written again."""
        problems = [dump(problem.id).decode() for problem in arrays.problems]
        known, self._rests = self._rests if problems == self._problems else {}, {}
        self._problems = problems
        numbers = (arrays.judged, arrays.pending, arrays.scores, arrays.improved, arrays.totals, arrays.times)
        keys = row_bytes(len(arrays.teams), *numbers)
        rows: dict[str, WrittenRow] = {}
        for team, rank in zip(arrays.order.tolist(), arrays.ranks.tolist(), strict=True):
            key = (id_ := arrays.teams[team].id), keys[team]
            rest = self._rests[key] = known.get(key) or self._write_rest(arrays, team)
            rows[id_] = rank, rest
        return rows

    def _write_rest(self, arrays: Board, team: int) -> str:
        cells = []
        columns = (each[:, team].tolist() for each in (arrays.judged, arrays.pending, arrays.scores, arrays.improved))
        for problem, judged, pending, score, improved in zip(self._problems, *columns, strict=True):
            time = f',"time":"{reltime(improved)}"' if score > 0 and moment(improved) is not None else ""
            counts = f'"num_judged":{judged},"num_pending":{pending}'
            cells.append(f'{{"problem_id":{problem},{counts},"score":{score!r}{time}}}')
        total, last = float(arrays.totals[team]), int(arrays.times[team])
        time = "null" if moment(last) is None else f'"{reltime(last)}"'
        score = f'{{"score":{total!r},"time":{time}}}'
        return f'"team_id":{dump(arrays.teams[team].id).decode()},"score":{score},"problems":[{",".join(cells)}]}}'


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
    rows = {row.team.id: (row.rank, dump(row_document(row, cases=True)).decode()) for row in arrays.rows}
    return {team: (rank, text.removeprefix(f'{{"rank":{rank},')) for team, (rank, text) in rows.items()}


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


class Options(NamedTuple):
    """The ways to write a board: with raw scores, of one group."""

    cases: bool = False
    group_id: str | None = None


WHOLE = Options()
# The board of a page, whatever its version: contest, public, closed, phase, and how it is written.
BoardKey = tuple[str, bool, bool, frozenset[CaseKind], Options]


def key_of(snapshot: ContestSnapshot, options: Options = WHOLE) -> BoardKey:
    """The board that a snapshot is a version of."""
    return (snapshot.contest.id, snapshot.public, snapshot.closed, snapshot.phase, options)


@dataclass
class Page:
    """A version of a board: its name (also its ETag), its bytes, and its rows by team.

    versions  the rows of the last few versions, this one among them, by name
    changes   the rows that changed since older versions, as written for the first who asked
    zipped    the bytes, zipped, once someone has asked for that
    events    events for streams, by the version that the client knows
    """

    version: str
    plain: bytes
    rows: Mapping[str, WrittenRow]
    head: Mapping[str, object]
    versions: Mapping[str, Mapping[str, WrittenRow]] = field(default_factory=dict, repr=False)
    zipped: bytes | None = None
    events: dict[str | None, bytes] = field(default_factory=dict, repr=False)
    _changes: dict[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def tag(self) -> str:
        """Its ETag."""
        return f'"{self.version}"'

    def zip(self) -> bytes:
        """Zip the bytes: takes a while."""
        self.zipped = gzip.compress(self.plain, GZIP_LEVEL, mtime=0)
        return self.zipped

    def changes(self, since: str) -> bytes | None:
        """The rows that are not as in that version, and the teams whose rows are gone; None: too old a version."""
        before = self.versions.get(since)
        if before is None:
            return None
        text = self._changes.get(since)
        if text is None:
            text = self._changes[since] = self._write_changes(before, since)
        return text

    def _write_changes(self, before: Mapping[str, WrittenRow], since: str) -> bytes:
        rows = {team: row for team, row in self.rows.items() if before.get(team) != row}
        gone = [team for team in before if team not in self.rows]
        head = {**self.head, "version": self.version, "since": since, "removed_team_ids": gone}
        return dump(head)[:-1] + b',"rows":[' + _text(rows) + b"]}"


@dataclass
class _BoardState:
    """The state that a version of a board leaves for the next: rows as text, the last versions, and histories."""

    renderer: RowRenderer = field(default_factory=RowRenderer)
    versions: Mapping[str, Mapping[str, WrittenRow]] = field(default_factory=dict)
    histories: dict[int, WrittenHistory] = field(default_factory=dict)


@once_a_snapshot
def _written(_snapshot: ContestSnapshot) -> dict[Options, Page]:
    """The pages written of a snapshot, by their options (guarantee 6)."""
    return {}


def page_at_hand(snapshot: ContestSnapshot, options: Options = WHOLE) -> Page | None:
    """The written board, if it has been written."""
    return _written(snapshot).get(options)


class BoardPages:
    """The written boards of one service; pages in any thread, what is `soon` in its event loop."""

    def __init__(self, boards: ScoreboardCache) -> None:
        self.boards = boards
        self._states: dict[BoardKey, _BoardState] = {}
        self.work = SharedWork()
        boards.forgetters.append(self.forget)

    def forget(self, contest_id: str) -> None:
        """Keep nothing of a contest that is gone: another one may get its name."""
        for key in [key for key in list(self._states) if key[0] == contest_id]:
            self._states.pop(key, None)

    def page(self, snapshot: ContestSnapshot, options: Options = WHOLE) -> Page:
        """The written board, written if need be. Blocks: not for the event loop."""
        look = partial(page_at_hand, snapshot, options)
        return self.work.now(key_of(snapshot, options), look, partial(self._write, snapshot, options))

    async def page_soon(self, snapshot: ContestSnapshot, options: Options = WHOLE) -> Page:
        """As `page`; all who wait for it share one thread."""
        if (page := page_at_hand(snapshot, options)) is not None:
            return page
        key = ("page", id(snapshot), options)  # the work holds the snapshot, so that no other gets its id
        return await self.work.soon(key, partial(self.page, snapshot, options))

    async def zipped_soon(self, page: Page) -> bytes:
        """A page's bytes, zipped once for all who ask."""
        return await self.work.soon(("zip", id(page)), page.zip, lambda: page.zipped)

    async def history_soon(self, snapshot: ContestSnapshot, steps: int) -> WrittenHistory:
        """The history; all who wait for it share one computation, and one that was dear stays good for a while."""
        key = key_of(snapshot)

        def look() -> WrittenHistory | None:
            history = self._of(key).histories.get(steps)
            return history if history is not None and history.is_good_for(snapshot, monotonic()) else None

        def compute() -> WrittenHistory:
            history = self._of(key).histories[steps] = look() or compute_history(snapshot, steps)
            return history

        return await self.work.soon(("history", id(snapshot), steps), compute, look, "histories")

    def _of(self, key: BoardKey) -> _BoardState:
        if len(self._states) > MOST_BOARDS:
            self._states.pop(next(iter(self._states)), None)
        return self._states.setdefault(key, _BoardState())

    def _write(self, snapshot: ContestSnapshot, options: Options) -> Page:
        """Write a version of a board; its rows stay for `since`. One thread at a time for each board, in its turn."""
        state = self._of(key_of(snapshot, options))
        page = render(state.renderer, snapshot, options)
        versions = {**state.versions, page.version: page.rows}
        # Never changed in place: pages hold it, and are read in other threads.
        state.versions = page.versions = dict(islice(versions.items(), max(0, len(versions) - OLD_VERSIONS), None))
        _written(snapshot)[options] = page
        return page


def shows_raw(snapshot: ContestSnapshot) -> bool:
    """Whether a board may have the raw scores of all teams: for judges always, else as the setting `show_best` says."""
    return not snapshot.public or snapshot.contest.settings.show_best


def render(renderer: RowRenderer, snapshot: ContestSnapshot, options: Options = WHOLE) -> Page:
    """Write a board as CLICS JSON. The version is a hash of what it says: equal boards have equal versions."""
    arrays = arrays_of(snapshot, options.group_id)
    shows_cases = options.cases and shows_raw(snapshot)
    rows = rows_with_cases(arrays) if shows_cases else renderer.write(arrays)
    head, text = head_of(snapshot), _text(rows)
    # Before the start the time is that of the reading, and each server would have versions of its own.
    hashed_head = head if snapshot.state.started is not None else head["state"]
    digest = hashlib.blake2b(dump([hashed_head, options.group_id]), digest_size=12)
    digest.update(text)
    version = digest.hexdigest()
    plain = b"".join((dump({**head, "version": version})[:-1], b',"rows":[', text, b"]}"))
    return Page(version, plain, rows, head)


def _text(rows: Mapping[str, WrittenRow]) -> bytes:
    return ",".join([f'{{"rank":{rank},{rest}' for rank, rest in rows.values()]).encode()
