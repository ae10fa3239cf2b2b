"""Boards kept in memory: brought up to date once after a change, however many ask, and good until the clock changes it.

Submissions and verdicts say so with `changed`, after their commit, and are then the only ones read again; what admins
write counts as a change of everything by itself. A request is content with anything whose reading began after the
request came in, so that whoever has seen a verdict sees it on the board, and nobody waits for ever.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any

from anyio.to_thread import run_sync

from app.domain.board_arrays import among
from app.domain.clock import utc_now
from app.domain.contests import OPEN, CaseKind, Freeze, ScoredProblem, State, state
from app.domain.incremental_scoreboard import LiveBoard
from app.domain.scoreboard import Board, Chosen
from app.domain.scoring import Attempt, Bests
from app.domain.virtual_ranking import ranked_with
from app.grading.collections_paused import without_collections
from app.storage import attempts as reading
from app.storage.attempts import KnownScores, Read
from app.storage.database import Database
from app.storage.scoring_input import ScoredContest, scored_contest

OLD_PAGES = 8
NEVER = timedelta(0)
Cells = Mapping[tuple[str, str], Sequence[Attempt]]
"""Attempts by team and problem, in order of submission."""


@dataclass(frozen=True, slots=True)
class BoardView:
    """What of a contest one of its boards shows at a moment: its problems, what is hidden, which cases count.

    finished  how long after the start a submission is too late for the board
    own       the same for teams that go by a clock of their own; nothing of virtual ones is on the board
    secret    by problem, the final cases of which nothing may be known yet
    teams     those on the board: what others do is not seen, not even by when the board last changed
    """

    problems: tuple[ScoredProblem, ...]
    freeze: Freeze
    phase: frozenset[CaseKind]
    chosen: Chosen
    finished: timedelta
    own: Mapping[str, timedelta] = field(default_factory=dict)
    secret: Mapping[str, frozenset[str]] = field(default_factory=dict)
    teams: frozenset[str] = frozenset()

    def takes(self, attempt: Attempt) -> bool:
        """Is it on the board? What was sent outside its team's time is not."""
        return NEVER <= attempt.time < self.own.get(attempt.team_id, self.finished)

    def outside(self, attempt: Attempt) -> Attempt:
        """The attempt as far as it may be known."""
        secret = self.secret.get(attempt.problem_id)
        if not secret or attempt.scores is None or secret.isdisjoint(attempt.scores):
            return attempt
        scores = {case: score for case, score in attempt.scores.items() if case not in secret}
        return Attempt(attempt.id, attempt.team_id, attempt.problem_id, attempt.time, scores)

    def shows(self, attempt: Attempt) -> bool:
        """Is what became of it on the board?"""
        return self.takes(attempt) and self.shows_taken(attempt)

    def shows_taken(self, attempt: Attempt) -> bool:
        """As `shows`, of an attempt that is on the board."""
        if attempt.team_id not in self.teams:
            return False
        return not self.freeze.hides(attempt.team_id, attempt.problem_id, attempt.time)


def view(contest: ScoredContest, now: datetime, *, public: bool) -> BoardView:
    """What everybody (`public`) or the judges see of a contest now.

    Chosen submissions decide after the end; on a frozen board once their place is revealed.
    """
    clock, finals = contest.clock, contest.finals
    freeze = Freeze(clock.freeze_time, contest.revealed) if public and clock.frozen(now) else OPEN
    embargoed = public and not finals.decide(clock, now)
    problems = contest.outside if embargoed else contest.problems
    chosen = dict(contest.chosen) if clock.ended(now) else {}
    if freeze.until is not None:
        chosen = {place: choice for place, choice in chosen.items() if place in freeze.revealed}
    own = {team_id: contest.own_clock(team_id).duration for team_id in contest.participations}
    return BoardView(
        tuple(problems) if not public or clock.started(now) else (),
        freeze,
        finals.phase(clock, now, public=public),
        chosen,
        clock.duration,
        {team_id: NEVER if contest.is_virtual(team_id) else duration for team_id, duration in own.items()},
        {p.id: p.final_cases for p in contest.problems if p.final_cases} if embargoed else {},
        contest.on_board,
    )


class _Embargoed(Mapping[tuple[str, str], Sequence[Attempt]]):
    """Attempts by team and problem as far as a view lets them be known."""

    def __init__(self, cells: Cells, seen: BoardView) -> None:
        self.cells = cells
        self._seen = seen
        self._open: dict[tuple[str, str], frozenset[int]] = {}

    def open_ids(self, place: tuple[str, str]) -> frozenset[int]:
        """The judged submissions of a place in which there is nothing that may not be known."""
        found = self._open.get(place)
        if found is None:
            tries = self.cells.get(place, ())
            judged = (attempt for attempt in tries if attempt.scores is not None)
            found = frozenset(attempt.id for attempt in judged if self._seen.outside(attempt) is attempt)
            self._open[place] = found
        return found

    def __getitem__(self, place: tuple[str, str]) -> Sequence[Attempt]:
        return [self._seen.outside(attempt) for attempt in self.cells[place]]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)


@dataclass(frozen=True, slots=True)
class ContestSnapshot:
    """A contest as one reading found it, and the board made from it, for everybody (`public`) or for the judges.

    moment  when the last thing happened that this board shows
    freeze what the freeze hides
    phase   which cases count
    closed  the viewer may not see anything yet: as before the start
    board   of all teams; `main` is the one that is shown
    virtual there are virtual teams among the others
    pages   what has been rendered from it, by the options of the request
    """

    contest: ScoredContest
    state: State
    public: bool
    moment: datetime
    view: BoardView
    cells: Cells
    board: Board
    closed: bool = False
    virtual: bool = False
    pages: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def freeze(self) -> Freeze:
        """What the freeze hides."""
        return self.view.freeze

    @property
    def phase(self) -> frozenset[CaseKind]:
        """Which cases count."""
        return self.view.phase

    @property
    def main(self) -> Board:
        """The board that is shown: of all teams, or of those of the contest's main group, ranked among themselves."""
        teams = self.contest.main_teams
        if teams is None:
            return self.board
        found: Board | None = self.pages.get("main")
        if found is None:
            found = self.pages["main"] = among(self.board, self.view.problems, self.phase, teams)
        return found

    @property
    def problems(self) -> Sequence[ScoredProblem]:
        """The problems that may be seen: none before the start, unless by judges."""
        if self.closed or (self.public and self.state.started is None):
            return ()
        return self.contest.problems

    @property
    def attempts(self) -> list[Attempt]:
        """Every attempt there is, in order of submission."""
        return sorted(chain.from_iterable(self.cells.values()), key=lambda attempt: attempt.id)

    def bests(self, problem: ScoredProblem) -> Bests:
        """BEST of a problem's cases as this board shows them."""
        return self.board.bests.get(problem.id) or Bests(problem.rule)

    def of(self, team_id: str | None, problem_id: str) -> Sequence[Attempt]:
        """One team's attempts at one problem."""
        return self.cells.get((team_id or "", problem_id), ())

    def official(self) -> list[Attempt]:
        """The attempts that the official board is about."""
        return [attempt for attempt in self.attempts if self.view.takes(attempt)]

    def is_embargoed(self, team_id: str, problem_id: str, submission_id: int) -> bool:
        """Has a submission answers for final cases, of which nothing may be known yet?

        One that this board does not know as judged may have some: rows that are read later may tell of its verdict.
        """
        if not isinstance(self.cells, _Embargoed) or problem_id not in self.view.secret:
            return False
        return submission_id not in self.cells.open_ids((team_id, problem_id))


@dataclass(frozen=True, slots=True)
class _Kept:
    """The last reading of a contest: the version it is of, until when the clock leaves it alone, and its boards."""

    version: int
    good_until: datetime | None
    judges: ContestSnapshot
    public: ContestSnapshot

    def good(self, wanted: int, now: datetime) -> bool:
        return self.version >= wanted and (self.good_until is None or now < self.good_until)


class _Live:
    """One board that is kept up to date, and the moment of the last thing it shows."""

    def __init__(self, contest: ScoredContest, seen: BoardView, reads: Iterable[Read]) -> None:
        self.view = seen
        self._references = contest.references
        self._board = LiveBoard(
            seen.problems,
            contest.official_teams,
            freeze=seen.freeze,
            chosen=seen.chosen,
            phase=seen.phase,
            references=contest.references,
        )
        self._moment: datetime | None = None
        self.put(reads)

    def fits(self, contest: ScoredContest, seen: BoardView) -> bool:
        """Can this board become the one that is wanted? Not with other problems, rules or references."""
        return (seen.problems, seen.phase, seen.finished, seen.secret, contest.references) == (
            self.view.problems,
            self.view.phase,
            self.view.finished,
            self.view.secret,
            self._references,
        )

    def turn(self, contest: ScoredContest, seen: BoardView, reads: Iterable[Read]) -> None:
        """Let it show this view; `reads` are all attempts, of which the last moment is taken."""
        self._board.set_teams(contest.official_teams)
        if seen.chosen != self.view.chosen:
            self._board.set_chosen(seen.chosen)
        if seen.freeze != self.view.freeze:
            self._board.set_freeze(seen.freeze)
        if (seen.freeze, seen.teams) != (self.view.freeze, self.view.teams):
            self._moment = max((r.latest for r in reads if seen.shows(r.attempt)), default=None)
        self.view = seen

    def put(self, reads: Iterable[Read]) -> None:
        """Take attempts as they are now."""
        taken = [read for read in reads if self.view.takes(read.attempt)]
        if self.view.secret:
            self._board.put(self.view.outside(read.attempt) for read in taken)
        else:
            self._board.put(read.attempt for read in taken)
        known = [] if self._moment is None else [self._moment]
        shown = (read.latest for read in taken if self.view.shows_taken(read.attempt))
        self._moment = max(chain(known, shown), default=None)

    def copy(self) -> _Live:
        """The same board, which goes on by itself."""
        other = copy(self)
        other._board = self._board.copy()
        return other

    def drop(self, ids: Collection[int], left: Iterable[Read]) -> None:
        """Forget attempts; those `left` tell the last moment."""
        self._board.drop(ids)
        self._moment = max((read.latest for read in left if self.view.shows(read.attempt)), default=None)

    def snapshot(self, contest: ScoredContest, now: datetime, cells: Cells, *, public: bool) -> ContestSnapshot:
        """The board as it is now."""
        passed = state(contest.clock, now, contest.finalized)
        moments = (self._moment, passed.started, passed.frozen, passed.ended, passed.thawed, passed.finalized)
        latest = max((each for each in moments if each is not None), default=now)
        if self.view.secret:
            contest, cells = contest.without_final(), _Embargoed(cells, self.view)
        return ContestSnapshot(contest, passed, public, latest, self.view, cells, self._board.board())


@dataclass
class _Known:
    """What stays from one reading of a contest to the next; used by one thread at a time."""

    generation: int = -1
    contest: ScoredContest | None = None
    scores: KnownScores = field(default_factory=KnownScores)
    reads: dict[int, Read] = field(default_factory=dict)
    cells: dict[tuple[str, str], Sequence[Attempt]] = field(default_factory=dict)
    judges: _Live | None = None
    public: _Live | None = None

    def take(self, found: Sequence[Read], *, everything: bool) -> None:
        """Put what was read to what is known, and on the boards."""
        news = [read for read in found if _is_news(self.reads.get(read.attempt.id), read)]
        gone = self.reads.keys() - {read.attempt.id for read in found} if everything else set()
        # Undone rejudgings put older judgements back, and with them an earlier last moment.
        earlier = any(
            (old := self.reads.get(read.attempt.id)) is not None and read.latest < old.latest for read in news
        )
        self._replace([self.reads.pop(id_).attempt for id_ in gone], news)
        for live in (self.judges, self.public):
            if live is not None:
                if gone or earlier:
                    live.drop(gone, self.reads.values())
                live.put(news)

    def _replace(self, gone: Sequence[Attempt], news: Sequence[Read]) -> None:
        """Make the cells anew that these attempts are in: each cell once, however many there are of it."""
        out: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        into: defaultdict[tuple[str, str], list[Attempt]] = defaultdict(list)
        for read in news:
            into[read.attempt.team_id, read.attempt.problem_id].append(read.attempt)
        for attempt in chain(gone, (self.reads[r.attempt.id].attempt for r in news if r.attempt.id in self.reads)):
            out[attempt.team_id, attempt.problem_id].add(attempt.id)
        for key in out.keys() | into.keys():
            stays = [attempt for attempt in self.cells.get(key, ()) if attempt.id not in out[key]]
            self.cells[key] = sorted((*stays, *into[key]), key=attrgetter("id"))
        self.reads.update((read.attempt.id, read) for read in news)

    def live(self, old: _Live | None, twin: _Live | None, contest: ScoredContest, seen: BoardView) -> _Live:
        """The board of a view: the old one if it can be turned into it, else a copy of the other view's (`twin`).

        Both have taken every attempt that is known, so a copy lacks none: the fold up to the freeze is shared.
        """
        reads = self.reads.values()
        if old is not None and self._fits(old, contest, seen):
            live = old
        elif twin is not None and self._fits(twin, contest, seen):
            live = twin.copy()
        else:
            return _Live(contest, seen, reads)
        live.turn(contest, seen, reads)
        return live

    def _fits(self, live: _Live, contest: ScoredContest, seen: BoardView) -> bool:
        return live.fits(contest, seen) and not self._moved(live.view.own, seen.own)

    def _moved(self, before: Mapping[str, timedelta], now: Mapping[str, timedelta]) -> bool:
        """Has a team another clock now than when it sent something?"""
        teams = {team for team in before.keys() | now.keys() if before.get(team) != now.get(team)}
        return bool(teams) and any(team in teams and tries for (team, _), tries in self.cells.items())


def _is_news(old: Read | None, new: Read) -> bool:
    if old is None or old.latest != new.latest:
        return True
    one, other = old.attempt, new.attempt
    return (one.team_id, one.problem_id, one.time) != (other.team_id, other.problem_id, other.time) or (
        one.scores is not other.scores
    )


class ScoreboardCache:
    """The boards of all contests. May be used from any thread; `standing_soon` from the event loop.

    `listeners` are called with the contest's id after each `changed`, in whatever thread that is.
    """

    def __init__(self, database: Database, now: Callable[[], datetime] = utc_now) -> None:
        self._database = database
        self._now = now
        self._versions: defaultdict[str, int] = defaultdict(int)
        self._touched: defaultdict[str, set[int]] = defaultdict(set)
        self._all_touched: set[str] = set()
        self._kept: dict[str, _Kept] = {}
        self._known: defaultdict[str, _Known] = defaultdict(_Known)
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._guard = threading.Lock()
        self._running: dict[str, asyncio.Task[_Kept | None]] = {}
        self.history: defaultdict[Any, dict[str, Mapping[str, Any]]] = defaultdict(dict)
        self.sheets: dict[Any, Any] = {}
        self.computed = 0
        self.listeners: list[Callable[[str], None]] = []

    def changed(self, contest_id: str, submission_id: int | None = None) -> None:
        """Say, after the commit, that a contest has changed, or only this submission of it; never blocks long."""
        with self._guard:
            self._versions[contest_id] += 1
            if submission_id is None:
                self._all_touched.add(contest_id)
            else:
                self._touched[contest_id].add(submission_id)
        for listener in self.listeners:
            listener(contest_id)

    def all_changed(self) -> None:
        """Say that something changed that any contest may show, such as a test case."""
        with self._guard:
            for contest_id in self._kept:
                self._versions[contest_id] += 1
                self._all_touched.add(contest_id)

    def _version(self, contest_id: str) -> int:
        """A number that has gone up with every change; an admin's writes count for all contests."""
        return self._versions.get(contest_id, 0) + self._database.generation

    def ready(self, contest_id: str, *, public: bool) -> ContestSnapshot | None:
        """The board if it is at hand; None if it must be computed, or there is no such contest."""
        kept = self._kept.get(contest_id)
        if kept is None or not kept.good(self._version(contest_id), self._now()):
            return None
        return kept.public if public else kept.judges

    def snapshot(self, contest_id: str, *, public: bool) -> ContestSnapshot | None:
        """The board, computed if need be; None if there is no such contest. Blocks: not for the event loop."""
        kept = self._read(contest_id, self._version(contest_id))
        if kept is None:
            return None
        return kept.public if public else kept.judges

    async def snapshot_soon(self, contest_id: str, *, public: bool) -> ContestSnapshot | None:
        """As `snapshot`, for the event loop: all who wait share one thread and one computation."""
        wanted = self._version(contest_id)
        while True:
            if (found := self.ready(contest_id, public=public)) is not None:
                return found
            task = self._running.get(contest_id)
            if task is None or task.done():  # awaiting one that is done would not let the loop do anything else
                task = asyncio.create_task(run_sync(self._read, contest_id, self._version(contest_id)))
                self._running[contest_id] = task
                task.add_done_callback(partial(self._ended, contest_id))
            kept = await asyncio.shield(task)
            if kept is None:
                return None
            if kept.version >= wanted:
                return kept.public if public else kept.judges

    def _ended(self, contest_id: str, task: asyncio.Task[_Kept | None]) -> None:
        if self._running.get(contest_id) is task:
            del self._running[contest_id]

    def _read(self, contest_id: str, wanted: int) -> _Kept | None:
        with self._guard:
            lock = self._locks[contest_id]
        with lock:
            now = self._now()
            kept = self._kept.get(contest_id)
            if kept is not None and kept.good(wanted, now):
                return kept
            with self._guard:  # before reading: what changes meanwhile is not in it
                generation = self._database.generation
                version = self._versions.get(contest_id, 0) + generation
                touched = self._touched.pop(contest_id, set())
                everything = contest_id in self._all_touched or self._known[contest_id].generation != generation
                self._all_touched.discard(contest_id)
            try:
                with without_collections() if everything else nullcontext():
                    found = self._compute(contest_id, version, now, None if everything else touched)
            except BaseException:
                self.changed(contest_id)  # what was touched is not known any more
                self._known.pop(contest_id, None)
                raise
            if found is None:
                self._forget(contest_id)
            else:
                self._known[contest_id].generation = generation
                self._kept[contest_id] = found
            return found

    def _forget(self, contest_id: str) -> None:
        with self._guard:
            self._kept.pop(contest_id, None)
            self._known.pop(contest_id, None)
            self._locks.pop(contest_id, None)
            for kept in (self.history, self.sheets):
                for key in [key for key in kept if key[0] == contest_id]:
                    del kept[key]

    def _compute(self, contest_id: str, version: int, now: datetime, touched: Collection[int] | None) -> _Kept | None:
        """Bring a contest's boards up to date with these submissions; None: with everything."""
        known = self._known[contest_id]
        contest = known.contest
        everything = touched is None or contest is None
        with self._database.read() as session:
            if everything:
                contest = scored_contest(session, contest_id)
                if contest is None:
                    return None
                found = reading.attempts(session, contest_id, known.scores)
            else:
                found = reading.some_attempts(session, contest_id, touched or (), known.scores)
        assert contest is not None
        self.computed += 1
        known.contest = contest
        known.take(found, everything=everything)
        return self._stand(known, contest, version, now)

    def _stand(self, known: _Known, contest: ScoredContest, version: int, now: datetime) -> _Kept:
        cells = dict(known.cells)
        seen, public_view = (view(contest, now, public=public) for public in (False, True))
        if public_view == seen:
            known.judges, known.public = known.live(known.judges, known.public, contest, seen), None
            judges = known.judges.snapshot(contest, now, cells, public=False)
            public = replace(judges, public=True, pages={})
        else:
            # The public board first: a cold one is folded up to the freeze, and the judges' goes on from its copy.
            known.public = known.live(known.public, known.judges, contest, public_view)
            public = known.public.snapshot(contest, now, cells, public=True)
            known.judges = known.live(known.judges, known.public, contest, seen)
            judges = known.judges.snapshot(contest, now, cells, public=False)
        ahead = [moment for moment in contest.moments() if moment > now]
        return _Kept(version, min(ahead, default=None), judges, public)


def make_snapshot(contest: ScoredContest, reads: Sequence[Read], now: datetime, *, public: bool) -> ContestSnapshot:
    """One board by itself, of any contest and attempts: also of those that might be."""
    cells: defaultdict[tuple[str, str], list[Attempt]] = defaultdict(list)
    for read in reads:
        cells[read.attempt.team_id, read.attempt.problem_id].append(read.attempt)
    live = _Live(contest, view(contest, now, public=public), reads)
    return live.snapshot(contest, now, cells, public=public)


def in_phase(snapshot: ContestSnapshot, phase: frozenset[CaseKind]) -> ContestSnapshot:
    """A snapshot as it is when the cases of another phase give the points; computed once for each."""
    if phase == snapshot.phase:
        return snapshot
    found: ContestSnapshot | None = snapshot.pages.get(("phase", phase))
    if found is None:
        seen = replace(snapshot.view, phase=phase)
        found = replace(snapshot, view=seen, board=_board(snapshot, seen), pages={})
        snapshot.pages["phase", phase] = found
    return found


def closed(snapshot: ContestSnapshot) -> ContestSnapshot:
    """A standing for those who may not see anything of the contest yet: as before its start."""
    found: ContestSnapshot | None = snapshot.pages.get("closed")
    if found is None:
        seen = replace(snapshot.view, problems=())
        found = replace(snapshot, view=seen, board=_board(snapshot, seen), closed=True, pages={})
        snapshot.pages["closed"] = found
    return found


def _board(snapshot: ContestSnapshot, seen: BoardView) -> Board:
    board = LiveBoard(
        seen.problems,
        snapshot.contest.official_teams,
        freeze=seen.freeze,
        chosen=seen.chosen,
        phase=seen.phase,
        references=snapshot.contest.references,
    )
    shown = {problem.id for problem in seen.problems}
    board.put(attempt for attempt in snapshot.official() if attempt.problem_id in shown)
    return board.board()


def with_virtual(snapshot: ContestSnapshot) -> ContestSnapshot:
    """A snapshot with the virtual teams among the official ones, measured against the official BEST."""
    found: ContestSnapshot | None = snapshot.pages.get("virtual")
    if found is None:
        contest = snapshot.contest
        teams = [team for team in contest.teams if contest.is_virtual(team.id) and team.counts]
        ids = {team.id for team in teams}
        within = [a for a in snapshot.attempts if a.team_id in ids and a.time < contest.clock.duration]
        board = ranked_with(snapshot.board, snapshot.problems, teams, within, snapshot.phase)
        found = snapshot.pages["virtual"] = replace(snapshot, board=board, virtual=True, pages={})
    return found
