"""The raw scores of one problem in columns: BEST of each, and the share of it that each answer is.

A column is a test case, a row whatever is worth points. Quotients of floats are those of the exact numbers as long as
both numbers are floats exactly. A column holds its raw scores times a whole number that makes them so, such as 100 for
two decimals. A column for which there is no such number keeps its exact numbers and is computed one by one, by the very
functions of `scoring`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.domain.contests import Direction, Kind, ScoringRule
from app.domain.scoring import Bests, Exact, RawScore, relative
from app.domain.verdicts import CaseVerdict

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Rows = slice | NDArray[np.int64]
LARGEST_FACTOR = 2**53
LARGEST = 2**1000
WHOLE = 2**53
"""Every whole number up to here is a float."""


def is_float(value: Exact) -> bool:
    """Is the number a float, exactly?"""
    return -LARGEST < value < LARGEST and float(value) == value


def _ahead(standing: Floats, values: Floats) -> Whole:
    """How many of those standing are better than each value; looked up in order, which memory likes."""
    order = np.argsort(values)
    ahead = np.empty(len(values), dtype=np.int64)
    ahead[order] = len(standing) - np.searchsorted(standing, values[order], side="right")
    return ahead


class Signed(Protocol):
    """A number, or an array of numbers, whose sign can be turned."""

    def __neg__(self) -> Self:
        """Turn the sign."""
        ...


N = TypeVar("N", bound=Signed)


@dataclass
class Column:
    """One case: the factor of its floats or else its exact numbers by row, the reference's number, and BEST.

    standing  for the kind `rank`: everybody's numbers from worst to best
    """

    name: str
    factor: int = 1
    exact: dict[int, Exact] | None = None
    reference: Exact | None = None
    best: Exact | None = None
    standing: Any = None

    def number(self, value: float) -> Exact:
        """The exact number that a float of this column stands for."""
        number = Fraction(value) / self.factor
        return number.numerator if number.denominator == 1 else number


class ScoreColumns:
    """The raw scores of the rows of one problem, by column and row; `setters` are the rows that take part in BEST.

    Invariants: `raw` is NaN where there is no accepted answer. Elsewhere it is the number times the column's factor,
    exactly; in a column of exact numbers it is 1, and the number is in `exact`. `bests` is BEST times the factor, NaN
    for none and for columns of exact numbers, as `find_best` left it: writing does not move BEST. The first `scored`
    columns are the problem's cases, in order; later ones are cases that it does not have (any more), which have a BEST
    and give no points.
    """

    def __init__(self, rule: ScoringRule, names: Sequence[str], room: int) -> None:
        self.rule = rule
        self.columns = [Column(name) for name in names]
        self.at = {column.name: at for at, column in enumerate(self.columns)}
        self.scored = len(self.columns)
        self.teams = 0
        self.raw: Floats = np.full((self.scored, room), np.nan)
        self.setters = np.zeros(room, dtype=bool)
        self.bests: Floats = np.full(self.scored, np.nan)

    def column(self, name: str) -> int:
        """The column of a case; one that is new to the problem is added behind the others."""
        at = self.at.get(name)
        if at is None:
            at = self.at[name] = len(self.columns)
            self.columns.append(Column(name))
            self.raw = np.vstack([self.raw, np.full((1, self.raw.shape[1]), np.nan)])
        return at

    def grow(self) -> None:
        """Make room for as many rows again."""
        more = self.raw.shape[1]
        self.raw = np.pad(self.raw, ((0, 0), (0, more)), constant_values=np.nan)
        self.setters = np.pad(self.setters, (0, more))

    def is_whole(self, at: int) -> bool:
        """Does the column hold its numbers as they are, as floats?"""
        return self.columns[at].exact is None and self.columns[at].factor == 1

    def refer(self, at: int, value: Exact) -> None:
        """Let the reference's number take part in BEST."""
        self.columns[at].reference = value
        self._make_fit(at, value)

    def write(self, at: int, row: int, value: Exact | None) -> bool:
        """Put a number into a cell (None: nothing); says whether the whole column is stored otherwise now."""
        column = self.columns[at]
        if value is None:
            self.raw[at, row] = np.nan
            if column.exact is not None:
                column.exact.pop(row, None)
            return False
        refitted = self._make_fit(at, value)
        if column.exact is not None:
            column.exact[row] = value
            self.raw[at, row] = 1.0
        else:
            self.raw[at, row] = float(value * column.factor)
        return refitted

    def _make_fit(self, at: int, value: Exact) -> bool:
        """Let a column hold this number: as it is, with another factor, or by going over to exact numbers."""
        column = self.columns[at]
        if column.exact is not None or is_float(value * column.factor):
            return False
        numbers = {int(row): column.number(self.raw[at, row]) for row in np.flatnonzero(~np.isnan(self.raw[at]))}
        factor = lcm(column.factor, value.denominator)
        others = [*numbers.values(), value, *([column.reference] if column.reference is not None else [])]
        if factor < LARGEST_FACTOR and all(is_float(other * factor) for other in others):
            column.factor = factor
            for row, number in numbers.items():
                self.raw[at, row] = float(number * factor)
        else:
            column.exact = numbers
            column.standing = None
        return True

    def find_best(self, at: int, rows: int) -> bool:
        """Look for BEST of a column again; says whether that changes the share of anybody's answer."""
        column = self.columns[at]
        best = self._exact_best(column) if column.exact is not None else self._float_best(column, at, rows)
        moved = best != column.best or self.rule.kind is Kind.RANK
        column.best = best
        if at < self.scored:
            self.bests[at] = np.nan if best is None or column.exact is not None else float(best * column.factor)
        return moved

    def _exact_best(self, column: Column) -> Exact | None:
        pick: Any = max if self.rule.direction is Direction.MAXIMISE else min
        numbers = [number for row, number in (column.exact or {}).items() if self.setters[row]]
        numbers += [column.reference] if column.reference is not None else []
        if self.rule.kind is Kind.RANK:
            column.standing = sorted(self._towards(number) for number in numbers)
        best: Exact | None = pick(numbers, default=None)
        return best

    def _float_best(self, column: Column, at: int, rows: int) -> Exact | None:
        values = self.raw[at, :rows][self.setters[:rows]]
        if column.reference is not None:
            values = np.append(values, float(column.reference * column.factor))
        if self.rule.kind is Kind.RANK:
            values = column.standing = np.sort(self._towards(values[~np.isnan(values)]))
            best = self._towards(values[-1]) if len(values) else np.nan
        else:
            reduce = np.fmax.reduce if self.rule.direction is Direction.MAXIMISE else np.fmin.reduce
            best = reduce(values, initial=np.nan)
        return None if np.isnan(best) else column.number(float(best))

    def _towards(self, value: N) -> N:
        return value if self.rule.direction is Direction.MAXIMISE else -value

    def shares(self, at: int, rows: Rows, count: int) -> Floats:
        """The share 0..1 of each of these rows, of `count` in all, at the BEST of the column; 0 where it is empty."""
        column = self.columns[at]
        if column.exact is not None:
            numbers = np.arange(count)[rows].tolist()
            return np.array([self._share_of(column, column.exact.get(row)) for row in numbers], dtype=np.float64)
        values = self.raw[at, rows]
        if self.rule.kind is Kind.RANK:
            ahead = _ahead(column.standing, self._towards(values))
            shares = np.clip(1.0 - ahead / self.teams, 0.0, 1.0) if self.teams else np.ones(len(values))
        elif column.best is None:
            shares = np.ones(len(values))
        else:
            shares = self._quotients(values, float(column.best * column.factor))
        return np.where(np.isnan(values), 0.0, shares)

    def row_shares(self, row: int, cells: Whole) -> Floats:
        """The shares of some cells of one row, none of them in a column of exact numbers; not for the kind `rank`."""
        values = self.raw[cells, row]
        return np.where(np.isnan(values), 0.0, self._quotients(values, self.bests[cells]))

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
            bests = Bests(self.rule, self.teams, {}, {column.name: column.standing})
            return bests.multiplier(column.name, RawScore(CaseVerdict.ACCEPTED, number))
        return 1.0 if column.best is None else relative(number, column.best, self.rule.direction)

    def as_bests(self) -> Bests:
        """BEST as `scoring` has it, of this moment."""
        best = {column.name: column.best for column in self.columns if column.best is not None}
        if self.rule.kind is not Kind.RANK:
            return Bests(self.rule, self.teams, best)
        lines = {c.name: _Line(c.standing, c.factor if c.exact is None else None) for c in self.columns}
        return Bests(self.rule, self.teams, best, _Lines({name: lines[name] for name in best}))

    def copy(self) -> ScoreColumns:
        """The same columns, which go on by themselves. Lines of the kind `rank` are never written in place: shared."""
        other = copy(self)
        other.raw, other.setters, other.bests = self.raw.copy(), self.setters.copy(), self.bests.copy()
        other.columns = [replace(c, exact=None if c.exact is None else dict(c.exact)) for c in self.columns]
        other.at = dict(self.at)
        return other


@dataclass(frozen=True, slots=True)
class _Line:
    """Everybody's numbers for a case, from worst to best: exact ones, or floats times a factor."""

    standing: Any
    factor: int | None

    def numbers(self) -> list[Exact]:
        if self.factor is None:
            return list(self.standing)
        column = Column("", self.factor)
        return [column.number(value) for value in self.standing.tolist()]


class _Lines(Mapping[str, list[Exact]]):
    """Lines by case, each written out when it is first asked for."""

    def __init__(self, lines: Mapping[str, _Line]) -> None:
        self._lines = lines
        self._written: dict[str, list[Exact]] = {}

    def __getitem__(self, name: str) -> list[Exact]:
        if name not in self._written:
            self._written[name] = self._lines[name].numbers()
        return self._written[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)
