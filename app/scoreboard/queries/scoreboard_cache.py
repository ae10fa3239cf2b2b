"""Boards kept in memory: brought up to date once after a change, however many ask, and good until the clock changes it.

Submissions and verdicts say so with `changed`, after their commit, and are then the only ones read again; what admins
write counts as a change of everything by itself. A request may get any board whose reading began after it arrived, so
that whoever has seen a verdict sees it on the board, and no one waits forever.

- The boards of one contest, kept from one reading to the next: only what has changed is scored again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from app.core import clock, garbage, load
from app.core.db.database import Database
from app.domain import contests
from app.domain.counting import Attempt, Cells, Place, by_place
from app.domain.incremental_scoreboard import LiveBoard
from app.problems.queries.scoring_input import ScoredContest, scored_contest
from app.scoreboard.queries.contest_snapshot import BoardPair, BoardView, ContestSnapshot, view
from app.submissions.queries import attempts
from app.submissions.queries.attempts import KnownScores

# Seconds for which open pages may show a board without the newest submissions and verdicts.
RECENT = 1.0


class KeptBoard:
    """A board that is computed from what the last reading left, and the moment of the last thing it shows."""

    def __init__(self) -> None:
        self._live: LiveBoard | None = None
        self._made_for: object = None
        self._view: BoardView | None = None
        self._cells: dict[Place, list[Attempt]] = {}
        self._latest: dict[Place, datetime] = {}

    def snapshot(
        self,
        contest: ScoredContest,
        seen: BoardView,
        cells: Cells,
        now: datetime,
        *,
        public: bool,
        changed: Collection[Place] | None = None,
    ) -> ContestSnapshot:
        """The board of all attempts in a view, of which only those at some places have `changed`, or any may have."""
        made_for = (seen.problems, seen.phase, contest.references)
        if made_for != self._made_for:
            self._live, self._made_for = seen.live(contest), made_for
        if seen != self._view:
            changed = None
        self._view = seen
        if changed is None:
            self._cells, self._latest = {}, {}
        for place in cells if changed is None else changed:
            taken = [attempt for attempt in cells.get(place, ()) if seen.takes(attempt)]
            self._cells[place] = list(map(seen.without_embargoed, taken)) if seen.embargoed else taken
            if times := [a.latest for a in taken if a.latest is not None and seen.shows(a)]:
                self._latest[place] = max(times)
            else:
                self._latest.pop(place, None)
        passed = contests.state(contest.clock, now, contest.finalized)
        moments = (passed.started, passed.frozen, passed.ended, passed.thawed, passed.finalized)
        latest = max(filter(None, (*moments, *self._latest.values())), default=now)
        board = seen.board(contest, self._cells, self._live, changed)
        if seen.embargoed:
            contest = contest.without_final()
        return ContestSnapshot(contest, passed, public, latest, seen, cells, board)


@dataclass
class KeptBoards:
    """A contest's attempts and boards from one reading to the next; used by one thread at a time.

    Invariants: `cells` holds all attempts, each cell in order of submission, and a cell is replaced as a whole, so that
    snapshots may share it. `public` is empty while everyone sees what the judges see.
    """

    contest: ScoredContest | None = None
    scores: KnownScores = field(default_factory=dict)
    cells: dict[Place, list[Attempt]] = field(default_factory=dict)
    judges: KeptBoard = field(default_factory=KeptBoard)
    public: KeptBoard = field(default_factory=KeptBoard)

    def take(self, read: Sequence[Attempt]) -> set[Place]:
        """Take some attempts as they were read; returns where they are."""
        for attempt in read:
            cell = {each.id: each for each in self.cells.get(attempt.place, ())} | {attempt.id: attempt}
            self.cells[attempt.place] = [each for _, each in sorted(cell.items())]
        return {attempt.place for attempt in read}

    def pair(self, version: int, now: datetime, changed: Collection[Place] | None) -> BoardPair:
        """Both boards as they are now, where only these places have changed; None: any."""
        contest, cells = self.contest, dict(self.cells)
        assert contest is not None, "it was read"
        seen, public_view = (view(contest, now, public=public) for public in (False, True))
        judges = self.judges.snapshot(contest, seen, cells, now, public=False, changed=changed)
        if public_view == seen:
            self.public, public = KeptBoard(), replace(judges, public=True, memo={})
        else:
            public = self.public.snapshot(contest, public_view, cells, now, public=True, changed=changed)
        ahead = [moment for moment in contest.moments() if moment > now]
        return BoardPair(version, min(ahead, default=None), judges, public)


def make_snapshot(
    contest: ScoredContest, attempts: Iterable[Attempt], now: datetime, *, public: bool
) -> ContestSnapshot:
    """A snapshot from scratch, of any contest and attempts, also of those a rejudging would make."""
    return KeptBoard().snapshot(contest, view(contest, now, public=public), by_place(attempts), now, public=public)


@dataclass
class _Contest:
    """The cache's record of one contest.

    changes     a number that goes up with every change told by `changed`
    touched     submissions told to have changed since the last reading began
    everything  the next reading must read all: a submission's change is not enough
    generation  the database's when everything was read last
    boards      used in the contest's turn alone
    pair        the last reading's boards; replaced as a whole
    stale_since when the first of the changes came that are not read yet (monotonic seconds); None: there are none
    read_at     when the last reading began (monotonic seconds)

    Invariant: a change is counted in `changes` and noted in `touched` or `everything` in one step, and a reading takes
    the count and the notes in one step before it begins. So a pair of version v shows every change counted up to v.
    """

    changes: int = 0
    touched: set[int] = field(default_factory=set)
    everything: bool = False
    generation: int = -1
    boards: KeptBoards = field(default_factory=KeptBoards)
    pair: BoardPair | None = None
    stale_since: float | None = None
    read_at: float = float("-inf")


class ScoreboardCache:
    """The boards of all contests. May be used from any thread; `snapshot_soon` from the event loop.

    `listeners` are called with the arguments of each `changed` after it, in whatever thread that is; `forgetters` with
    the contest's id when a contest turns out to be gone; `on_read` with the seconds that bringing a contest's boards up
    to date took.
    """

    def __init__(
        self,
        database: Database,
        now: Callable[[], datetime] = clock.utc_now,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._steady = steady
        self._now = now
        self._contests: dict[str, _Contest] = {}
        self._guard = threading.Lock()
        self._work = load.SharedWork()
        self.computed = 0
        self.listeners: list[Callable[[str, int | None], None]] = []
        self.forgetters: list[Callable[[str], None]] = []
        self.on_read: Callable[[float], object] = lambda _seconds: None

    def changed(self, contest_id: str, submission_id: int | None = None) -> None:
        """Say, after the commit, that a contest has changed, or only this submission of it; never blocks long."""
        with self._guard:
            self._note(self._contests.setdefault(contest_id, _Contest()), submission_id)
        for listener in self.listeners:
            listener(contest_id, submission_id)

    def all_changed(self) -> None:
        """Say that something changed that any contest may show, such as a test case."""
        with self._guard:
            for contest in self._contests.values():
                self._note(contest)

    def _note(self, contest: _Contest, submission_id: int | None = None) -> None:
        contest.changes += 1
        contest.stale_since = contest.stale_since or self._steady()
        if submission_id is None:
            contest.everything = True
        else:
            contest.touched.add(submission_id)

    def age(self) -> float:
        """Seconds since the oldest change that a board in memory does not show; 0 where all show all.

        A board that was never asked for is not in memory and has no age.
        """
        with self._guard:
            times = [each.stale_since for each in self._contests.values() if each.pair and each.stale_since]
        return self._steady() - min(times) if times else 0.0

    def _version(self, contest_id: str) -> int:
        """A number that has gone up with every change; an admin's writes count for all contests."""
        contest = self._contests.get(contest_id)
        return (0 if contest is None else contest.changes) + self._database.generation

    def contest(self, contest_id: str) -> ScoredContest | None:
        """Return the contest as it was read; None if something other than its submissions has changed since."""
        cached = self._contests.get(contest_id)
        if cached is None or cached.everything or cached.generation != self._database.generation:
            return None
        return cached.boards.contest

    def ready(self, contest_id: str, *, public: bool) -> ContestSnapshot | None:
        """The board if it is at hand; None if it must be computed, or there is no such contest."""
        pair = self._good(contest_id, self._version(contest_id))
        return None if pair is None else pair.of(public=public)

    async def recent(self, contest_id: str, *, public: bool) -> ContestSnapshot | None:
        """As `snapshot_soon`, but submissions and verdicts of the last second may be missing (guarantee 6)."""
        cached = self._contests.get(contest_id)
        if cached is not None and self.contest(contest_id) is not None and self._steady() < cached.read_at + RECENT:
            pair = cached.pair
            if pair is not None and pair.is_good(pair.version, self._now()):
                return pair.of(public=public)
        return await self.snapshot_soon(contest_id, public=public)

    def snapshot(self, contest_id: str, *, public: bool) -> ContestSnapshot | None:
        """The board, computed if need be; None if there is no such contest. Blocks: not for the event loop."""
        pair = self._pair(contest_id, self._version(contest_id))
        return None if pair is None else pair.of(public=public)

    async def snapshot_soon(self, contest_id: str, *, public: bool) -> ContestSnapshot | None:
        """As `snapshot`, for the event loop: all who wait share one thread and one computation."""
        wanted = self._version(contest_id)
        look = partial(self._good, contest_id, wanted)
        pair = await self._work.soon(contest_id, lambda: self._pair(contest_id, self._version(contest_id)), look)
        return None if pair is None else pair.of(public=public)

    def _good(self, contest_id: str, wanted: int) -> BoardPair | None:
        contest = self._contests.get(contest_id)
        pair = None if contest is None else contest.pair
        return pair if pair is not None and pair.is_good(wanted, self._now()) else None

    def _pair(self, contest_id: str, wanted: int) -> BoardPair | None:
        return self._work.now(contest_id, partial(self._good, contest_id, wanted), partial(self._read, contest_id))

    def _read(self, contest_id: str) -> BoardPair | None:
        """Read what has changed and bring the boards up to date; None, and nothing is held, where there is no contest.

        One thread at a time for each contest, in its turn.
        """
        now = self._now()
        with self._guard:  # before reading: what changes in the meantime is not in it
            contest = self._contests.setdefault(contest_id, _Contest())
            generation = self._database.generation
            version = contest.changes + generation
            touched, contest.touched = contest.touched, set()
            contest.stale_since, contest.read_at = None, self._steady()
            everything = contest.everything or contest.generation != generation
            contest.everything = False
        try:
            with garbage.without_collections() if everything else nullcontext():
                pair = self._compute(contest_id, contest.boards, version, now, None if everything else touched)
        except BaseException:
            with self._guard:  # what was touched is not known any longer: the next reading reads everything
                self._contests.pop(contest_id, None)
            raise
        if pair is None:
            with self._guard:
                self._contests.pop(contest_id, None)
            for forget in self.forgetters:
                forget(contest_id)
        else:
            contest.generation, contest.pair = generation, pair
            self.on_read(self._steady() - contest.read_at)
        return pair

    def _compute(
        self, contest_id: str, boards: KeptBoards, version: int, now: datetime, touched: Collection[int] | None
    ) -> BoardPair | None:
        """Bring a contest's boards up to date with these submissions; None: with everything."""
        changed = None
        with self._database.read() as session:
            if touched is not None:
                changed = boards.take(attempts.some_attempts(session, contest_id, touched, boards.scores))
            else:
                boards.contest = scored_contest(session, contest_id)
                if boards.contest is None:
                    return None
                boards.cells = by_place(attempts.attempts(session, contest_id, boards.scores))
        self.computed += 1
        return boards.pair(version, now, changed)
