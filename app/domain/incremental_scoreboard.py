"""The quick twin of `scoreboard`: a board that is kept up to date as verdicts come, equal to it to the last bit.

What depends on one team's attempts at one problem alone (which answers count) is folded again when they change; what
depends on everybody (BEST, points, ranks) lies in columns, of which a new answer touches its own cell and a new BEST
one column. Where the best whole submission counts, every submission is a row of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property, partial
from typing import overload

import numpy as np

from app.domain.contests import OPEN, PROVISIONAL, CaseKind, Counting, Freeze, ScoredProblem, Team
from app.domain.fixed_point import total_bits
from app.domain.incremental_scoring import MICROSECOND, NEVER, Columns, Floats, Whole
from app.domain.scoreboard import Board, Cell, Chosen, ReferenceScores, Row, collation_key
from app.domain.scoring import Answers, Attempt, Bests, Counted, Fold, problem_points, submission_answers

LAST = np.iinfo(np.int64).max
MANY = 64
"""Teams' problems to be counted again, from which on their cells are written a column at a time."""


@dataclass(frozen=True)
class BoardArrays:
    """The numbers of a board, team by team in the order of `teams` and problem by problem in that of `problems`.

    order    places of `teams`, from the top; `ranks` are in that order
    times    when the points last rose, in microseconds, or NEVER; so are `improved`
    answers  per problem the answers of each row, and the row that counts for each team (-1: none)
    """

    problems: Sequence[ScoredProblem]
    phase: frozenset[CaseKind]
    teams: Sequence[Team]
    order: Whole
    ranks: Whole
    totals: Floats
    times: Whole
    scores: Floats
    improved: Whole
    judged: Whole
    pending: Whole
    answers: Sequence[tuple[Sequence[Answers], Whole]]
    bests: Mapping[str, Bests]

    def row(self, at: int) -> Row:
        """The line at a place, counted from the top."""
        team = int(self.order[at])
        points, time = float(self.totals[team]), moment(int(self.times[team]))
        return Row(int(self.ranks[at]), self.teams[team], points, time, _Cells(self, team))

    def cell(self, team: int, problem: int) -> Cell:
        """One team at one problem."""
        known = self.problems[problem]
        answers, rows = self.answers[problem]
        row = int(rows[team])
        return Cell(
            known.id,
            float(self.scores[problem, team]),
            moment(int(self.improved[problem, team])),
            answers[row] if row >= 0 else {},
            int(self.judged[problem, team]),
            int(self.pending[problem, team]),
            partial(problem_points, known, bests=self.bests[known.id], phase=self.phase),
        )

    def among(self, keep: Callable[[Team], bool]) -> BoardArrays:
        """The board of some teams alone, ranked on its own; points are as on the whole board."""
        some = np.array([at for at, team in enumerate(self.teams) if keep(team)], dtype=np.int64)
        place = np.empty(len(self.teams), dtype=np.int64)
        place[self.order] = np.arange(len(self.teams))
        order = np.argsort(place[some], kind="stable")
        totals, times = self.totals[some], self.times[some]
        return replace(
            self,
            teams=[self.teams[at] for at in some],
            order=order,
            ranks=shared_ranks(totals[order], times[order]),
            totals=totals,
            times=times,
            scores=self.scores[:, some],
            improved=self.improved[:, some],
            judged=self.judged[:, some],
            pending=self.pending[:, some],
            answers=[(answers, rows[some]) for answers, rows in self.answers],
        )


def moment(microseconds: int) -> timedelta | None:
    """A time of the columns."""
    return None if microseconds == NEVER else microseconds * MICROSECOND


def shared_ranks(totals: Floats, times: Whole) -> Whole:
    """Ranks of lines in order; equal points and times share one."""
    if not len(totals):
        return np.zeros(0, dtype=np.int64)
    new = np.ones(len(totals), dtype=bool)
    new[1:] = (totals[1:] != totals[:-1]) | (times[1:] != times[:-1])
    return np.maximum.accumulate(np.where(new, np.arange(1, len(totals) + 1), 0))


class _Cells(Sequence[Cell]):
    """The cells of one row, made when they are asked for."""

    def __init__(self, arrays: BoardArrays, team: int) -> None:
        self._arrays = arrays
        self._team = team

    @cached_property
    def _all(self) -> tuple[Cell, ...]:
        return tuple(self._arrays.cell(self._team, at) for at in range(len(self._arrays.problems)))

    @overload
    def __getitem__(self, at: int) -> Cell: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Cell]: ...
    def __getitem__(self, at: int | slice) -> Cell | Sequence[Cell]:
        return self._all[at]

    def __len__(self) -> int:
        return len(self._arrays.problems)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all)


class _Rows(Sequence[Row]):
    """The rows of a board, made when they are asked for."""

    def __init__(self, arrays: BoardArrays) -> None:
        self._arrays = arrays
        self._made: dict[int, Row] = {}

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | Sequence[Row]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        place = range(len(self))[at]
        if place not in self._made:
            self._made[place] = self._arrays.row(place)
        return self._made[place]

    def __len__(self) -> int:
        return len(self._arrays.teams)

    def __iter__(self) -> Iterator[Row]:
        return (self[at] for at in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


@dataclass(frozen=True, slots=True)
class LiveArrays(Board):
    """A board as it was at one moment, with its numbers as arrays."""

    arrays: BoardArrays = field(compare=False, repr=False)


def arrays_of(board: Board, problems: Sequence[ScoredProblem], phase: frozenset[CaseKind]) -> BoardArrays:
    """The numbers of any board of these problems, also of one that was put together by hand."""
    if isinstance(board, LiveArrays):
        return board.arrays
    rows, places = list(board.rows), np.arange(len(board.rows))
    shape = (len(problems), len(rows))
    cells = [[row.cells[at] for row in rows] for at in range(len(problems))]
    judged, pending = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    scores, improved = np.zeros(shape), np.full(shape, NEVER, dtype=np.int64)
    for at, column in enumerate(cells):
        judged[at] = [cell.num_judged for cell in column]
        pending[at] = [cell.num_pending for cell in column]
        scores[at] = [cell.score for cell in column]
        improved[at] = [since_start(cell.improved) for cell in column]
    return BoardArrays(
        problems,
        phase,
        [row.team for row in rows],
        places,
        np.array([row.rank for row in rows], dtype=np.int64),
        np.array([row.points for row in rows], dtype=np.float64),
        np.array([since_start(row.time) for row in rows], dtype=np.int64),
        scores,
        improved,
        judged,
        pending,
        [([cell.answers for cell in column], places) for column in cells],
        board.bests,
    )


def among(
    board: Board, problems: Sequence[ScoredProblem], phase: frozenset[CaseKind], teams: Collection[str]
) -> LiveArrays:
    """The board of some teams alone (by their ids), ranked on its own; points and BEST are as on the whole board."""
    some = arrays_of(board, problems, phase).among(lambda team: team.id in teams)
    return LiveArrays(_Rows(some), board.bests, some)


def since_start(time: timedelta | None) -> int:
    """A time as the columns have it."""
    return NEVER if time is None else time // MICROSECOND


@dataclass
class _Cell:
    """One team at one problem: what has been folded, and the rows it has in the columns.

    row   of a team whose answers count one by one; where whole submissions count, the row that only sets BEST
    sent  the rows of the submissions, by id, where whole submissions count
    """

    row: int
    keys: list[tuple[timedelta, int, object]] = field(default_factory=list)
    fold: Fold | None = None
    all_best: Fold | None = None
    sent: dict[int, int] = field(default_factory=dict)
    choice: int | None = None

    @property
    def fixed(self) -> int:
        """The row of the chosen submission, where whole submissions count; -1: none is chosen."""
        return -1 if self.choice is None else self.sent[self.choice]

    def copy(self) -> _Cell:
        """The same cell, which goes on by itself; `keys` are replaced as a whole and may be shared."""
        fold = None if self.fold is None else self.fold.copy()
        all_best = None if self.all_best is None else self.all_best.copy()
        return replace(self, fold=fold, all_best=all_best, sent=dict(self.sent))


def _changes(before: Answers, answers: Answers) -> Mapping[str, Counted | None]:
    """What is to be put in place of the answers of before; None: there is none any more."""
    changes: dict[str, Counted | None] = {
        name: counted
        for name, counted in answers.items()
        if (old := before.get(name)) is not counted and old != counted
    }
    changes.update(dict.fromkeys(before.keys() - answers.keys()))
    return changes


class _LiveProblem:
    """One problem of a live board: its columns, and each team's cell."""

    def __init__(
        self, problem: ScoredProblem, phase: frozenset[CaseKind], references: ReferenceScores, rows: int
    ) -> None:
        self.problem = problem
        self.rule = problem.rule
        self.whole = self.rule.counting is Counting.BEST
        self.columns = Columns(problem, phase, references.get(problem.id), rows)
        self.cells: dict[str, _Cell] = {}
        self.answers: list[Answers] = []
        self.lent = False
        self.known_bests: Bests | None = None
        self.places: _Places | None = None
        self._late: list[tuple[int, Mapping[str, Counted | None]]] | None = None

    def copy(self) -> _LiveProblem:
        """The same problem, which goes on by itself."""
        other = copy(self)
        other.columns = self.columns.copy()
        other.cells = {team: cell.copy() for team, cell in self.cells.items()}
        other.answers, other.lent = list(self.answers), False
        other.places = None  # is written in place
        return other

    @contextmanager
    def many(self) -> Iterator[None]:
        """Put what is counted meanwhile into the columns at the end, all at once: far quicker than one by one.

        Rows are taken away at once even so; that is right because a row is put only after its own removal.
        """
        self._late = []
        try:
            yield
        finally:
            late, self._late = self._late, None
            self.columns.change_many(late)

    def add_team(self, team: str) -> None:
        self.cells[team] = _Cell(self._new_row(setter=True))

    def remove_team(self, team: str) -> None:
        cell = self.cells.pop(team)
        for row in (cell.row, *cell.sent.values()):
            self._remove_row(row)

    def _new_row(self, *, setter: bool) -> int:
        self._own_answers()
        row = self.columns.add_row(setter=setter)
        while len(self.answers) <= row:
            self.answers.append({})
        self.known_bests = None
        return row

    def _remove_row(self, row: int) -> None:
        self._own_answers()
        self.columns.remove_row(row, self.answers[row])
        self.answers[row] = {}
        self.known_bests = None

    def _own_answers(self) -> None:
        """What a board was given must not change under it."""
        if self.lent:
            self.answers, self.lent = list(self.answers), False

    def _put(self, row: int, answers: Answers) -> None:
        before = self.answers[row]
        changes = _changes(before, answers) if before else answers
        if before is not answers:
            self._own_answers()
            self.answers[row] = answers
        if changes:
            self.known_bests = None
            if self._late is None:
                self.columns.change(row, changes)
            else:
                self._late.append((row, changes))

    def count(self, team: str, place: int, tries: Sequence[Attempt], choice: int | None) -> None:
        """Let these judged attempts of a team (at this place of all), in order, be all that counts."""
        cell, sent = self.cells[team], len(self.cells[team].sent)
        cell.choice = choice if any(each.id == choice for each in tries) else None
        news = self._continued(cell, tries)
        assert cell.fold is not None
        for attempt in news:
            answers = cell.fold.add(attempt)
            if cell.all_best is not None:
                cell.all_best.add(attempt)
                cell.sent[attempt.id] = self._new_row(setter=False)
                self._put(cell.sent[attempt.id], answers)
        if self.places is not None and cell.all_best is not None:
            if len(news) == len(cell.sent) - sent:
                self.places.append(place, list(cell.sent.values())[sent:], cell.fixed)
            else:
                self.places = None
        if cell.all_best is not None:
            self._put(cell.row, cell.all_best.counted)
        elif cell.choice is not None:
            stands = {attempt.id: answers for attempt, answers in submission_answers(tries, self.rule)}
            self._put(cell.row, stands[cell.choice])
        else:
            self._put(cell.row, cell.fold.counted)

    def _continued(self, cell: _Cell, tries: Sequence[Attempt]) -> Sequence[Attempt]:
        """Those attempts that follow what is folded; where something before has changed, all of them, afresh."""
        keys: list[tuple[timedelta, int, object]] = [(each.time, each.id, each.scores) for each in tries]
        known = len(cell.keys)
        same = cell.fold is not None and known <= len(keys)
        same = same and all(
            old[0] == new[0] and old[1] == new[1] and old[2] is new[2]
            for old, new in zip(cell.keys, keys, strict=False)
        )
        cell.keys = keys
        if same:
            return tries[known:]
        for row in cell.sent.values():
            self._remove_row(row)
        cell.sent = {}
        cell.fold = Fold(replace(self.rule, counting=Counting.LAST) if self.whole else self.rule)
        cell.all_best = Fold(replace(self.rule, counting=Counting.BEST_CASE)) if self.whole else None
        return tries

    def counted_rows(self, teams: Sequence[Team]) -> Whole:
        """The row that counts for each team; -1 where whole submissions count and there is none.

        That is the chosen submission's, else that of the first of those with most points.
        """
        if self.places is None:
            self.places = _Places.of([self.cells[team.id] for team in teams], whole=self.whole)
        return self.places.counted(self.columns.points)

    def bests(self) -> Bests:
        if self.known_bests is None:
            self.known_bests = self.columns.bests()
        return self.known_bests


@dataclass
class _Places:
    """The rows of each team, one after the other: `fixed` where it is said which one counts, else -1."""

    fixed: Whole
    rows: Whole
    counts: Whole

    @staticmethod
    def of(cells: Sequence[_Cell], *, whole: bool) -> _Places:
        if not whole:
            fixed = np.array([cell.row for cell in cells], dtype=np.int64)
            return _Places(fixed, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        return _Places(
            np.array([cell.fixed for cell in cells], dtype=np.int64),
            np.array([row for cell in cells for row in cell.sent.values()], dtype=np.int64),
            np.array([len(cell.sent) for cell in cells], dtype=np.int64),
        )

    def append(self, place: int, rows: Sequence[int], fixed: int) -> None:
        """A team has more rows, or chosen another one."""
        end = int(self.counts[: place + 1].sum())
        self.rows = np.insert(self.rows, end, np.array(rows, dtype=np.int64))
        self.counts[place] += len(rows)
        self.fixed[place] = fixed

    def counted(self, points: Floats) -> Whole:
        """The fixed row of each team, or the first of its rows with most points."""
        if not len(self.rows):
            return self.fixed.copy()
        some = np.flatnonzero(self.counts)
        starts = np.cumsum(self.counts)[some] - self.counts[some]
        mine = points[self.rows]
        most = np.repeat(np.maximum.reduceat(mine, starts), self.counts[some])
        first = np.minimum.reduceat(np.where(mine == most, np.arange(len(mine)), len(mine)), starts)
        found = self.fixed.copy()
        found[some] = np.where(found[some] >= 0, found[some], self.rows[first])
        return found


class LiveBoard:
    """A board that takes attempts, verdicts and teams as they come; `board` shows it as it is now.

    The arguments are those of `scoreboard`; problems, phase and references stay what they are.
    """

    def __init__(
        self,
        problems: Sequence[ScoredProblem],
        teams: Sequence[Team],
        attempts: Iterable[Attempt] = (),
        *,
        freeze: Freeze = OPEN,
        chosen: Chosen | None = None,
        phase: frozenset[CaseKind] = PROVISIONAL,
        references: ReferenceScores | None = None,
    ) -> None:
        self._phase = phase
        self._problems = {each.id: _LiveProblem(each, phase, references or {}, len(teams)) for each in problems}
        self._bits = total_bits(problems)
        self._tries: dict[tuple[str, str], dict[int, Attempt]] = {}
        self._where: dict[int, tuple[str, str]] = {}
        self._freeze = freeze
        self._chosen: Chosen = chosen or {}
        self._teams: Sequence[Team] = ()
        self._visible: list[Team] = []
        self._place: dict[str, int] = {}
        self._names: Whole = np.zeros(0, dtype=np.int64)
        self._judged: Whole = np.zeros((len(self._problems), 0), dtype=np.int64)
        self._pending: Whole = np.zeros((len(self._problems), 0), dtype=np.int64)
        self._stale: set[tuple[str, str]] = set()
        self.set_teams(teams)
        self.put(attempts)

    def copy(self) -> LiveBoard:
        """The same board, which goes on by itself: with another freeze only what that hides is folded again.

        A board whose freeze hides more is the one to copy: what follows is folded on, what is taken back from scratch.
        """
        self._refresh()
        other = copy(self)
        other._problems = {id_: live.copy() for id_, live in self._problems.items()}
        other._tries = {key: dict(tries) for key, tries in self._tries.items()}
        other._where, other._stale = dict(self._where), set()
        other._judged, other._pending = self._judged.copy(), self._pending.copy()
        return other

    def put(self, attempts: Iterable[Attempt]) -> None:
        """Take attempts: new ones, or those known by their ids as they are now."""
        for attempt in attempts:
            key = (attempt.team_id, attempt.problem_id)
            if self._where.setdefault(attempt.id, key) != key:
                self.drop([attempt.id])
                self._where[attempt.id] = key
            self._tries.setdefault(key, {})[attempt.id] = attempt
            self._stale.add(key)

    def drop(self, ids: Iterable[int]) -> None:
        """Forget attempts."""
        for id_ in ids:
            key = self._where.pop(id_, None)
            if key is not None:
                del self._tries[key][id_]
                self._stale.add(key)

    def set_teams(self, teams: Sequence[Team]) -> None:
        """Let these be the teams: hidden and disqualified ones keep their attempts, and count nowhere."""
        if teams == self._teams:
            return
        before = {team.id for team in self._visible}
        self._teams = list(teams)
        visible = [team for team in teams if team.counts]
        now = {team.id for team in visible}
        for problem in self._problems.values():
            for gone in before - now:
                problem.remove_team(gone)
            for team in visible:
                if team.id not in before:
                    problem.add_team(team.id)
            problem.columns.set_teams(len(visible))
            problem.known_bests = problem.places = None
        old_place = self._place
        self._visible, self._place = visible, {team.id: at for at, team in enumerate(visible)}
        self._stale.update((team, problem) for team in now - before for problem in self._problems)
        kept = [old_place.get(team.id, -1) for team in visible]
        self._judged, self._pending = (_moved(each, kept) for each in (self._judged, self._pending))
        by_name = sorted(range(len(visible)), key=lambda at: (collation_key(visible[at].name), visible[at].id))
        self._names = np.empty(len(visible), dtype=np.int64)
        self._names[by_name] = np.arange(len(visible))

    def set_freeze(self, freeze: Freeze) -> None:
        """Let this be what is hidden."""
        if freeze == self._freeze:
            return
        for key, tries in self._tries.items():
            if any(freeze.hides(*key, a.time) != self._freeze.hides(*key, a.time) for a in tries.values()):
                self._stale.add(key)
        self._freeze = freeze

    def set_chosen(self, chosen: Chosen) -> None:
        """Let these be the submissions that teams have chosen."""
        changed = {key for key in chosen.keys() | self._chosen.keys() if chosen.get(key) != self._chosen.get(key)}
        self._stale.update(changed)
        self._chosen = dict(chosen)

    def _refresh(self) -> None:
        with ExitStack() as stack:
            if len(self._stale) >= MANY:
                for live in self._problems.values():
                    stack.enter_context(live.many())
            self._count_stale()
        for live in self._problems.values():
            live.columns.refresh()

    def _count_stale(self) -> None:
        places = {problem: at for at, problem in enumerate(self._problems)}
        for team, problem in self._stale:
            if team not in self._place or problem not in self._problems:
                continue
            tries = self._tries.get((team, problem), {}).values()
            judged = [a for a in tries if a.scores is not None and not self._freeze.hides(team, problem, a.time)]
            judged.sort(key=lambda attempt: (attempt.time, attempt.id))
            self._judged[places[problem], self._place[team]] = len(judged)
            self._pending[places[problem], self._place[team]] = len(tries) - len(judged)
            self._problems[problem].count(team, self._place[team], judged, self._chosen.get((team, problem)))
        self._stale.clear()

    def board(self) -> LiveArrays:
        """The board as it is now; it stays so whatever comes."""
        self._refresh()
        arrays = self._arrays()
        return LiveArrays(_Rows(arrays), arrays.bests, arrays)

    def _arrays(self) -> BoardArrays:
        lives, teams = list(self._problems.values()), self._visible
        shape = (len(lives), len(teams))
        scores, improved = np.zeros(shape), np.full(shape, NEVER, dtype=np.int64)
        answers: list[tuple[Sequence[Answers], Whole]] = []
        for at, live in enumerate(lives):
            rows = live.counted_rows(teams)
            there = rows >= 0
            scores[at, there] = live.columns.points[rows[there]]
            improved[at, there] = live.columns.latest[rows[there]]
            live.lent = True
            answers.append((live.answers, rows))
        grains = np.rint(np.ldexp(scores, self._bits)).astype(np.int64).sum(axis=0)
        totals = np.ldexp(grains.astype(np.float64), -self._bits)
        times = np.where(totals > 0, improved.max(axis=0, initial=NEVER), NEVER)
        order = np.lexsort((self._names, np.where(times == NEVER, LAST, times), -totals))
        ranks = shared_ranks(totals[order], times[order])
        bests = {live.problem.id: live.bests() for live in lives}
        return BoardArrays(
            [live.problem for live in lives],
            self._phase,
            teams,
            order,
            ranks,
            totals,
            times,
            scores,
            improved,
            self._judged.copy(),
            self._pending.copy(),
            answers,
            bests,
        )


def _moved(counts: Whole, kept: Sequence[int]) -> Whole:
    """Columns in a new order; -1: a new one."""
    found = np.zeros((len(counts), len(kept)), dtype=np.int64)
    places = np.array(kept, dtype=np.int64)
    found[:, places >= 0] = counts[:, places[places >= 0]]
    return found
