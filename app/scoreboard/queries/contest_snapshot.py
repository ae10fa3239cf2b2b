"""A contest as one reading found it, with its board; and other boards of the same reading, each computed once.

- The part of a contest that one of its boards shows at a moment: to everyone, or to the judges.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import wraps
from itertools import chain
from typing import Literal, TypeVar, TypeVarTuple, cast

from app.domain.board import Board, Cell, Chosen
from app.domain.contests import OPEN, PROVISIONAL, CaseKind, Freeze, ScoredProblem, State
from app.domain.counting import Attempt, Cells, Place, by_place
from app.domain.incremental_scoreboard import LiveBoard
from app.domain.scoring import Bests
from app.problems.queries.scoring_input import ScoredContest

NEVER = timedelta(0)


@dataclass(frozen=True, slots=True)
class BoardView:
    """The problems of a board, what is hidden of them, and which cases count.

    finished   how long after the start a submission is too late for the board
    own        the same for teams that go by a clock of their own; nothing of virtual ones is on the board
    embargoed  by problem, the final cases of which nothing may be known yet
    teams      those on the board: what others do is not seen, not even by when the board last changed
    """

    problems: tuple[ScoredProblem, ...]
    freeze: Freeze
    phase: frozenset[CaseKind]
    chosen: Chosen
    finished: timedelta
    own: Mapping[str, timedelta] = field(default_factory=dict)
    embargoed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    teams: frozenset[str] = frozenset()

    def takes(self, attempt: Attempt) -> bool:
        """Whether the attempt is on the board. One sent outside its team's time is not."""
        return NEVER <= attempt.time < self.own.get(attempt.team_id, self.finished)

    def without_embargoed(self, attempt: Attempt) -> Attempt:
        """The attempt as far as it may be known: itself where nothing of it is embargoed."""
        embargoed = self.embargoed.get(attempt.problem_id)
        if not embargoed or attempt.scores is None or embargoed.isdisjoint(attempt.scores):
            return attempt
        scores = {case: score for case, score in attempt.scores.items() if case not in embargoed}
        return replace(attempt, scores=scores)

    def shows(self, attempt: Attempt) -> bool:
        """Whether the verdict of an attempt that is on the board is on it."""
        if attempt.team_id not in self.teams:
            return False
        return not self.freeze.hides(attempt.team_id, attempt.problem_id, attempt.time)

    def live(self, contest: ScoredContest) -> LiveBoard:
        """Boards of this view of a contest, and of others of the same problems and phase."""
        return LiveBoard(self.problems, self.phase, contest.references)

    def board(
        self,
        contest: ScoredContest,
        cells: Cells,
        live: LiveBoard | None = None,
        changed: Collection[Place] | None = None,
    ) -> Board:
        """The board of attempts, which are on it; of the last one that was `live`, only what has `changed` is new."""
        live = live or self.live(contest)
        return live.board(contest.official_teams, cells, freeze=self.freeze, chosen=self.chosen, changed=changed)


def view(contest: ScoredContest, now: datetime, *, public: bool) -> BoardView:
    """The view of everyone (`public`) or of the judges now.

    Chosen submissions decide after the end; on a frozen board once their place is revealed.
    """
    clock, finals = contest.clock, contest.finals
    freeze = Freeze(clock.freeze_time, contest.revealed) if public and clock.frozen(now) else OPEN
    has_embargo = public and not finals.decide(clock, now)
    problems = [each.without_final for each in contest.problems] if has_embargo else contest.problems
    chosen = dict(contest.chosen) if clock.ended(now) else {}
    if freeze.until is not None:
        chosen = {place: choice for place, choice in chosen.items() if place in freeze.revealed}
    own = {team_id: contest.own_clock(team_id).duration for team_id in (*contest.participations, *contest.extra)}
    return BoardView(
        tuple(problems) if not public or clock.started(now) else (),
        freeze,
        finals.phase(clock, now, public=public),
        chosen,
        clock.duration,
        {team_id: NEVER if contest.is_virtual(team_id) else duration for team_id, duration in own.items()},
        {p.id: p.final_cases for p in contest.problems if p.final_cases} if has_embargo else {},
        contest.on_board,
    )


T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


def _of_submission(attempts: Sequence[Attempt], submission_id: int) -> Attempt | None:
    at = bisect_left(attempts, submission_id, key=lambda attempt: attempt.id)  # they are in order of submission
    return attempts[at] if at < len(attempts) and attempts[at].id == submission_id else None


@dataclass(frozen=True, slots=True)
class ContestSnapshot:
    """A contest as one reading found it, and the board made from it, for everyone (`public`) or for the judges.

    moment   the last moment at which anything happened that this board shows
    closed   the viewer may not see anything yet: as before the start
    board    of all teams; `main` is the one that is shown
    memo     the results of functions that are `once_a_snapshot`
    """

    contest: ScoredContest
    state: State
    public: bool
    moment: datetime
    view: BoardView
    cells: Cells
    board: Board
    closed: bool = False
    memo: dict[Hashable, object] = field(default_factory=dict, compare=False, repr=False)

    def is_like(self, other: ContestSnapshot) -> bool:
        """Whether all but the attempts is as in another snapshot: the contest, its state, and what is shown of it."""
        same = (self.state, self.closed, self.view) == (other.state, other.closed, other.view)
        return same and (self.contest is other.contest or self.contest == other.contest)

    @property
    def freeze(self) -> Freeze:
        """The freeze of the board."""
        return self.view.freeze

    @property
    def phase(self) -> frozenset[CaseKind]:
        """The phase, which decides the cases that count."""
        return self.view.phase

    @property
    def stage(self) -> Literal["provisional", "final"] | None:
        """Which points are shown of a contest with final cases; None of others."""
        if not self.contest.finals.used:
            return None
        return "provisional" if self.phase == PROVISIONAL else "final"

    @property
    def main(self) -> Board:
        """The board that is shown: of all teams, or of those of the contest's main group, ranked among themselves."""
        return _main(self)

    @property
    def problems(self) -> Sequence[ScoredProblem]:
        """The problems that may be seen: none before the start, unless by judges."""
        if self.closed or (self.public and self.state.started is None):
            return ()
        return self.contest.problems

    @property
    def attempts(self) -> list[Attempt]:
        """Every attempt there is, in order of submission."""
        attempts = sorted(chain.from_iterable(self.cells.values()), key=lambda attempt: attempt.id)
        return list(map(self.view.without_embargoed, attempts)) if self.view.embargoed else attempts

    def bests(self, problem: ScoredProblem) -> Bests:
        """BEST of a problem's cases as this board shows them."""
        return self.board.bests.get(problem.id) or Bests(problem.rule)

    def of(self, team_id: str | None, problem_id: str) -> Sequence[Attempt]:
        """One team's attempts at one problem."""
        attempts = self.cells.get((team_id or "", problem_id), ())
        return list(map(self.view.without_embargoed, attempts)) if self.view.embargoed else attempts

    def attempt(self, team_id: str, problem_id: str, submission_id: int) -> Attempt | None:
        """The attempt of a submission, as far as it may be known; None where the snapshot has none."""
        attempt = _of_submission(self.cells.get((team_id, problem_id), ()), submission_id)
        return None if attempt is None else self.view.without_embargoed(attempt)

    def count(self, team_id: str, problem_id: str) -> int:
        """The number of one team's attempts at one problem."""
        return len(self.cells.get((team_id, problem_id), ()))

    def cell(self, team_id: str, problem_id: str) -> Cell | None:
        """One team at one problem of the board; None where it is not on it."""
        team = next((at for at, each in enumerate(self.board.teams) if each.id == team_id), None)
        problem = next((at for at, each in enumerate(self.board.problems) if each.id == problem_id), None)
        return None if team is None or problem is None else self.board.cell(team, problem)

    def official(self) -> list[Attempt]:
        """The attempts that the official board is about."""
        return [attempt for attempt in self.attempts if self.view.takes(attempt)]

    def is_embargoed(self, team_id: str, problem_id: str, submission_id: int) -> bool:
        """Whether a submission has answers for final cases, of which nothing may be known yet.

        One that this board does not know as judged may have some: rows that are read later may tell of its verdict.
        """
        if problem_id not in self.view.embargoed:
            return False
        attempt = _of_submission(self.cells.get((team_id, problem_id), ()), submission_id)
        if attempt is None or attempt.scores is None:
            return True
        return self.view.without_embargoed(attempt) is not attempt


@dataclass(frozen=True, slots=True)
class BoardPair:
    """Both boards of one reading: the version it is of, and until when the clock leaves it alone (None: forever)."""

    version: int
    good_until: datetime | None
    judges: ContestSnapshot
    public: ContestSnapshot

    def of(self, *, public: bool) -> ContestSnapshot:
        """Everyone's board, or the judges'."""
        return self.public if public else self.judges

    def is_good(self, wanted: int, now: datetime) -> bool:
        """Whether the board is of this version or a later one, and the clock has changed nothing since."""
        return self.version >= wanted and (self.good_until is None or now < self.good_until)


def once_a_snapshot(
    function: Callable[[ContestSnapshot, *Arguments], T],
) -> Callable[[ContestSnapshot, *Arguments], T]:
    """A function of a snapshot, and of hashable arguments by position, that is computed once for each of them.

    The snapshot holds the results, and they go with it. Two threads that ask at once may both compute: all get the
    result that was there first.
    """

    @wraps(function)
    def once(snapshot: ContestSnapshot, *arguments: *Arguments) -> T:
        key = (function, arguments)
        try:
            return cast(T, snapshot.memo[key])
        except KeyError:
            return cast(T, snapshot.memo.setdefault(key, function(snapshot, *arguments)))

    return once


def is_computed(snapshot: ContestSnapshot, function: Callable[..., object], *arguments: Hashable) -> bool:
    """Whether a function that is `once_a_snapshot` has been computed for these arguments."""
    return (getattr(function, "__wrapped__", function), arguments) in snapshot.memo


@once_a_snapshot
def _main(snapshot: ContestSnapshot) -> Board:
    teams = snapshot.contest.main_teams
    return snapshot.board if teams is None else snapshot.board.among(lambda team: team.id in teams)


def in_phase(snapshot: ContestSnapshot, phase: frozenset[CaseKind]) -> ContestSnapshot:
    """A snapshot as it is when the cases of another phase give the points."""
    return snapshot if phase == snapshot.phase else _in_phase(snapshot, phase)


@once_a_snapshot
def _in_phase(snapshot: ContestSnapshot, phase: frozenset[CaseKind]) -> ContestSnapshot:
    seen = replace(snapshot.view, phase=phase)
    return replace(snapshot, view=seen, board=seen.board(snapshot.contest, by_place(snapshot.official())), memo={})


@once_a_snapshot
def closed(snapshot: ContestSnapshot) -> ContestSnapshot:
    """A snapshot for those who may not see anything of the contest yet: as before its start."""
    seen = replace(snapshot.view, problems=())
    return replace(
        snapshot, view=seen, board=seen.board(snapshot.contest, by_place(snapshot.official())), closed=True, memo={}
    )
