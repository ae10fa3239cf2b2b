"""Boards kept in memory: brought up to date once after a change, however many ask, and good until the clock changes it.

Submissions and verdicts say so with `changed`, after their commit, and are then the only ones read again; what admins
write counts as a change of everything by itself. A request may get any board whose reading began after it arrived, so
that whoever has seen a verdict sees it on the board, and nobody waits for ever.

- The boards of one contest, kept from one reading to the next: only what has changed is scored again.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from app.core import clock, garbage, load
from app.core.db.database import Database
from app.domain import contests, counting
from app.problems.queries.scoring_input import ScoredContest, scored_contest
from app.scoreboard.queries.contest_snapshot import BoardPair, BoardView, Cells, ContestSnapshot, live_board, view
from app.submissions.queries import attempts
from app.submissions.queries.attempts import KnownScores, Read


def _kind(contest: ScoredContest, seen: BoardView) -> tuple[object, ...]:
    """What a board is made for, and keeps."""
    return (seen.problems, seen.phase, seen.finished, seen.embargoed, contest.references)


class KeptBoard:
    """A board that is kept up to date, and the moment of the last thing it shows.

    Invariant: the board has taken every attempt that has been `put` and not dropped since, as far as its view takes it.
    """

    def __init__(self, contest: ScoredContest, seen: BoardView, reads: Collection[Read]) -> None:
        """`reads` are all attempts."""
        self.view = seen
        self._kind = _kind(contest, seen)
        self._board = live_board(contest, seen)
        self._moment: datetime | None = None
        self.put(reads)

    def fits(self, contest: ScoredContest, seen: BoardView) -> bool:
        """Whether this board can become the wanted one. Other problems, rules or references forbid it."""
        return _kind(contest, seen) == self._kind

    def turn(self, contest: ScoredContest, seen: BoardView, reads: Collection[Read]) -> None:
        """Let it show this view; `reads` are all attempts, of which the last moment is taken."""
        self._board.set_teams(contest.official_teams)
        self._board.set_chosen(seen.chosen)
        self._board.set_freeze(seen.freeze)
        if (seen.freeze, seen.teams) != (self.view.freeze, self.view.teams):
            self.view = seen
            self._moment = self._later(None, seen.taken(reads))
        self.view = seen

    def put(self, reads: Iterable[Read]) -> None:
        """Take attempts as they are now."""
        taken = self.view.taken(reads)
        attempts = (read.attempt for read in taken)
        self._board.put(map(self.view.without_embargoed, attempts) if self.view.embargoed else attempts)
        self._moment = self._later(self._moment, taken)

    def _later(self, moment: datetime | None, taken: Sequence[Read]) -> datetime | None:
        """The last moment of these attempts as far as they are shown, or `moment` where that is later."""
        for read in reversed(taken):  # the newest first: of the others it is hardly ever asked whether they are shown
            if (moment is None or read.latest > moment) and self.view.shows_taken(read.attempt):
                moment = read.latest
        return moment

    def copy(self) -> KeptBoard:
        """The same board, which goes on by itself."""
        other = copy(self)
        other._board = self._board.copy()
        return other

    def drop(self, attempts: Iterable[counting.Attempt], left: Iterable[Read]) -> None:
        """Forget attempts; those `left` tell the last moment."""
        self._board.drop(attempts)
        self._moment = self._later(None, self.view.taken(left))

    def snapshot(self, contest: ScoredContest, now: datetime, cells: Cells, *, public: bool) -> ContestSnapshot:
        """The board as it is now."""
        passed = contests.state(contest.clock, now, contest.finalized)
        moments = (self._moment, passed.started, passed.frozen, passed.ended, passed.thawed, passed.finalized)
        latest = max((each for each in moments if each is not None), default=now)
        if self.view.embargoed:
            contest = contest.without_final()
        return ContestSnapshot(contest, passed, public, latest, self.view, cells, self._board.board())


@dataclass
class KeptBoards:
    """A contest's attempts and boards from one reading to the next; used by one thread at a time.

    Invariants: `cells` holds exactly the attempts of `reads`, each cell in order of submission, and a cell is replaced
    as a whole, so that snapshots may share it. Both boards have taken all of `reads`. `public` is None while everybody
    sees what the judges see.
    """

    contest: ScoredContest | None = None
    scores: KnownScores = field(default_factory=dict)
    reads: dict[int, Read] = field(default_factory=dict)
    cells: dict[tuple[str, str], Sequence[counting.Attempt]] = field(default_factory=dict)
    judges: KeptBoard | None = None
    public: KeptBoard | None = None

    def take(self, reads: Sequence[Read], *, everything: bool) -> None:
        """Take what was read, and put it on the boards; `everything`: what is not among it is gone."""
        news = [read for read in reads if read.is_news(self.reads.get(read.attempt.id))] if self.reads else reads
        gone_ids = self.reads.keys() - {read.attempt.id for read in reads} if everything else ()
        gone = [self.reads.pop(id_).attempt for id_ in gone_ids]
        # Undone rejudgings put older judgements back, and with them an earlier last moment.
        earlier = bool(self.reads) and any(
            (old := self.reads.get(read.attempt.id)) is not None and read.latest < old.latest for read in news
        )
        self._replace(gone, news)
        for board in (self.judges, self.public):
            if board is not None:
                if gone or earlier:
                    board.drop(gone, self.reads.values())
                board.put(news)

    def _replace(self, gone: Sequence[counting.Attempt], news: Sequence[Read]) -> None:
        """Make the cells anew that these attempts are in: each cell once, however many there are of it."""
        changes: defaultdict[tuple[str, str], dict[int, counting.Attempt | None]] = defaultdict(dict)
        for attempt in gone:
            changes[attempt.team_id, attempt.problem_id][attempt.id] = None
        for read in news:
            changes[read.attempt.team_id, read.attempt.problem_id][read.attempt.id] = read.attempt
        for key, changed in changes.items():
            cell = {attempt.id: attempt for attempt in self.cells.get(key, ())} | changed
            self.cells[key] = [attempt for _, attempt in sorted(cell.items()) if attempt is not None]
        self.reads.update((read.attempt.id, read) for read in news)

    def pair(self, version: int, now: datetime) -> BoardPair:
        """Both boards as they are now."""
        contest, cells = self.contest, dict(self.cells)
        assert contest is not None, "it was read"
        seen, public_view = (view(contest, now, public=public) for public in (False, True))
        if public_view == seen:
            self.judges, self.public = self._board(self.judges, self.public, contest, seen), None
            judges = self.judges.snapshot(contest, now, cells, public=False)
            public = replace(judges, public=True, memo={})
        else:
            # The public board first: a cold one is folded up to the freeze, and the judges' goes on from its copy.
            self.public = self._board(self.public, self.judges, contest, public_view)
            public = self.public.snapshot(contest, now, cells, public=True)
            self.judges = self._board(self.judges, self.public, contest, seen)
            judges = self.judges.snapshot(contest, now, cells, public=False)
        ahead = [moment for moment in contest.moments() if moment > now]
        return BoardPair(version, min(ahead, default=None), judges, public)

    def _board(
        self, old: KeptBoard | None, twin: KeptBoard | None, contest: ScoredContest, seen: BoardView
    ) -> KeptBoard:
        """The board of a view: the old one if it can be turned into it, else a copy of the other view's (`twin`).

        Both have taken every attempt there is, so a copy lacks none: the fold up to the freeze is shared.
        """
        if old is not None and self._fits(old, contest, seen):
            board = old
        elif twin is not None and self._fits(twin, contest, seen):
            board = twin.copy()
        else:
            return KeptBoard(contest, seen, self.reads.values())
        board.turn(contest, seen, self.reads.values())
        return board

    def _fits(self, board: KeptBoard, contest: ScoredContest, seen: BoardView) -> bool:
        if not board.fits(contest, seen):
            return False
        before, now = board.view.own, seen.own
        # Teams that have another clock now than when they sent something.
        teams = {team for team in before.keys() | now.keys() if before.get(team) != now.get(team)}
        return not (teams and any(team in teams and tries for (team, _), tries in self.cells.items()))


def make_snapshot(contest: ScoredContest, reads: Sequence[Read], now: datetime, *, public: bool) -> ContestSnapshot:
    """A snapshot from scratch, of any contest and attempts, also of those a rejudging would make."""
    cells: defaultdict[tuple[str, str], list[counting.Attempt]] = defaultdict(list)
    for read in reads:
        cells[read.attempt.team_id, read.attempt.problem_id].append(read.attempt)
    board = KeptBoard(contest, view(contest, now, public=public), reads)
    return board.snapshot(contest, now, cells, public=public)


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
            with self._guard:
                self._contests.pop(contest_id, None)
            for forget in self.forgetters:
                forget(contest_id)
        else:
            contest.generation, contest.pair = generation, pair
            self.on_read(self._steady() - began)
        return pair

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
