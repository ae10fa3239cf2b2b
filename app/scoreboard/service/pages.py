"""The written boards: each version of a board is written, zipped and compared once, for all who ask."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from time import monotonic
from typing import NamedTuple

from app.core.load import SharedWork
from app.domain.contests import CaseKind
from app.scoreboard.queries.contest_snapshot import ContestSnapshot, once_a_snapshot
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.scoreboard.service import row_renderer
from app.scoreboard.service.row_renderer import past_at_hand, past_board

GZIP_LEVEL = 4
OLD_VERSIONS = 8
# Boards of which the last rows are kept. Where there are more, the next version of each is written from scratch.
MOST_BOARDS = 256


class Options(NamedTuple):
    """The ways to write a board: with raw scores, of one group."""

    cases: bool = False
    group_id: str | None = None


WHOLE = Options()
# The board of a page, whatever its version: contest, public, closed, phase, virtual, and how it is written.
BoardKey = tuple[str, bool, bool, frozenset[CaseKind], bool, Options]


def key_of(snapshot: ContestSnapshot, options: Options = WHOLE) -> BoardKey:
    """The board that a snapshot is a version of."""
    return (snapshot.contest.id, snapshot.public, snapshot.closed, snapshot.phase, snapshot.virtual, options)


@dataclass
class Page:
    """A version of a board: its name (also its ETag), its bytes, and its rows by team.

    versions  the rows of the last few versions, this one among them, by name
    changes   the rows that changed since older versions, as written for the first who asked
    zipped    the bytes, zipped, once somebody has asked for that
    events    events for streams, by the version that the client knows
    """

    version: str
    plain: bytes
    rows: Mapping[str, row_renderer.WrittenRow]
    head: Mapping[str, object]
    versions: Mapping[str, Mapping[str, row_renderer.WrittenRow]] = field(default_factory=dict, repr=False)
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

    def _write_changes(self, before: Mapping[str, row_renderer.WrittenRow], since: str) -> bytes:
        rows = {team: row for team, row in self.rows.items() if before.get(team) != row}
        gone = [team for team in before if team not in self.rows]
        head = {**self.head, "version": self.version, "since": since, "removed_team_ids": gone}
        return row_renderer.dump(head)[:-1] + b',"rows":[' + _text(rows) + b"]}"


@dataclass
class _BoardState:
    """The state that a version of a board leaves for the next: rows as text, the last versions, and histories."""

    renderer: row_renderer.RowRenderer = field(default_factory=row_renderer.RowRenderer)
    versions: Mapping[str, Mapping[str, row_renderer.WrittenRow]] = field(default_factory=dict)
    histories: dict[int, row_renderer.WrittenHistory] = field(default_factory=dict)


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
        self._work = SharedWork()
        boards.forgetters.append(self.forget)

    def forget(self, contest_id: str) -> None:
        """Keep nothing of a contest that is gone: another one may get its name."""
        for key in [key for key in list(self._states) if key[0] == contest_id]:
            self._states.pop(key, None)

    def page(self, snapshot: ContestSnapshot, options: Options = WHOLE) -> Page:
        """The written board, written if need be. Blocks: not for the event loop."""
        look = partial(page_at_hand, snapshot, options)
        return self._work.now(key_of(snapshot, options), look, partial(self._write, snapshot, options))

    async def page_soon(self, snapshot: ContestSnapshot, options: Options = WHOLE) -> Page:
        """As `page`; all who wait for it share one thread."""
        if (page := page_at_hand(snapshot, options)) is not None:
            return page
        key = ("page", id(snapshot), options)  # the work holds the snapshot, so that no other gets its id
        return await self._work.soon(key, partial(self.page, snapshot, options))

    async def zipped_soon(self, page: Page) -> bytes:
        """A page's bytes, zipped once for all who ask."""
        return await self._work.soon(("zip", id(page)), page.zip, lambda: page.zipped)

    async def history_soon(self, snapshot: ContestSnapshot, steps: int) -> row_renderer.WrittenHistory:
        """The history; all who wait for it share one computation, and one that was dear stays good for a while."""
        key = key_of(snapshot)

        def look() -> row_renderer.WrittenHistory | None:
            history = self._of(key).histories.get(steps)
            return history if history is not None and history.is_good_for(snapshot, monotonic()) else None

        def compute() -> row_renderer.WrittenHistory:
            history = self._of(key).histories[steps] = look() or row_renderer.compute_history(snapshot, steps)
            return history

        return await self._work.soon(("history", id(snapshot), steps), compute, look, "histories")

    async def past_soon(self, snapshot: ContestSnapshot, minute: int) -> ContestSnapshot:
        """The snapshot with its board as it was at a minute; one is computed at a time, and the last few are kept."""
        look, compute = partial(past_at_hand, snapshot, minute), partial(past_board, snapshot, minute)
        return await self._work.soon(("past", id(snapshot), minute), compute, look, "histories")

    def _of(self, key: BoardKey) -> _BoardState:
        if len(self._states) > MOST_BOARDS:
            self._states.clear()
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


def render(renderer: row_renderer.RowRenderer, snapshot: ContestSnapshot, options: Options = WHOLE) -> Page:
    """Write a board as CLICS JSON. The version is a hash of what it says: equal boards have equal versions."""
    arrays = row_renderer.arrays_of(snapshot, options.group_id)
    shows_cases = options.cases and shows_raw(snapshot)
    rows = row_renderer.rows_with_cases(arrays) if shows_cases else renderer.write(arrays)
    head, text = row_renderer.head_of(snapshot), _text(rows)
    # Before the start the time is that of the reading, and each server would have versions of its own.
    hashed_head = head if snapshot.state.started is not None else head["state"]
    digest = hashlib.blake2b(row_renderer.dump([hashed_head, options.group_id]), digest_size=12)
    digest.update(text)
    version = digest.hexdigest()
    plain = b"".join((row_renderer.dump({**head, "version": version})[:-1], b',"rows":[', text, b"]}"))
    return Page(version, plain, rows, head)


def _text(rows: Mapping[str, row_renderer.WrittenRow]) -> bytes:
    return ",".join([f'{{"rank":{rank},{rest}' for rank, rest in rows.values()]).encode()
