"""Boards kept in memory: brought up to date once after a change, however many ask, and good until the clock changes it.

Submissions and verdicts say so with `changed`, after their commit, and are then the only ones read again; what admins
write counts as a change of everything by itself. A request may get any board whose reading began after it arrived, so
that whoever has seen a verdict sees it on the board, and nobody waits for ever.
"""

import threading
import time
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from app.core import clock, garbage, load
from app.core.db.database import Database
from app.problems.queries.scoring_input import scored_contest
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.queries.kept_boards import BoardPair, KeptBoards
from app.submissions.queries import attempts


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
            contest = self._contests.setdefault(contest_id, _Contest())
            contest.changes += 1
            contest.stale_since = contest.stale_since or self._steady()
            if submission_id is None:
                contest.everything = True
            else:
                contest.touched.add(submission_id)
        for listener in self.listeners:
            listener(contest_id, submission_id)

    def all_changed(self) -> None:
        """Say that something changed that any contest may show, such as a test case."""
        with self._guard:
            for contest in self._contests.values():
                contest.changes += 1
                contest.stale_since = contest.stale_since or self._steady()
                contest.everything = True

    def age(self) -> float:
        """Seconds since the oldest change that a board in memory does not show; 0 where all show all.

        A board that was never asked for is not in memory and has no age.
        """
        with self._guard:
            times = [each.stale_since for each in self._contests.values() if each.pair is not None]
        oldest = min((time for time in times if time is not None), default=None)
        return 0.0 if oldest is None else self._steady() - oldest

    def _version(self, contest_id: str) -> int:
        """A number that has gone up with every change; an admin's writes count for all contests."""
        contest = self._contests.get(contest_id)
        return (0 if contest is None else contest.changes) + self._database.generation

    def ready(self, contest_id: str, *, public: bool) -> ContestSnapshot | None:
        """The board if it is at hand; None if it must be computed, or there is no such contest."""
        pair = self._good(contest_id, self._version(contest_id))
        return None if pair is None else pair.of(public=public)

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
        with self._guard:  # before reading: what changes meanwhile is not in it
            contest = self._contests.setdefault(contest_id, _Contest())
            generation = self._database.generation
            version = contest.changes + generation
            touched, contest.touched = contest.touched, set()
            contest.stale_since, began = None, self._steady()
            everything = contest.everything or contest.generation != generation
            contest.everything = False
        try:
            with garbage.without_collections() if everything else nullcontext():
                pair = self._compute(contest_id, contest.boards, version, now, None if everything else touched)
        except BaseException:
            with self._guard:  # what was touched is not known any more: the next reading reads everything
                self._contests.pop(contest_id, None)
            raise
        if pair is None:
            self._forget(contest_id)
        else:
            contest.generation, contest.pair = generation, pair
            self.on_read(self._steady() - began)
        return pair

    def _forget(self, contest_id: str) -> None:
        with self._guard:
            self._contests.pop(contest_id, None)
        for forget in self.forgetters:
            forget(contest_id)

    def _compute(
        self, contest_id: str, boards: KeptBoards, version: int, now: datetime, touched: Collection[int] | None
    ) -> BoardPair | None:
        """Bring a contest's boards up to date with these submissions; None: with everything."""
        with self._database.read() as session:
            if touched is None:
                boards.contest = scored_contest(session, contest_id)
                if boards.contest is None:
                    return None
                reads = attempts.attempts(session, contest_id, boards.scores)
            else:
                reads = attempts.some_attempts(session, contest_id, touched, boards.scores)
        self.computed += 1
        boards.take(reads, everything=touched is None)
        return boards.pair(version, now)
