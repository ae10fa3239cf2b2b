"""The quick twin of `scoring`: one problem's raw scores as columns, and its points kept up to date with them.

A column is a test case, a row whatever is worth points: a team with the answers that count, or one of its submissions.
A new answer touches its own cell; if it is a new BEST it touches its column, all rows at once. From there on there are
only sums of whole grains, to which the difference is added, so that the result is that of `problem_points` to the last
bit.

Quotients of floats are those of the exact numbers as long as both numbers are floats exactly. A column holds its raw
scores times a whole number that makes them so, such as 100 for two decimals. A column for which there is no such
number keeps its exact numbers and is computed one by one, by the very functions of `scoring`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.domain.contests import Aggregation, CaseKind, Direction, Kind, ScoredProblem
from app.domain.fixed_point import weights
from app.domain.scoring import Bests, Counted, Exact, RawScore, relative, within_one
from app.domain.verdicts import CaseVerdict

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Rows = slice | NDArray[np.int64]
NEVER = np.iinfo(np.int64).min
FIRST_ROWS = 16
ROWS_AT_ONCE = 8192
MICROSECOND = timedelta(microseconds=1)
LARGEST_FACTOR = 2**53
LARGEST = 2**1000
WHOLE = 2**53
"""Every whole number up to here is a float."""


def fits(value: Exact) -> bool:
    """Is the number a float, exactly?"""
    return -LARGEST < value < LARGEST and float(value) == value


def earned_by_all(weight: int, shares: Floats) -> Whole:
    """`earned` for many shares at once."""
    grains = np.minimum(np.rint(float(weight) * shares).astype(np.int64), weight)
    grains[shares >= 1.0] = weight
    return grains


def _ahead(snapshot: Floats, values: Floats) -> Whole:
    """How many of those standing are better than each value; looked up in order, which memory likes."""
    order = np.argsort(values)
    ahead = np.empty(len(values), dtype=np.int64)
    ahead[order] = len(snapshot) - np.searchsorted(snapshot, values[order], side="right")
    return ahead


def earned_each(weights_: Whole, shares: Floats) -> Whole:
    """`earned` of one weight and share after the other."""
    grains = np.minimum(np.rint(weights_.astype(np.float64) * shares).astype(np.int64), weights_)
    return np.where(shares >= 1.0, weights_, grains)


@dataclass
class Column:
    """One case: the factor of its floats or else its exact numbers by row, the reference's number, and what is BEST.

    standing  for the kind `rank`: everybody's numbers from worst to best
    """

    name: str
    factor: int = 1
    exact: dict[int, Exact] | None = None
    reference: Exact | None = None
    best: Exact | None = None
    snapshot: Any = None

    def number(self, value: float) -> Exact:
        """The exact number that a float of this column stands for."""
        found = Fraction(value) / self.factor
        return found.numerator if found.denominator == 1 else found


class Columns:
    """The raw scores, shares and points of the rows of one problem in one phase. Call `refresh` after changes.

    `setters` are the rows that take part in BEST. `points` are as `problem_points` gives them, `latest` is when they
    last rose, in microseconds, or NEVER.
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
        self.teams = 0
        self.columns = [Column(case.name) for case in problem.cases]
        self.at = {column.name: at for at, column in enumerate(self.columns)}
        self._scored = len(self.columns)
        self._counting = np.array([c.name in self.weights.cases for c in self.columns], dtype=bool)
        self._weight = [self.weights.cases.get(c.name, 0) for c in self.columns]
        self._weights_as_floats = np.array(self._weight, dtype=np.float64)[:, np.newaxis]
        self._group = np.array([self.weights.group_of.get(c.name, 0) for c in self.columns], dtype=np.int64)
        groups, room = len(self.weights.groups), max(rows, 1)
        self.raw: Floats = np.full((self._scored, room), np.nan)
        self.share: Floats = np.zeros((self._scored, room))
        self.improved: Whole = np.full((self._scored, room), NEVER, dtype=np.int64)
        self.setters = np.zeros(room, dtype=bool)
        self._sums: Whole = np.zeros((groups, room), dtype=np.int64)
        self._full: Whole = np.zeros((groups, room), dtype=np.int64)
        self._gains: Whole = np.zeros((groups, room), dtype=np.int64)
        self.points: Floats = np.zeros(room)
        self.latest: Whole = np.full(room, NEVER, dtype=np.int64)
        self._free: list[int] = []
        self._touched: dict[int, set[int]] = {}
        self._in_row: dict[int, set[int]] = {}
        self._lost_best: set[int] = set()
        self._best: Floats = np.full(self._scored, np.nan)
        self._weight_array: Whole = np.array(self._weight, dtype=np.int64)
        self._in_sum = self._counting & np.array(
            [self.weights.groups[at].group.aggregation is Aggregation.SUM for at in self._group.tolist()], dtype=bool
        )
        self._whole: set[int] = set()
        self._given: dict[tuple[int, int], float] = {}
        self._new_rows = False
        if self.rule.reference_counts:
            for name, score in (reference or {}).items():
                if score.accepted and score.raw is not None:
                    self._refer(self._column(name), score.raw)

    def _refer(self, at: int, value: Exact) -> None:
        column = self.columns[at]
        column.reference = value
        self._make_fit(at, value)
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
        self.setters[row] = setter
        self._new_rows = True
        return row

    def remove_row(self, row: int, answers: Mapping[str, Counted]) -> None:
        """Take a row with its answers away."""
        self.change(row, dict.fromkeys(answers))
        self.setters[row] = False
        self._free.append(row)

    def _grow(self) -> None:
        more = len(self.points)
        self.raw = np.pad(self.raw, ((0, 0), (0, more)), constant_values=np.nan)
        self.share = np.pad(self.share, ((0, 0), (0, more)))
        self.improved = np.pad(self.improved, ((0, 0), (0, more)), constant_values=NEVER)
        self.setters = np.pad(self.setters, (0, more))
        self._sums, self._full, self._gains = (
            np.pad(each, ((0, 0), (0, more))) for each in (self._sums, self._full, self._gains)
        )
        self.points = np.pad(self.points, (0, more))
        self.latest = np.pad(self.latest, (0, more), constant_values=NEVER)

    def _column(self, name: str) -> int:
        """The column of a case; one the problem does not have (any more) has a BEST and gives no points."""
        at = self.at.get(name)
        if at is None:
            at = self.at[name] = len(self.columns)
            self.columns.append(Column(name))
            self.raw = np.vstack([self.raw, np.full((1, self.raw.shape[1]), np.nan)])
        return at

    def set_teams(self, teams: int) -> None:
        """Say how many teams there are, which is what the kind `rank` divides by."""
        if teams != self.teams:
            self.teams = teams
            if self.rule.kind is Kind.RANK:
                self._whole.update(range(len(self.columns)))

    def change(self, row: int, answers: Mapping[str, Counted | None]) -> None:
        """Put answers into a row in place of those it had for the same cases; None: there is none any more."""
        for name, counted in answers.items():
            at = self._column(name)
            score = None if counted is None or not counted.score.accepted else counted.score
            before = self.raw[at, row]
            self._write(at, row, None if score is None else score.raw)
            self._touch(at, row, before, self.raw[at, row])
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
                at = self.at.get(name)
                cells.setdefault(self._column(name) if at is None else at, []).append((row, counted))
        for at, column in cells.items():
            if not self._change_column(at, column):
                for row, counted in column:
                    self.change(row, {self.columns[at].name: counted})

    def _change_column(self, at: int, cells: Sequence[tuple[int, Counted | None]]) -> bool:
        """Write many cells of one column at once; False, and nothing written, where they must go one by one."""
        column = self.columns[at]
        if column.exact is not None or column.factor != 1 or at >= self._scored:
            return False
        scores = [None if counted is None or not counted.score.accepted else counted.score for _, counted in cells]
        numbers = [None if score is None else score.raw for score in scores]
        if not all(number is None or (type(number) is int and -WHOLE <= number <= WHOLE) for number in numbers):
            return False
        rows = np.array([row for row, _ in cells], dtype=np.int64)
        self.raw[at, rows] = np.array(numbers, dtype=np.float64)  # None becomes NaN
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
        if at >= self._scored or self.columns[at].exact is not None or self.rule.kind is Kind.RANK:
            self._touched.setdefault(at, set()).add(row)
            return
        best = self._best[at]
        loses = before == best or (np.isnan(best) and not np.isnan(now))
        gains = now > best if self.rule.direction is Direction.MAXIMISE else now < best
        if self.setters[row] and (loses or gains) and before != now:
            if self.rule.kind is Kind.RELATIVE:
                self._touched.setdefault(at, set()).add(row)
                return
            self._lost_best.add(at)
        self._in_row.setdefault(row, set()).add(at)

    def load(self, raw: Floats, improved: Whole) -> None:
        """Put whole columns in, of rows that all take part in BEST; the raw scores are floats exactly."""
        self._scored_rows(raw.shape[1])
        self.raw[: self._scored, : self.rows] = raw
        self.improved[:, : self.rows] = improved
        self.setters[: self.rows] = True
        self._whole.update(range(self._scored))
        if self.rule.kind is Kind.ABSOLUTE:
            raise ValueError("columns of raw scores: expected a relative kind or rank, found absolute")

    def _scored_rows(self, rows: int) -> None:
        while len(self.points) < rows:
            self._grow()
        self.rows = max(self.rows, rows)
        self._new_rows = True

    def _write(self, at: int, row: int, value: Exact | None) -> None:
        column = self.columns[at]
        if value is None:
            self.raw[at, row] = np.nan
            if column.exact is not None:
                column.exact.pop(row, None)
            return
        self._make_fit(at, value)
        if column.exact is not None:
            column.exact[row] = value
            self.raw[at, row] = 1.0  # there is one; its value is the exact one
        else:
            self.raw[at, row] = float(value * column.factor)

    def _make_fit(self, at: int, value: Exact) -> None:
        """Let a column hold this number: as it is, with another factor, or by going over to exact numbers."""
        column = self.columns[at]
        if column.exact is not None or fits(value * column.factor):
            return
        known = {int(row): column.number(self.raw[at, row]) for row in np.flatnonzero(~np.isnan(self.raw[at]))}
        factor = lcm(column.factor, value.denominator)
        others = [*known.values(), value, *([column.reference] if column.reference is not None else [])]
        if factor < LARGEST_FACTOR and all(fits(other * factor) for other in others):
            column.factor = factor
            for row, number in known.items():
                self.raw[at, row] = float(number * factor)
        else:
            column.exact = known
            column.snapshot = None
        self._whole.add(at)

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
            self._refresh_row(row, np.array([at for at in cells if self.columns[at].exact is None], dtype=np.int64))
        self._refresh_groups(dirty)
        self._refresh_times(np.flatnonzero(dirty))
        self._touched, self._in_row, self._given, self._new_rows = {}, {}, {}, False
        self._whole, self._lost_best = set(), set()

    def _refresh_column(self, at: int, dirty: NDArray[np.bool_]) -> None:
        moved = self._find_best(self.columns[at], at)
        if at >= self._scored:
            return
        if self.rule.kind is Kind.ABSOLUTE:
            some = sorted(self._touched.get(at, ()))
            rows: Rows = np.array(some, dtype=np.int64)
            shares = np.array([self._given[at, row] for row in some], dtype=np.float64)
        elif moved or at in self._whole:
            rows = slice(0, self.rows)
            shares = self._shares(at, rows)
        else:
            rows = np.array(sorted(self._touched[at]), dtype=np.int64)
            shares = self._shares(at, rows)
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
            values = self.raw[cells, row]
            shares = np.where(np.isnan(values), 0.0, self._quotients(values, self._best[cells]))
        old = self.share[cells, row]
        self.share[cells, row] = shares
        groups, sums = self._group[cells], self._in_sum[cells]
        np.add.at(self._full[:, row], groups, (shares >= 1.0).astype(np.int64) - (old >= 1.0))
        weight = self._weight_array[cells]
        change = earned_each(weight, shares) - earned_each(weight, old)
        np.add.at(self._sums[:, row], groups[sums], change[sums])

    def _find_best(self, column: Column, at: int) -> bool:
        """Look for BEST of a column again; says whether that changes the share of anybody's answer."""
        pick: Any = max if self.rule.direction is Direction.MAXIMISE else min
        if column.exact is not None:
            numbers = [number for row, number in column.exact.items() if self.setters[row]]
            numbers += [column.reference] if column.reference is not None else []
            best = pick(numbers, default=None)
            if self.rule.kind is Kind.RANK:
                column.snapshot = sorted(self._towards(number) for number in numbers)
        else:
            values = self.raw[at, : self.rows][self.setters[: self.rows]]
            if column.reference is not None:
                values = np.append(values, float(column.reference * column.factor))
            if self.rule.kind is Kind.RANK:
                values = np.sort(self._towards(values[~np.isnan(values)]))
                column.snapshot = values
                found = self._towards(values[-1]) if len(values) else np.nan
            else:
                reduce = np.fmax.reduce if self.rule.direction is Direction.MAXIMISE else np.fmin.reduce
                found = reduce(values, initial=np.nan)
            best = None if np.isnan(found) else column.number(float(found))
        moved = best != column.best or self.rule.kind is Kind.RANK
        column.best = best
        if at < self._scored:
            self._best[at] = np.nan if best is None or column.exact is not None else float(best * column.factor)
        return moved

    def _towards(self, value: Any) -> Any:
        return value if self.rule.direction is Direction.MAXIMISE else -value

    def _shares(self, at: int, rows: Rows) -> Floats:
        column = self.columns[at]
        if column.exact is not None:
            numbers = np.arange(self.rows)[rows].tolist()
            return np.array([self._share_of(column, column.exact.get(row)) for row in numbers], dtype=np.float64)
        values = self.raw[at, rows]
        here = ~np.isnan(values)
        if self.rule.kind is Kind.RANK:
            ahead = _ahead(column.snapshot, self._towards(values))
            shares = np.clip(1.0 - ahead / self.teams, 0.0, 1.0) if self.teams else np.ones(len(values))
        elif column.best is None:
            shares = np.ones(len(values))
        else:
            shares = self._quotients(values, float(column.best * column.factor))
        return np.where(here, shares, 0.0)

    def _quotients(self, values: Floats, best: Floats | float) -> Floats:
        """As `relative`."""
        more = self.rule.direction is Direction.MAXIMISE
        as_good = values >= best if more else values <= best
        bottom = np.asarray(best if more else values)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            shares = np.minimum(np.maximum((values if more else best) / bottom, 0.0), 1.0)
        return np.where(as_good, 1.0, np.where((best == 0) | (bottom == 0), 0.0, shares))

    def _share_of(self, column: Column, number: Exact | None) -> float:
        """One share of a column of exact numbers."""
        if number is None:
            return 0.0
        if self.rule.kind is Kind.RANK:
            bests = Bests(self.rule, self.teams, {}, {column.name: column.snapshot})
            return bests.multiplier(column.name, RawScore(CaseVerdict.ACCEPTED, number))
        return 1.0 if column.best is None else relative(number, column.best, self.rule.direction)

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
            worst = self.share[[self.at[name] for name in weight.cases], rows].min(axis=0)
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
        """BEST as `scoring` has it, of this moment."""
        best = {column.name: column.best for column in self.columns if column.best is not None}
        if self.rule.kind is not Kind.RANK:
            return Bests(self.rule, self.teams, best)
        lines = {c.name: _Line(c.snapshot, c.factor if c.exact is None else None) for c in self.columns}
        return Bests(self.rule, self.teams, best, _Lines({name: lines[name] for name in best}))

    def copy(self) -> Columns:
        """The same columns, which go on by themselves.

        Everything that is ever written in place is copied; what is not (weights, lines of the kind `rank`) is shared.
        """
        self.refresh()  # what is touched is empty after it, and made anew below
        other = copy(self)
        for name in ("raw", "share", "improved", "setters", "points", "latest", "_sums", "_full", "_gains", "_best"):
            setattr(other, name, getattr(self, name).copy())
        other.columns = [replace(c, exact=None if c.exact is None else dict(c.exact)) for c in self.columns]
        other.at, other._free = dict(self.at), list(self._free)
        other._touched, other._in_row, other._given = {}, {}, {}
        other._whole, other._lost_best = set(), set()
        return other

    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = (self.raw, self.share, self.improved, self._sums, self._full, self._gains, self.points, self.latest)
        return sum(each.nbytes for each in arrays) + self.setters.nbytes


@dataclass(frozen=True, slots=True)
class _Line:
    """Everybody's numbers for a case, from worst to best: exact ones, or floats times a factor."""

    snapshot: Any
    factor: int | None

    def numbers(self) -> list[Exact]:
        if self.factor is None:
            return list(self.snapshot)
        column = Column("", self.factor)
        return [column.number(value) for value in self.snapshot.tolist()]


class _Lines(Mapping[str, list[Exact]]):
    """Lines by case, each written out when it is first asked for."""

    def __init__(self, lines: Mapping[str, _Line]) -> None:
        self._lines = lines
        self._known: dict[str, list[Exact]] = {}

    def __getitem__(self, name: str) -> list[Exact]:
        if name not in self._known:
            self._known[name] = self._lines[name].numbers()
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)
