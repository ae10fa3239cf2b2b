"""The quick twin of `scoring`: the points of one problem's rows, kept up to date with their raw scores.

A column is a test case, a row whatever is worth points: a team with the answers that count, or one of its submissions.
A column with a changed cell is computed again as a whole, and then the points of all rows are added up again, in whole
grains, so that the result is that of `problem_points` to the last bit. What a row is
worth at a case is a share of BEST (`score_columns`); what a group makes of it is here.

- The rounding of points for whole arrays, in a module of its own: graders start without numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from fractions import Fraction
from functools import partial
from math import lcm

import numpy as np
from numpy.typing import NDArray

from app.domain import contests, counting, scoring
from app.domain.score_columns import WHOLE, Floats, ScoreColumns, Whole, grown


def all_shown(points: NDArray[np.float64], most: float) -> NDArray[np.float64]:
    """Apply `shown` to each number."""
    rounded = np.minimum(most, np.rint(points * scoring.DECIMALS) / scoring.DECIMALS)
    return np.where(points >= min(most, scoring.LARGEST_ROUNDED), points, rounded)


NEVER = np.iinfo(np.int64).min
Rows = slice | Whole
MICROSECOND = timedelta(microseconds=1)


def earned_by_all(weights_: Whole | int, shares: Floats) -> Whole:
    """`earned` for many weights and shares at once."""
    grains = np.minimum(np.rint(np.asarray(weights_, dtype=np.float64) * shares).astype(np.int64), weights_)
    return np.where(shares >= 1.0, weights_, grains)


def _indices(places: Sequence[int]) -> Rows:
    """An index of these places; a slice if they are neighbors, so that no numbers are copied."""
    if places and list(places) == list(range(places[0], places[-1] + 1)):
        return slice(places[0], places[-1] + 1)
    return np.array(places, dtype=np.int64)


def _ranked_part(points: Whole | int, share: Floats, teams: int) -> Whole:
    """Points times the numerator of a share that is a whole number of `teams`."""
    return points * np.rint(share * teams).astype(np.int64)


class Columns:
    """The raw scores, shares and points of the rows of one problem in one phase. Call `refresh` after changes.

    `points` are as `problem_points` gives them unrounded, `shown` are rounded as views show them, `latest` is when they
    last rose, in microseconds, or NEVER.

    Invariant: raw scores and times of improvement (`scores`, `improved`), and shares where points are absolute, are
    those of the answers put in; everything else is of the last `refresh`. `_touched` has the columns of all cells
    changed since, and `_is_stale` says whether any cell or row changed.
    """

    def __init__(
        self,
        problem: contests.ScoredProblem,
        phase: frozenset[contests.CaseKind],
        reference: Mapping[str, counting.RawScore] | None = None,
    ) -> None:
        self.problem = problem
        self.phase = phase
        self.rule = problem.rule
        self.weights = scoring.weights(problem, phase)
        self.rows = 0
        names = [case.name for case in problem.cases]
        self.scores = ScoreColumns(self.rule, names)
        self._scored = len(names)
        self._fulls = [each.full for each in self.weights.groups]
        self._weight: Whole = np.array([self.weights.cases.get(name, 0) for name in names], dtype=np.int64)[:, None]
        self.share: Floats = np.zeros((self._scored, 1))
        self._grains: Whole = np.zeros((self._scored, 1), dtype=np.int64)
        self.improved: Whole = np.full((self._scored, 1), NEVER, dtype=np.int64)
        self.points: Floats = np.zeros(0)
        self.shown: Floats = np.zeros(0)
        self.latest: Whole = np.zeros(0, dtype=np.int64)
        self._touched: set[int] = set()
        self._is_stale = True
        self._of_group = [_indices([self.scores.at[name] for name in each.cases]) for each in self.weights.groups]
        if self.rule.reference_counts:
            for name, score in (reference or {}).items():
                if score.accepted and score.raw is not None:
                    at = self.scores.column(name)
                    self.scores.refer(at, score.raw)
                    self._touched.add(at)

    def add_row(self, *, setter: bool) -> int:
        """A new row without answers; returns its number."""
        row = self.rows
        self.rows += 1
        if row >= len(self.scores.setters):
            self.scores.grow()
            self.share, self._grains = grown(self.share, 0.0), grown(self._grains, 0)
            self.improved = grown(self.improved, NEVER)
        self.scores.setters[row] = setter
        self._is_stale = True
        return row

    def set_teams(self, teams: int) -> None:
        """Say how many teams there are, which is what the kind `rank` divides by."""
        if teams != self.scores.teams:
            self.scores.teams = teams
            if self.rule.kind is contests.Kind.RANK:
                self._touched.update(range(len(self.scores.columns)))
                self._is_stale = True

    def change(self, row: int, answers: Mapping[str, counting.Counted | None]) -> None:
        """Put answers into a row in place of those it had for the same cases; None: there is none any longer."""
        self._is_stale = True
        for name, counted in answers.items():
            at = self.scores.column(name)
            score = None if counted is None or not counted.score.accepted else counted.score
            self.scores.write(at, row, None if score is None else score.raw)
            self._touched.add(at)
            if at < self._scored:
                self.improved[at, row] = NEVER if counted is None else counted.improved // MICROSECOND
                if self.rule.kind is contests.Kind.ABSOLUTE:
                    share = 0 if score is None else scoring.within_one(score.multiplier or 0)
                    self.share[at, row] = scoring.rounded_share(share)

    def refresh(self) -> bool:
        """Bring everything up to date; returns whether points of unchanged rows may differ from before."""
        if not self._is_stale:
            return False
        columns = sorted(self._touched)
        has_moved = self.scores.find_bests(columns, self.rows)
        scored = [at for at in columns if at < self._scored]
        if scored:
            cells = np.array(scored), slice(0, self.rows)
            if self.rule.kind is not contests.Kind.ABSOLUTE:
                self.share[cells] = self.scores.shares(scored, self.rows)
            self._grains[cells] = earned_by_all(self._weight[scored], self.share[cells])
        self._add_up()
        self._touched, self._is_stale = set(), False
        return has_moved

    def _add_up(self) -> None:
        """The points of all rows, and when they last rose: the latest improvement of a case that earns something."""
        some = slice(0, self.rows)
        share, grains, improved = self.share[:, some], self._grains[:, some], self.improved[:, some]
        gains = self._gains(share, grains, self._fulls, earned_by_all)
        total = gains.sum(axis=0)
        points = np.minimum(np.ldexp(total.astype(np.float64), -self.weights.bits), self.weights.most)
        points = np.where(total >= self.weights.full, self.weights.most, points)
        latest = np.full(self.rows, NEVER, dtype=np.int64)
        for at, gain in enumerate(gains):
            cases = self._of_group[at]
            times = np.where(grains[cases] > 0, improved[cases], NEVER).max(axis=0, initial=NEVER)
            latest = np.where(gain > 0, np.maximum(latest, times), latest)
        self.points, self.shown = points, all_shown(points, self.weights.most)
        self.latest = np.where(points > 0, latest, NEVER)

    def _gains(self, share: Floats, parts: Whole, fulls: Sequence[int], earn: Callable[[int, Floats], Whole]) -> Whole:
        """What each group gives, by group and row: from the `parts` that cases earn, or else its full points."""
        worsts = [share[cases].min(axis=0, initial=1.0) for cases in self._of_group]
        places = {weight.group.name: at for at, weight in enumerate(self.weights.groups)}
        gains = np.zeros((len(worsts), share.shape[1]), dtype=np.int64)
        for at, weight in enumerate(self.weights.groups):
            needed = weight.group.require_pass
            if not (weight.counts and weight.cases and places.keys() >= set(needed)):
                continue
            if weight.group.aggregation is contests.Aggregation.SUM:
                gain = parts[self._of_group[at]].sum(axis=0)
            elif weight.group.aggregation is contests.Aggregation.MIN:
                gain = earn(fulls[at], worsts[at])
            else:
                gain = earn(fulls[at], np.floor(worsts[at]))
            for name in needed:
                gain = np.where(worsts[places[name]] >= 1.0, gain, 0)
            gains[at] = gain
        return gains

    def exact_by_rank(self) -> tuple[Whole, Fraction] | None:
        """For the kind `rank`, the exact points of all rows in units of a fraction; None if 64 bits are not enough.

        Sums of ranks are often equal, and adding them up as fractions would take too long.
        """
        scale, teams = self.weights, self.scores.teams
        amounts = [each.group.max_points for each in scale.groups]
        points = [scale.exact[each.name] for each in self.problem.cases]
        bottom = lcm(*(each.denominator for each in (*amounts, *points)))
        if self.rule.kind is not contests.Kind.RANK or not 0 < sum((*amounts, *points)) * bottom * teams < WHOLE:
            return None
        share = self.share[:, : self.rows]
        parts = _ranked_part(np.array([int(each * bottom) for each in points])[:, None], share, teams)
        fulls = [int(each * bottom) for each in amounts]
        gains = self._gains(share, parts, fulls, partial(_ranked_part, teams=teams))
        return gains.sum(axis=0), scale.scale / (bottom * teams)
