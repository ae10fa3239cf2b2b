"""Boards kept in memory: computed once after a change, however many ask, and good until the clock makes another.

Submissions and verdicts say so with `changed`, after their commit; what admins write counts as a change by itself. A
request is content with anything whose reading began after the request came in, so that whoever has seen a verdict sees
it on the board, and nobody waits for ever.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from anyio.to_thread import run_sync

from app.domain.contests import OPEN, Curtain, ScoredProblem, State, state
from app.domain.folds import Folds
from app.domain.scoreboard import Board, scoreboard
from app.domain.scoring import Attempt, Bests
from app.storage import boards as reading
from app.storage.boards import Attempts, KnownScores
from app.storage.database import Database
from app.storage.scored import ScoredContest, scored_contest

OLD_PAGES = 8


@dataclass(frozen=True, slots=True)
class Standing:
    """A contest as one reading found it, and the board made from it, for everybody (`public`) or for the judges.

    moment  when the last thing happened that this board shows
    curtain what the freeze hides
    pages   what has been rendered from it, by the options of the request
    """

    contest: ScoredContest
    state: State
    public: bool
    moment: datetime
    curtain: Curtain
    attempts: Sequence[Attempt]
    board: Board
    pages: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def problems(self) -> Sequence[ScoredProblem]:
        """The problems that may be seen: none before the start, unless by judges."""
        return self.contest.problems if not self.public or self.state.started else ()

    def bests(self, problem: ScoredProblem) -> Bests:
        """BEST of a problem's cases as this board shows them."""
        return self.board.bests.get(problem.id) or Bests(problem.rule)

    def of(self, team_id: str | None, problem_id: str) -> list[Attempt]:
        """One team's attempts at one problem."""
        found: dict[tuple[str, str], list[Attempt]] | None = self.pages.get("attempts")
        if found is None:
            found = defaultdict(list)
            for attempt in self.attempts:
                found[attempt.team_id, attempt.problem_id].append(attempt)
            self.pages["attempts"] = found
        return found.get((team_id or "", problem_id), [])


@dataclass(frozen=True, slots=True)
class _Kept:
    """The last reading of a contest: the version it is of, until when the clock leaves it alone, and its boards."""

    version: int
    good_until: datetime | None
    judges: Standing
    public: Standing

    def good(self, wanted: int, now: datetime) -> bool:
        return self.version >= wanted and (self.good_until is None or now < self.good_until)


@dataclass(frozen=True, slots=True)
class _Known:
    """What stays from one reading of a contest to the next."""

    scores: KnownScores = field(default_factory=KnownScores)
    judges: Folds = field(default_factory=Folds)
    public: Folds = field(default_factory=Folds)


class Boards:
    """The boards of all contests. May be used from any thread; `standing_soon` from the event loop."""

    def __init__(self, database: Database, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = database
        self._now = now
        self._versions: defaultdict[str, int] = defaultdict(int)
        self._kept: dict[str, _Kept] = {}
        self._known: defaultdict[str, _Known] = defaultdict(_Known)
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._guard = threading.Lock()
        self._running: dict[str, asyncio.Task[_Kept | None]] = {}
        self.history: defaultdict[Any, dict[str, Mapping[str, Any]]] = defaultdict(dict)
        self.computed = 0

    def changed(self, contest_id: str, submission_id: int | None = None) -> None:
        """Say, after the commit, that something of a contest has changed, or only this submission; never blocks long."""
        with self._guard:
            self._versions[contest_id] += 1

    def all_changed(self) -> None:
        """Say that something changed that any contest may show, such as a test case."""
        with self._guard:
            for contest_id in self._kept:
                self._versions[contest_id] += 1

    def _version(self, contest_id: str) -> int:
        """A number that has gone up with every change; an admin's writes count for all contests."""
        return self._versions.get(contest_id, 0) + self._database.generation

    def ready(self, contest_id: str, *, public: bool) -> Standing | None:
        """The board if it is at hand; None if it must be computed, or there is no such contest."""
        kept = self._kept.get(contest_id)
        if kept is None or not kept.good(self._version(contest_id), self._now()):
            return None
        return kept.public if public else kept.judges

    def standing(self, contest_id: str, *, public: bool) -> Standing | None:
        """The board, computed if need be; None if there is no such contest. Blocks: not for the event loop."""
        kept = self._read(contest_id, self._version(contest_id))
        if kept is None:
            return None
        return kept.public if public else kept.judges

    async def standing_soon(self, contest_id: str, *, public: bool) -> Standing | None:
        """As `standing`, for the event loop: all who wait share one thread and one computation."""
        wanted = self._version(contest_id)
        while True:
            if (found := self.ready(contest_id, public=public)) is not None:
                return found
            task = self._running.get(contest_id)
            if task is None:
                task = asyncio.create_task(run_sync(self._read, contest_id, self._version(contest_id)))
                self._running[contest_id] = task
                task.add_done_callback(lambda _: self._running.pop(contest_id, None))
            kept = await asyncio.shield(task)
            if kept is None:
                return None
            if kept.version >= wanted:
                return kept.public if public else kept.judges

    def _read(self, contest_id: str, wanted: int) -> _Kept | None:
        with self._guard:
            lock = self._locks[contest_id]
        with lock:
            now = self._now()
            kept = self._kept.get(contest_id)
            if kept is not None and kept.good(wanted, now):
                return kept
            version = self._version(contest_id)  # before reading: what changes meanwhile is not in it
            found = self._compute(contest_id, version, now)
            if found is None:
                self._forget(contest_id)
            else:
                self._kept[contest_id] = found
            return found

    def _forget(self, contest_id: str) -> None:
        with self._guard:
            self._kept.pop(contest_id, None)
            self._known.pop(contest_id, None)
            self._locks.pop(contest_id, None)

    def _compute(self, contest_id: str, version: int, now: datetime) -> _Kept | None:
        with self._database.read() as session:
            contest = scored_contest(session, contest_id)
            if contest is None:
                return None
            known = self._known[contest_id]
            found = reading.attempts(session, contest_id, known.scores)
        self.computed += 1
        judges = _standing(contest, found, now, known.judges, public=False)
        clock = contest.clock
        same = clock.started(now) and not clock.frozen(now)
        public = (
            replace(judges, public=True, pages={})
            if same
            else _standing(contest, found, now, known.public, public=True)
        )
        moments = (clock.start, clock.freeze, clock.end, clock.thaw, contest.finalized)
        ahead = [moment for moment in moments if moment is not None and moment > now]
        return _Kept(version, min(ahead, default=None), judges, public)


def _standing(contest: ScoredContest, found: Attempts, now: datetime, folds: Folds, *, public: bool) -> Standing:
    """Compute one board. What was sent outside the contest's time is on no board."""
    clock = contest.clock
    frozen = public and clock.frozen(now)
    curtain = Curtain(clock.contest_time(clock.freeze)) if frozen and clock.freeze is not None else OPEN
    in_time = [a for a in found.attempts if timedelta(0) <= a.time < clock.duration]
    shown = contest.problems if not public or clock.started(now) else ()
    board = scoreboard(shown, contest.teams, in_time, curtain=curtain, references=contest.references, folds=folds)
    passed = state(clock, now, contest.finalized)
    moments = [passed.started, passed.frozen, passed.ended, passed.thawed, passed.finalized]
    seen = [found.latest[a.id] for a in in_time if not curtain.hides(a.team_id, a.problem_id, a.time)]
    moment = max([*seen, *(m for m in moments if m is not None)], default=now)
    return Standing(contest, passed, public, moment, curtain, found.attempts, board)
