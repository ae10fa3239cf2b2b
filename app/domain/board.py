"""A board as arrays of numbers, with rows and cells made from them on demand, and ranked as the rules say.

- The reveal of a frozen board: the next places, from the bottom up, as in the ceremonies of the ICPC.

`tests/builders/slow_board.py` computes a board from scratch, row by row: the authority that this is tested against.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.domain import contests, counting, incremental_scoring
from app.domain.counting import Place
from app.domain.score_columns import Floats, Whole
from app.domain.scoring import Bests, ProblemPoints, problem_points

# Per problem and case, the raw score of the expected answer.
ReferenceScores = Mapping[str, Mapping[str, counting.RawScore]]
# Per team and problem, the id of the submission the team has chosen.
Chosen = Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class Cell:
    """One team at one problem: score and time of its last rise, counted answers, judged and pending submissions."""

    problem_id: str
    score: float
    improved: timedelta | None
    answers: counting.Answers
    num_judged: int
    num_pending: int
    compute: Callable[[], ProblemPoints] = field(compare=False, repr=False)

    @cached_property
    def points(self) -> ProblemPoints:
        """The parts of the score: groups, and each case's share and points."""
        return self.compute()


@dataclass(frozen=True)
class Row:
    """One team's row: rank (1-based, shared on ties), total points, time of the last improvement, cells in order."""

    rank: int
    team: contests.Team
    points: float
    time: timedelta | None
    board: Board = field(compare=False, repr=False)
    place: int = field(compare=False, repr=False)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The team at each problem."""
        return tuple(self.board.cell(self.place, problem) for problem in range(len(self.board.problems)))


@dataclass(frozen=True, eq=False)
class Board:
    """The numbers of a board, team by team in the order of `teams` and problem by problem in that of `problems`.

    order    places of `teams`, from the top; `ranks` are in that order
    times    when the points last rose, in microseconds, or NEVER; so are `improved`
    scores   as views show them; `unrounded` is what totals are made of
    answers  those that count
    bests    BEST per problem and case
    """

    problems: Sequence[contests.ScoredProblem]
    phase: frozenset[contests.CaseKind]
    teams: Sequence[contests.Team]
    order: Whole
    ranks: Whole
    totals: Floats
    times: Whole
    scores: Floats
    unrounded: Floats
    improved: Whole
    judged: Whole
    pending: Whole
    answers: NDArray[np.object_]
    bests: Mapping[str, Bests]

    @cached_property
    def rows(self) -> Sequence[Row]:
        """The rows of all teams, from the top."""
        return [self.row(at) for at in range(len(self.teams))]

    def row(self, at: int) -> Row:
        """The row at a place, counted from the top."""
        team = int(self.order[at])
        points, time = float(self.totals[team]), moment(int(self.times[team]))
        return Row(int(self.ranks[at]), self.teams[team], points, time, self, team)

    def cell(self, team: int, problem: int) -> Cell:
        """One team at one problem."""
        known = self.problems[problem]
        answers: counting.Answers = self.answers[problem, team]
        return Cell(
            known.id,
            float(self.scores[problem, team]),
            moment(int(self.improved[problem, team])),
            answers,
            int(self.judged[problem, team]),
            int(self.pending[problem, team]),
            lambda: problem_points(known, answers, self.bests[known.id], self.phase),
        )

    def among(self, keep: Callable[[contests.Team], bool]) -> Board:
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
            **{name: getattr(self, name)[..., some] for name in ("totals", "times", *Numbers._fields)},
        )


def moment(microseconds: int) -> timedelta | None:
    """Convert a time of the columns to a timedelta."""
    return None if microseconds == incremental_scoring.NEVER else microseconds * incremental_scoring.MICROSECOND


def shared_ranks(*keys: Floats | Whole) -> Whole:
    """Ranks of rows in order; rows with equal keys share one."""
    new = np.ones(len(keys[0]), dtype=bool)
    new[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return np.maximum.accumulate(np.where(new, np.arange(1, len(new) + 1), 0))


def standings(totals: Floats, tolerance: float, parts_of: Callable[[int], Sequence[Fraction]]) -> Whole:
    """Number rows so that more points have a larger number, and exactly equal points the same one.

    `parts_of` gives what the exact total of a row is the sum of; it is asked only where totals differ by no more than
    the `tolerance`.
    """
    order = np.argsort(totals)
    near = np.diff(totals[order]) <= tolerance
    standing = np.empty(len(totals), dtype=np.int64)
    standing[order] = np.arange(len(totals))
    edges = np.flatnonzero(np.diff(np.concatenate(([False], near, [False])).astype(np.int64)))
    for start, end in edges.reshape(-1, 2).tolist():
        rows = order[start : end + 1].tolist()
        points = _comparable([parts_of(row) for row in rows])
        numbers = {value: start + at for at, value in enumerate(sorted(set(points)))}
        standing[rows] = [numbers[value] for value in points]
    return standing


def _comparable(groups: Sequence[Sequence[Fraction]]) -> list[int]:
    """Whole numbers that compare as the sums of some fractions do; sums of fractions take ten times as long."""
    ratios = [[part.as_integer_ratio() for part in parts] for parts in groups]
    common = lcm(*{below for parts in ratios for _, below in parts})
    return [sum([above * (common // below) for above, below in parts]) for parts in ratios]


class Numbers(NamedTuple):
    """The numbers of each team at each problem, by problem and team: see `Board`."""

    scores: Floats
    unrounded: Floats
    improved: Whole
    judged: Whole
    pending: Whole
    answers: NDArray[np.object_]

    @staticmethod
    def zeros(problems: int, teams: int) -> Numbers:
        """Numbers of teams that have sent nothing."""
        shape, never = (problems, teams), np.full((problems, teams), incremental_scoring.NEVER, dtype=np.int64)
        judged, pending = np.zeros((2, *shape), dtype=np.int64)
        return Numbers(np.zeros(shape), np.zeros(shape), never, judged, pending, np.full(shape, {}, dtype=object))


def name_order(teams: Sequence[contests.Team]) -> Whole:
    """The place of each team in the order of names."""
    by_name = sorted(range(len(teams)), key=lambda at: (collation_key(teams[at].name), teams[at].id))
    names = np.empty(len(teams), dtype=np.int64)
    names[by_name] = np.arange(len(teams))
    return names


def collation_key(name: str) -> tuple[str, str]:
    """Alphabetical order of names: letters before accents before case, close to the Unicode Collation Algorithm.

    The exact tables of UCA are not in the standard library; equal ranks of names beyond Latin, Greek and Cyrillic may
    therefore be listed in another order than `en-US` gives.
    """
    letters = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return letters.casefold(), name.swapcase()


class Step(StrEnum):
    """How much is opened at once: one cell, all that is left of the lowest team that has something, or everything."""

    CELL = "cell"
    ROW = "row"
    ALL = "all"


def pending(board: Board, hidden: Collection[Place]) -> list[Place]:
    """The `hidden` places, from the bottom of the board to its top."""
    places = ((row.team.id, cell.problem_id) for row in reversed(board.rows) for cell in row.cells)
    return [place for place in places if place in hidden]


def opened(waiting: Sequence[Place], step: Step) -> list[Place]:
    """The places that a step opens of the `pending` ones."""
    if step is Step.CELL:
        return list(waiting[:1])
    return [place for place in waiting if step is Step.ALL or place[0] == waiting[0][0]]
