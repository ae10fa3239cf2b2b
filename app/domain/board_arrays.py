"""A board as arrays of numbers, with rows and cells made from them on demand.

- Virtual teams ranked among the official ones, without a part in BEST.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fractions import Fraction
from functools import cached_property
from typing import overload

import numpy as np

from app.domain.contests import CaseKind, ScoredProblem, Team
from app.domain.counting import Answers, Attempt, counted_answers
from app.domain.fixed_point import DECIMALS, total_scale
from app.domain.incremental_scoring import MICROSECOND, NEVER
from app.domain.score_columns import Floats, Whole
from app.domain.scoreboard import Board, Cell, Row, cell_of, ranked, row_of
from app.domain.scoring import Bests, Measure


@dataclass(frozen=True)
class BoardArrays:
    """The numbers of a board, team by team in the order of `teams` and problem by problem in that of `problems`.

    order    places of `teams`, from the top; `ranks` are in that order
    times    when the points last rose, in microseconds, or NEVER; so are `improved`
    scores   as views show them; `unrounded` is what totals are made of
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
    unrounded: Floats
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
            float(self.unrounded[problem, team]),
            Measure(known, self.bests[known.id], self.phase),
        )

    def among(self, keep: Callable[[Team], bool]) -> BoardArrays:
        """The board of some teams alone, ranked on its own; points are as on the whole board."""
        some = np.array([at for at, team in enumerate(self.teams) if keep(team)], dtype=np.int64)
        place = np.empty(len(self.teams), dtype=np.int64)
        place[self.order] = np.arange(len(self.teams))
        order = np.argsort(place[some], kind="stable")
        return replace(
            self,
            teams=[self.teams[at] for at in some],
            order=order,
            ranks=shared_ranks(self.ranks[place[some][order]]),
            totals=self.totals[some],
            times=self.times[some],
            scores=self.scores[:, some],
            unrounded=self.unrounded[:, some],
            improved=self.improved[:, some],
            judged=self.judged[:, some],
            pending=self.pending[:, some],
            answers=[(answers, rows[some]) for answers, rows in self.answers],
        )


def moment(microseconds: int) -> timedelta | None:
    """Convert a time of the columns to a timedelta."""
    return None if microseconds == NEVER else microseconds * MICROSECOND


def shared_ranks(*keys: Floats | Whole) -> Whole:
    """Ranks of rows in order; rows with equal keys share one."""
    new = np.ones(len(keys[0]), dtype=bool)
    new[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return np.maximum.accumulate(np.where(new, np.arange(1, len(new) + 1), 0))


def standings(totals: Floats, tolerance: float, exact: Callable[[int], Fraction]) -> Whole:
    """Number rows so that more points have a larger number, and exactly equal points the same one.

    `exact` gives the exact total of a row; it is asked only where totals differ by no more than the `tolerance`.
    """
    order = np.argsort(totals)
    near = np.diff(totals[order]) <= tolerance
    standing = np.empty(len(totals), dtype=np.int64)
    standing[order] = np.arange(len(totals))
    edges = np.flatnonzero(np.diff(np.concatenate(([False], near, [False])).astype(np.int64)))
    for start, end in edges.reshape(-1, 2).tolist():
        rows = order[start : end + 1].tolist()
        points = {row: exact(row) for row in rows}
        numbers = {value: start + at for at, value in enumerate(sorted(set(points.values())))}
        standing[rows] = [numbers[points[row]] for row in rows]
    return standing


class _Cells(Sequence[Cell]):
    """The cells of one row, made on demand."""

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


class Rows(Sequence[Row]):
    """The rows of a board, made on demand."""

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
    """A board at one moment, with its numbers as arrays."""

    arrays: BoardArrays = field(compare=False, repr=False)


def arrays_of(board: Board, problems: Sequence[ScoredProblem], phase: frozenset[CaseKind]) -> BoardArrays:
    """The arrays of any board of these problems, also of one made from scratch."""
    if isinstance(board, LiveArrays):
        return board.arrays
    rows, places = list(board.rows), np.arange(len(board.rows))
    shape = (len(problems), len(rows))
    cells = [[row.cells[at] for row in rows] for at in range(len(problems))]
    judged, pending = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    scores, unrounded, improved = np.zeros(shape), np.zeros(shape), np.full(shape, NEVER, dtype=np.int64)
    for at, column in enumerate(cells):
        judged[at] = [cell.num_judged for cell in column]
        pending[at] = [cell.num_pending for cell in column]
        scores[at] = [cell.score for cell in column]
        unrounded[at] = [cell.unrounded for cell in column]
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
        unrounded,
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
    return LiveArrays(Rows(some), board.bests, some)


def since_start(time: timedelta | None) -> int:
    """Convert a time to that of the columns."""
    return NEVER if time is None else time // MICROSECOND


def ranked_with(
    board: Board,
    problems: Sequence[ScoredProblem],
    teams: Sequence[Team],
    attempts: Iterable[Attempt],
    phase: frozenset[CaseKind],
) -> Board:
    """Rank virtual teams into the board. The other teams keep their points; their ranks may change."""
    tries = list(attempts)
    scale = total_scale(problems)
    rows = [row_of(team, [_cell(board, problem, team, tries, phase) for problem in problems], scale) for team in teams]
    mixed = [*board.rows, *rows]
    totals = np.array([row.points for row in mixed], dtype=np.float64)
    standing = standings(totals, scale.tolerance + 2 / DECIMALS, lambda at: mixed[at].exact)
    return Board(ranked(mixed, standing.tolist()), board.bests)


def _cell(
    board: Board, problem: ScoredProblem, team: Team, attempts: Sequence[Attempt], phase: frozenset[CaseKind]
) -> Cell:
    measure = Measure(problem, board.bests.get(problem.id) or Bests(problem.rule), phase)
    tries = [a for a in attempts if a.team_id == team.id and a.problem_id == problem.id]
    answers = counted_answers(tries, problem.rule, lambda answers: measure.points(answers).points)
    judged = sum(1 for a in tries if a.scores is not None)
    return cell_of(measure, answers, judged, len(tries) - judged)
