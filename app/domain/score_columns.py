"""The raw scores of one problem in columns: BEST of each, and the share of it that each answer is.

A column is a test case, a row whatever is worth points. Quotients of floats are those of the exact numbers as long as
both numbers are floats exactly. A column holds its raw scores times a whole number that makes them so, such as 100 for
two decimals. A column for which there is no such number keeps its exact numbers and is computed one by one, by the very
functions of `scoring`. A changed column is computed again as a whole: no record says which of its cells changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from math import isnan, lcm, nan
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from app.domain.contests import Direction, Kind, ScoringRule
from app.domain.counting import CaseVerdict, Exact, RawScore
from app.domain.scoring import BELOW_ONE, Bests

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
LARGEST_FACTOR = 2**53
LARGEST = 2**1000
# Every whole number up to here is a float.
WHOLE = 2**53


Array = TypeVar("Array", bound=NDArray[Any])  # of any kind


def grown(array: Array, fill: object) -> Array:
    """An array with as many places again along its last axis."""
    return cast(Array, np.concatenate((array, np.full_like(array, fill)), axis=-1))


def is_float(value: Exact) -> bool:
    """Is the number a float, exactly?"""
    return -LARGEST < value < LARGEST and float(value) == value


def _ahead(standing: Floats, values: Floats) -> Whole:
    """How many of those standing are better than each value; looked up in order, which memory likes."""
    order = np.argsort(values)
    ahead = np.empty(len(values), dtype=np.int64)
    ahead[order] = len(standing) - np.searchsorted(standing, values[order], side="right")
    return ahead


@dataclass
class Column:
    """One case: the factor of its floats or else its exact numbers by row, the reference's number, and BEST.

    standing  for the kind `rank`: everyone's numbers from worst to best
    """

    name: str
    factor: int = 1
    exact: dict[int, Exact] | None = None
    reference: Exact | None = None
    best: Exact | None = None
    standing: Floats | list[Exact] | None = None

    def number(self, value: float) -> Exact:
        """The exact number that a float of this column stands for."""
        number = Fraction(value) / self.factor
        return number.numerator if number.denominator == 1 else number

    def line(self) -> list[Exact]:
        """Everyone's exact numbers from worst to best, for the kind `rank`."""
        if self.exact is not None:
            return list(cast(list[Exact], self.standing))
        return [self.number(value) for value in cast(Floats, self.standing).tolist()]

    def float_best(self) -> float:
        """BEST times the factor; NaN for none and for a column of exact numbers."""
        return nan if self.best is None or self.exact is not None else float(self.best * self.factor)


class ScoreColumns:
    """The raw scores of the rows of one problem, by column and row; `setters` are the rows that take part in BEST.

    Invariants: `raw` is NaN where there is no accepted answer. Elsewhere it is the number times the column's factor,
    exactly; in a column of exact numbers it is not NaN, and the number is in `exact`. Writing does not move BEST, only
    `find_bests` does. The first `scored` columns are the problem's cases, in order; later ones are cases that it does
    not have (any longer), which have a BEST and give no points.
    """

    def __init__(self, rule: ScoringRule, names: Sequence[str]) -> None:
        self.rule = rule
        self._more = rule.direction is Direction.MAXIMISE
        self.columns = [Column(name) for name in names]
        self.at = {column.name: at for at, column in enumerate(self.columns)}
        self.scored = len(self.columns)
        self.teams = 0
        self.raw: Floats = np.full((self.scored, 1), np.nan)
        self.setters = np.zeros(1, dtype=bool)

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
        self.raw, self.setters = grown(self.raw, np.nan), grown(self.setters, fill=False)

    def refer(self, at: int, value: Exact) -> None:
        """Let the reference's number take part in BEST."""
        self.columns[at].reference = value
        self._make_fit(at, value)

    def write(self, at: int, row: int, value: Exact | None) -> None:
        """Put a number into a cell (None: nothing), and convert the column if it must be to hold it."""
        column = self.columns[at]
        if value is None:
            self.raw[at, row] = np.nan
            if column.exact is not None:
                column.exact.pop(row, None)
            return
        self._make_fit(at, value)
        if column.exact is not None:
            column.exact[row] = value
            self.raw[at, row] = 1.0
        else:
            self.raw[at, row] = float(value * column.factor)

    def _make_fit(self, at: int, value: Exact) -> None:
        """Let a column hold this number, if need be by another factor or exact numbers."""
        column = self.columns[at]
        if column.exact is not None or is_float(value * column.factor):
            return
        numbers = {int(row): column.number(self.raw[at, row]) for row in np.flatnonzero(~np.isnan(self.raw[at]))}
        factor = lcm(column.factor, value.denominator)
        others = [*numbers.values(), value, *([column.reference] if column.reference is not None else [])]
        if factor < LARGEST_FACTOR and all(is_float(other * factor) for other in others):
            column.factor = factor
            for row, number in numbers.items():
                self.raw[at, row] = float(number * factor)
        else:
            column.exact = numbers

    def find_bests(self, columns: Sequence[int], rows: int) -> bool:
        """Find BEST of columns again; returns whether shares of unchanged answers may differ from before."""
        before = [self.columns[at].best for at in columns]
        for at in columns:
            if self.columns[at].exact is not None:
                self.columns[at].best = self._exact_best(self.columns[at])
        floats = [at for at in columns if self.columns[at].exact is None]
        if floats:
            self._find_float_bests(floats, rows)
        if self.rule.kind is Kind.RELATIVE:
            return before != [self.columns[at].best for at in columns]
        return self.rule.kind is Kind.RANK

    def _exact_best(self, column: Column) -> Exact | None:
        numbers = [number for row, number in (column.exact or {}).items() if self.setters[row]]
        numbers += [column.reference] if column.reference is not None else []
        if self.rule.kind is Kind.RANK:
            column.standing = sorted(numbers if self._more else [-number for number in numbers])
        return (max if self._more else min)(numbers, default=None)

    def _find_float_bests(self, columns: Sequence[int], rows: int) -> None:
        some = [self.columns[at] for at in columns]
        numbers = self.raw[np.ix_(np.array(columns), np.flatnonzero(self.setters[:rows]))]
        if any(column.reference is not None for column in some):
            references = [nan if c.reference is None else float(c.reference * c.factor) for c in some]
            numbers = np.column_stack((numbers, references))
        pick = np.fmax if self._more else np.fmin
        bests = pick.reduce(numbers, axis=1, initial=nan).tolist()
        for column, best, values in zip(some, bests, numbers, strict=True):
            if best != column.float_best():
                column.best = None if isnan(best) else column.number(best)
            if self.rule.kind is Kind.RANK:
                column.standing = np.sort(self._towards(values[~np.isnan(values)]))

    def _towards(self, values: Floats) -> Floats:
        return values if self._more else -values

    def shares(self, columns: Sequence[int], rows: int) -> Floats:
        """The share 0..1 of each answer in the first `rows` of some columns at their BEST; 0 where there is none."""
        some = [self.columns[at] for at in columns]
        values = self.raw[np.array(columns), :rows]
        shares = self._quotients(values, np.array([each.float_best() for each in some], dtype=np.float64)[:, None])
        for place, column in enumerate(some):
            if column.exact is not None:
                shares[place] = [self._share_of(column, column.exact.get(row)) for row in range(rows)]
            elif self.rule.kind is Kind.RANK:
                shares[place] = self._rank_shares(column, values[place])
        return np.where(np.isnan(values), 0.0, shares)

    def _rank_shares(self, column: Column, values: Floats) -> Floats:
        ahead = _ahead(cast(Floats, column.standing), self._towards(values))
        return np.clip((self.teams - ahead) / self.teams, 0.0, 1.0) if self.teams else np.ones(len(values))

    def _quotients(self, values: Floats, best: Floats) -> Floats:
        """As `relative`; a column without a BEST gives 1."""
        more = self._more
        as_good = np.isnan(best) | (values >= best if more else values <= best)
        bottom = best if more else values
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            shares = np.minimum(np.maximum((values if more else best) / bottom, 0.0), BELOW_ONE)
        return np.where(as_good, 1.0, np.where((best == 0) | (bottom == 0), 0.0, shares))

    def _share_of(self, column: Column, number: Exact | None) -> float:
        """One share of a column of exact numbers."""
        if number is None:
            return 0.0
        lines = {column.name: cast(list[Exact], column.standing)} if self.rule.kind is Kind.RANK else {}
        best = {} if column.best is None else {column.name: column.best}
        return Bests(self.rule, self.teams, best, lines).multiplier(column.name, RawScore(CaseVerdict.ACCEPTED, number))

    def as_bests(self) -> Bests:
        """BEST as `scoring` has it, of this moment."""
        best = {column.name: column.best for column in self.columns if column.best is not None}
        if self.rule.kind is not Kind.RANK:
            return Bests(self.rule, self.teams, best)
        # Copies: a column continues, and a line is replaced as a whole.
        lines = {column.name: copy(column) for column in self.columns if column.best is not None}
        return Bests(self.rule, self.teams, best, _Lines(lines))


class _Lines(Mapping[str, list[Exact]]):
    """Everyone's numbers for each case, from worst to best, written out when they are first asked for."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = columns
        self._written: dict[str, list[Exact]] = {}

    def __getitem__(self, name: str) -> list[Exact]:
        if name not in self._written:
            self._written[name] = self._columns[name].line()
        return self._written[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)
