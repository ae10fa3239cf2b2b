"""The quick twin of `scoring`: the points of one problem's rows, kept up to date with their raw scores.

A column is a test case, a row whatever is worth points: a team with the answers that count, or one of its submissions.
A new answer touches its own cell; if it is a new BEST it touches its column, all rows at once. From there on there are
only sums of whole grains, to which the difference is added, so that the result is that of `problem_points` to the last
bit. What a row is worth at a case is a share of BEST (`score_columns`); what a group makes of it is here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from app.domain.contests import Aggregation, CaseKind, Direction, Kind, ScoredProblem
from app.domain.fixed_point import weights
from app.domain.score_columns import WHOLE, Floats, Rows, ScoreColumns, Whole
from app.domain.scoring import Bests, Counted, RawScore, within_one

NEVER = np.iinfo(np.int64).min
FIRST_ROWS = 16
ROWS_AT_ONCE = 8192
MICROSECOND = timedelta(microseconds=1)


def earned_by_all(weight: int, shares: Floats) -> Whole:
    """`earned` for many shares at once."""
    grains = np.minimum(np.rint(float(weight) * shares).astype(np.int64), weight)
    grains[shares >= 1.0] = weight
    return grains


def earned_each(weights_: Whole, shares: Floats) -> Whole:
    """`earned` of one weight and share after the other."""
    grains = np.minimum(np.rint(weights_.astype(np.float64) * shares).astype(np.int64), weights_)
    return np.where(shares >= 1.0, weights_, grains)


class Columns:
    """The raw scores, shares and points of the rows of one problem in one phase. Call `refresh` after changes.

    `points` are as `problem_points` gives them, `latest` is when they last rose, in microseconds, or NEVER.

    Invariants. At any time raw scores and times of improvement (`scores`, `improved`) are those of the answers put in;
    everything else is of the last `refresh`. A cell changed since then is noted once: in `_touched`, by column, where
    the shares of its whole column may differ, else in `_in_row`, by row. A column is in `_whole` where all its shares
    may differ though none of its cells has changed, in `_lost_best` where only its BEST must be looked for again.
    `_given` has the checker's share of each cell changed since, where points are absolute.

    After a `refresh`, for each group g and row r: `_full[g, r]` counts the cases whose share is 1, and, where g adds up
    its cases, `_sums[g, r]` is the grains they earn. Both are kept by adding differences of whole numbers, which is
    exact; so whoever writes a share must add its difference to both, in the same step.
    """

    def __init__(
        self,
        problem: ScoredProblem,
        phase: frozenset[CaseKind],
        reference: Mapping[str, RawScore] | None = None,
        rows: int = FIRST_ROWS,
    ) -> None:
        self.problem = problem
        self.rule = problem.rule
        self.weights = weights(problem, phase)
        self.rows = 0
        names, room = [case.name for case in problem.cases], max(rows, 1)
        self.scores = ScoreColumns(self.rule, names, room)
        self._scored = len(names)
        self._counting = np.array([name in self.weights.cases for name in names], dtype=bool)
        self._weight = [self.weights.cases.get(name, 0) for name in names]
        self._weights_as_floats = np.array(self._weight, dtype=np.float64)[:, np.newaxis]
        self._weight_array: Whole = np.array(self._weight, dtype=np.int64)
        self._group = np.array([self.weights.group_of.get(name, 0) for name in names], dtype=np.int64)
        self._in_sum = self._counting & np.array(
            [self.weights.groups[at].group.aggregation is Aggregation.SUM for at in self._group.tolist()], dtype=bool
        )
        groups = len(self.weights.groups)
        self.share: Floats = np.zeros((self._scored, room))
        self.improved: Whole = np.full((self._scored, room), NEVER, dtype=np.int64)
        self._sums: Whole = np.zeros((groups, room), dtype=np.int64)
        self._full: Whole = np.zeros((groups, room), dtype=np.int64)
        self._gains: Whole = np.zeros((groups, room), dtype=np.int64)
        self.points: Floats = np.zeros(room)
        self.latest: Whole = np.full(room, NEVER, dtype=np.int64)
        self._free: list[int] = []
        self._touched: dict[int, set[int]] = {}
        self._in_row: dict[int, set[int]] = {}
        self._lost_best: set[int] = set()
        self._whole: set[int] = set()
        self._given: dict[tuple[int, int], float] = {}
        self._new_rows = False
        if self.rule.reference_counts:
            for name, score in (reference or {}).items():
                if score.accepted and score.raw is not None:
                    at = self.scores.column(name)
                    self.scores.refer(at, score.raw)
                    self._whole.add(at)

    def add_row(self, *, setter: bool) -> int:
        """A new row without answers; returns its number."""
        if self._free:
            row = self._free.pop()
        else:
            row = self.rows
            self.rows += 1
            if row >= len(self.points):
                self._grow()
        self.scores.setters[row] = setter
        self._new_rows = True
        return row

    def remove_row(self, row: int, answers: Mapping[str, Counted]) -> None:
        """Take a row with its answers away."""
        self.change(row, dict.fromkeys(answers))
        self.scores.setters[row] = False
        self._free.append(row)

    def _grow(self) -> None:
        more = len(self.points)
        self.scores.grow()
        self.share = np.pad(self.share, ((0, 0), (0, more)))
        self.improved = np.pad(self.improved, ((0, 0), (0, more)), constant_values=NEVER)
        self._sums, self._full, self._gains = (
            np.pad(each, ((0, 0), (0, more))) for each in (self._sums, self._full, self._gains)
        )
        self.points = np.pad(self.points, (0, more))
        self.latest = np.pad(self.latest, (0, more), constant_values=NEVER)

    def set_teams(self, teams: int) -> None:
        """Say how many teams there are, which is what the kind `rank` divides by."""
        if teams != self.scores.teams:
            self.scores.teams = teams
            if self.rule.kind is Kind.RANK:
                self._whole.update(range(len(self.scores.columns)))

    def change(self, row: int, answers: Mapping[str, Counted | None]) -> None:
        """Put answers into a row in place of those it had for the same cases; None: there is none any more."""
        for name, counted in answers.items():
            at = self.scores.column(name)
            score = None if counted is None or not counted.score.accepted else counted.score
            before = self.scores.raw[at, row]
            if self.scores.write(at, row, None if score is None else score.raw):
                self._whole.add(at)
            self._touch(at, row, before, self.scores.raw[at, row])
            if at < self._scored:
                self.improved[at, row] = NEVER if counted is None else counted.improved // MICROSECOND
                if self.rule.kind is Kind.ABSOLUTE:
                    share = 0 if score is None or score.multiplier is None else score.multiplier
                    self._given[at, row] = within_one(float(share))

    def change_many(self, changes: Sequence[tuple[int, Mapping[str, Counted | None]]]) -> None:
        """As `change` for each (row, answers) in turn, no row twice: a column at a time where its numbers allow it."""
        cells: dict[int, list[tuple[int, Counted | None]]] = {}
        for row, answers in changes:
            for name, counted in answers.items():
                at = self.scores.at.get(name)
                cells.setdefault(self.scores.column(name) if at is None else at, []).append((row, counted))
        for at, column in cells.items():
            if not self._change_column(at, column):
                for row, counted in column:
                    self.change(row, {self.scores.columns[at].name: counted})

    def _change_column(self, at: int, cells: Sequence[tuple[int, Counted | None]]) -> bool:
        """Write many cells of one column at once; False, and nothing written, where they must go one by one."""
        if at >= self._scored or not self.scores.is_whole(at):
            return False
        scores = [None if counted is None or not counted.score.accepted else counted.score for _, counted in cells]
        numbers = [None if score is None else score.raw for score in scores]
        if not all(number is None or (type(number) is int and -WHOLE <= number <= WHOLE) for number in numbers):
            return False
        rows = np.array([row for row, _ in cells], dtype=np.int64)
        self.scores.raw[at, rows] = np.array(numbers, dtype=np.float64)  # None becomes NaN
        times = [NEVER if counted is None else counted.improved // MICROSECOND for _, counted in cells]
        self.improved[at, rows] = np.array(times, dtype=np.int64)
        self._touched.setdefault(at, set()).update(rows.tolist())
        if self.rule.kind is Kind.ABSOLUTE:
            for (row, _), score in zip(cells, scores, strict=True):
                share = 0 if score is None or score.multiplier is None else score.multiplier
                self._given[at, row] = within_one(float(share))
        return True

    def _touch(self, at: int, row: int, before: float, now: float) -> None:
        """Remember a cell: with its column where BEST may be another one, else with its row, which is quicker."""
        if at >= self._scored or self.scores.columns[at].exact is not None or self.rule.kind is Kind.RANK:
            self._touched.setdefault(at, set()).add(row)
            return
        best = self.scores.bests[at]
        loses = before == best or (np.isnan(best) and not np.isnan(now))
        gains = now > best if self.rule.direction is Direction.MAXIMISE else now < best
        if self.scores.setters[row] and (loses or gains) and before != now:
            if self.rule.kind is Kind.RELATIVE:
                self._touched.setdefault(at, set()).add(row)
                return
            self._lost_best.add(at)
        self._in_row.setdefault(row, set()).add(at)

    def load(self, raw: Floats, improved: Whole) -> None:
        """Put whole columns in, of rows that all take part in BEST; the raw scores are floats exactly."""
        self._scored_rows(raw.shape[1])
        self.scores.raw[: self._scored, : self.rows] = raw
        self.improved[:, : self.rows] = improved
        self.scores.setters[: self.rows] = True
        self._whole.update(range(self._scored))
        if self.rule.kind is Kind.ABSOLUTE:
            raise ValueError("columns of raw scores: expected a relative kind or rank, found absolute")

    def _scored_rows(self, rows: int) -> None:
        while len(self.points) < rows:
            self._grow()
        self.rows = max(self.rows, rows)
        self._new_rows = True

    def refresh(self) -> None:
        """Bring shares, groups, points and times up to date with what has changed."""
        if not (self._touched or self._in_row or self._whole or self._new_rows):
            return
        dirty = np.zeros(self.rows, dtype=bool)
        for at in sorted(self._touched.keys() | self._whole | self._lost_best):
            if at in self._touched:
                dirty[list(self._touched[at])] = True
            self._refresh_column(at, dirty)
        for row, cells in self._in_row.items():
            dirty[row] = True
            columns = self.scores.columns  # a whole column that has become one of exact numbers is done already
            self._refresh_row(row, np.array([at for at in cells if columns[at].exact is None], dtype=np.int64))
        self._refresh_groups(dirty)
        self._refresh_times(np.flatnonzero(dirty))
        self._touched, self._in_row, self._given, self._new_rows = {}, {}, {}, False
        self._whole, self._lost_best = set(), set()

    def _refresh_column(self, at: int, dirty: NDArray[np.bool_]) -> None:
        moved = self.scores.find_best(at, self.rows)
        if at >= self._scored:
            return
        if self.rule.kind is Kind.ABSOLUTE:
            some = sorted(self._touched.get(at, ()))
            rows: Rows = np.array(some, dtype=np.int64)
            shares = np.array([self._given[at, row] for row in some], dtype=np.float64)
        elif moved or at in self._whole:
            rows = slice(0, self.rows)
            shares = self.scores.shares(at, rows, self.rows)
        else:
            rows = np.array(sorted(self._touched[at]), dtype=np.int64)
            shares = self.scores.shares(at, rows, self.rows)
        old = self.share[at, rows].copy()
        self.share[at, rows] = shares
        group = self._group[at]
        self._full[group, rows] += (shares >= 1.0).astype(np.int64) - (old >= 1.0)
        if not self._counting[at]:
            return
        before, after = (earned_by_all(self._weight[at], each) for each in (old, shares))
        dirty[rows] |= (before > 0) != (after > 0)
        if self.weights.groups[group].group.aggregation is Aggregation.SUM:
            self._sums[group, rows] += after - before

    def _refresh_row(self, row: int, cells: NDArray[np.int64]) -> None:
        """Cells of one row, in columns in which BEST has stayed what it was."""
        if self.rule.kind is Kind.ABSOLUTE:
            shares = np.array([self._given[int(at), row] for at in cells], dtype=np.float64)
        else:
            shares = self.scores.row_shares(row, cells)
        old = self.share[cells, row]
        self.share[cells, row] = shares
        groups, sums = self._group[cells], self._in_sum[cells]
        np.add.at(self._full[:, row], groups, (shares >= 1.0).astype(np.int64) - (old >= 1.0))
        weight = self._weight_array[cells]
        change = earned_each(weight, shares) - earned_each(weight, old)
        np.add.at(self._sums[:, row], groups[sums], change[sums])

    def _refresh_groups(self, dirty: NDArray[np.bool_]) -> None:
        rows = slice(0, self.rows)
        places = {weight.group.name: at for at, weight in enumerate(self.weights.groups)}
        grains = np.zeros(self.rows, dtype=np.int64)
        for at, weight in enumerate(self.weights.groups):
            if not weight.counts:
                continue
            gain = self._group_gain(at)
            for name in weight.group.require_pass:
                if name in places:
                    needed = places[name]
                    gain = np.where(self._full[needed, rows] == len(self.weights.groups[needed].cases), gain, 0)
                else:
                    gain = np.zeros(self.rows, dtype=np.int64)
            dirty |= (gain > 0) != (self._gains[at, rows] > 0)
            self._gains[at, rows] = gain
            grains += gain
        points = np.minimum(np.ldexp(grains.astype(np.float64), -self.weights.bits), self.weights.most)
        self.points[rows] = np.where(grains >= self.weights.full, self.weights.most, points)

    def _group_gain(self, at: int) -> Whole:
        weight, rows = self.weights.groups[at], slice(0, self.rows)
        if not weight.cases:
            return np.zeros(self.rows, dtype=np.int64)
        if weight.group.aggregation is Aggregation.SUM:
            return self._sums[at, rows]
        if weight.group.aggregation is Aggregation.MIN:
            worst = self.share[[self.scores.at[name] for name in weight.cases], rows].min(axis=0)
            return earned_by_all(weight.full, worst)
        return np.where(self._full[at, rows] == len(weight.cases), weight.full, 0).astype(np.int64)

    def _refresh_times(self, rows: Whole) -> None:
        """When the points of these rows last rose: the latest improvement of a case that earns something."""
        latest = np.full(len(rows), NEVER, dtype=np.int64)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            some = rows[start : start + ROWS_AT_ONCE]
            earning = np.rint(self._weights_as_floats * self.share[:, some]) > 0
            earning &= self._gains[:, some][self._group] > 0
            times = np.where(earning, self.improved[:, some], NEVER)
            latest[start : start + ROWS_AT_ONCE] = times.max(axis=0, initial=NEVER)
        self.latest[rows] = np.where(self.points[rows] > 0, latest, NEVER)

    def bests(self) -> Bests:
        """BEST as `scoring` has it, of the last refresh."""
        return self.scores.as_bests()

    def copy(self) -> Columns:
        """The same columns, which go on by themselves: all that is ever written in place is copied."""
        self.refresh()  # what is touched is empty after it, and made anew below
        other = copy(self)
        other.scores = self.scores.copy()
        for name in ("share", "improved", "points", "latest", "_sums", "_full", "_gains"):
            setattr(other, name, getattr(self, name).copy())
        other._free = list(self._free)
        other._touched, other._in_row, other._given = {}, {}, {}
        other._whole, other._lost_best = set(), set()
        return other

    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = (
            self.scores.raw,
            self.share,
            self.improved,
            self._sums,
            self._full,
            self._gains,
            self.points,
            self.latest,
        )
        return sum(each.nbytes for each in arrays) + self.scores.setters.nbytes
