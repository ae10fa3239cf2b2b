"""The boards of one contest, kept from one reading to the next: only what has changed is scored again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from app.domain import contests, counting
from app.problems.queries.scoring_input import ScoredContest
from app.scoreboard.queries.contest_snapshot import BoardView, Cells, ContestSnapshot, live_board, view
from app.submissions.queries.attempts import KnownScores, Read


class KeptBoard:
    """A board that is kept up to date, and the moment of the last thing it shows.

    Invariant: the board has taken every attempt that has been `put` and not dropped since, as far as its view takes it.
    """

    def __init__(self, contest: ScoredContest, seen: BoardView, reads: Collection[Read]) -> None:
        """`reads` are all attempts."""
        self.view = seen
        self._references = contest.references
        self._board = live_board(contest, seen)
        self._moment: datetime | None = None
        self.put(reads)

    def fits(self, contest: ScoredContest, seen: BoardView) -> bool:
        """Whether this board can become the wanted one. Other problems, rules or references forbid it."""
        return (seen.problems, seen.phase, seen.finished, seen.embargoed, contest.references) == (
            self.view.problems,
            self.view.phase,
            self.view.finished,
            self.view.embargoed,
            self._references,
        )

    def turn(self, contest: ScoredContest, seen: BoardView, reads: Collection[Read]) -> None:
        """Let it show this view; `reads` are all attempts, of which the last moment is taken."""
        self._board.set_teams(contest.official_teams)
        if seen.chosen != self.view.chosen:
            self._board.set_chosen(seen.chosen)
        if seen.freeze != self.view.freeze:
            self._board.set_freeze(seen.freeze)
        if (seen.freeze, seen.teams) != (self.view.freeze, self.view.teams):
            self.view = seen
            self._moment = self._later(None, seen.taken(reads))
        self.view = seen

    def put(self, reads: Iterable[Read]) -> None:
        """Take attempts as they are now."""
        taken = self.view.taken(reads)
        if self.view.embargoed:
            self._board.put(self.view.without_embargoed(read.attempt) for read in taken)
        else:
            self._board.put(read.attempt for read in taken)
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


@dataclass(frozen=True, slots=True)
class BoardPair:
    """Both boards of one reading: the version it is of, and until when the clock leaves it alone (None: for ever)."""

    version: int
    good_until: datetime | None
    judges: ContestSnapshot
    public: ContestSnapshot

    def of(self, *, public: bool) -> ContestSnapshot:
        """Everybody's board, or the judges'."""
        return self.public if public else self.judges

    def is_good(self, wanted: int, now: datetime) -> bool:
        """Whether the board is of this version or a later one, and the clock has changed nothing since."""
        return self.version >= wanted and (self.good_until is None or now < self.good_until)


@dataclass
class KeptBoards:
    """A contest's attempts and boards from one reading to the next; used by one thread at a time.

    Invariants: `cells` holds exactly the attempts of `reads`, each cell in order of submission, and a cell is replaced
    as a whole, so that snapshots may share it. Both boards have taken all of `reads`. `public` is None while everybody
    sees what the judges see.
    """

    contest: ScoredContest | None = None
    scores: KnownScores = field(default_factory=KnownScores)
    reads: dict[int, Read] = field(default_factory=dict)
    cells: dict[tuple[str, str], Sequence[counting.Attempt]] = field(default_factory=dict)
    judges: KeptBoard | None = None
    public: KeptBoard | None = None

    def take(self, reads: Sequence[Read], *, everything: bool) -> None:
        """Take what was read, and put it on the boards; `everything`: what is not among it is gone."""
        news = [read for read in reads if _is_news(self.reads.get(read.attempt.id), read)] if self.reads else reads
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
        for key, attempts in changes.items():
            cell = {attempt.id: attempt for attempt in self.cells.get(key, ())} | attempts
            self.cells[key] = [attempt for _, attempt in sorted(cell.items()) if attempt is not None]
        self.reads.update((read.attempt.id, read) for read in news)

    def pair(self, version: int, now: datetime) -> BoardPair:
        """Both boards as they are now."""
        contest = self.contest
        assert contest is not None, "it was read"
        cells = dict(self.cells)
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
        reads = self.reads.values()
        if old is not None and self._fits(old, contest, seen):
            board = old
        elif twin is not None and self._fits(twin, contest, seen):
            board = twin.copy()
        else:
            return KeptBoard(contest, seen, reads)
        board.turn(contest, seen, reads)
        return board

    def _fits(self, board: KeptBoard, contest: ScoredContest, seen: BoardView) -> bool:
        return board.fits(contest, seen) and not self._moved(board.view.own, seen.own)

    def _moved(self, before: Mapping[str, timedelta], now: Mapping[str, timedelta]) -> bool:
        """Whether a team has another clock now than when it sent something."""
        teams = {team for team in before.keys() | now.keys() if before.get(team) != now.get(team)}
        return bool(teams) and any(team in teams and tries for (team, _), tries in self.cells.items())


def _is_news(old: Read | None, new: Read) -> bool:
    return old is None or old.latest != new.latest or old.attempt.scores is not new.attempt.scores


def make_snapshot(contest: ScoredContest, reads: Sequence[Read], now: datetime, *, public: bool) -> ContestSnapshot:
    """A snapshot from scratch, of any contest and attempts, also of those a rejudging would make."""
    cells: defaultdict[tuple[str, str], list[counting.Attempt]] = defaultdict(list)
    for read in reads:
        cells[read.attempt.team_id, read.attempt.problem_id].append(read.attempt)
    board = KeptBoard(contest, view(contest, now, public=public), reads)
    return board.snapshot(contest, now, cells, public=public)
