"""A board that is computed from what the last one left, equal to the slow one of the tests to the last bit.

What depends on one team's attempts at one problem alone (which answers count) is folded on when they change; what
depends on all teams (BEST, points, ranks) lies in columns, of which a new answer touches its own cell and a new BEST
one column.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from math import lcm
from operator import attrgetter

import numpy as np

from app.domain import counting, scoring
from app.domain.board import Board, Chosen, Numbers, ReferenceScores, name_order, shared_ranks, standings
from app.domain.contests import OPEN, PROVISIONAL, CaseKind, Freeze, ScoredProblem, Team
from app.domain.incremental_scoring import NEVER, all_shown
from app.domain.live_problem import LiveProblem
from app.domain.score_columns import WHOLE, Floats, Whole

LAST = np.iinfo(np.int64).max
BY_TIME = attrgetter("time", "id")


class LiveBoard:
    """Boards of the same problems, phase and references, one after the other; for one thread at a time."""

    def __init__(
        self,
        problems: Sequence[ScoredProblem],
        phase: frozenset[CaseKind] = PROVISIONAL,
        references: ReferenceScores | None = None,
    ) -> None:
        self._phase = phase
        self._problems = {each.id: LiveProblem(each, phase, (references or {}).get(each.id)) for each in problems}
        self._shown: object = None
        self._teams: list[Team] = []
        self._on_board: frozenset[str] = frozenset()
        self._names: Whole = np.zeros(0, dtype=np.int64)

    def board(
        self,
        teams: Sequence[Team],
        attempts: counting.Cells,
        *,
        freeze: Freeze = OPEN,
        chosen: Chosen | None = None,
        changed: Collection[counting.Place] | None = None,
    ) -> Board:
        """The board of these attempts; it stays as it is whatever comes.

        Attempts behind the `freeze` only count as pending, also for BEST. The answers of a `chosen` submission count in
        place of those that the rule selects. `changed` are the only places with other attempts than at the last call.
        """
        shown = (list(teams), freeze, dict(chosen or {}))
        if changed is None or shown != self._shown:
            changed = None
            self._set_teams([team for team in teams if team.counts])
        self._shown = shown
        for place in self._places() if changed is None else changed:
            team, problem = place
            live = self._problems.get(problem)
            if live is None or (changed is not None and team not in self._on_board):
                continue
            tries = attempts.get(place, ()) if team in self._on_board else ()
            judged = [a for a in tries if a.scores is not None and not freeze.hides(team, problem, a.time)]
            judged.sort(key=BY_TIME)
            live.count(team, judged, len(tries) - len(judged), (chosen or {}).get(place))
        return self._arranged()

    def _set_teams(self, visible: list[Team]) -> None:
        """Let these be the teams: others keep their rows without answers."""
        if visible == self._teams:
            return
        self._teams, self._names = visible, name_order(visible)
        self._on_board = frozenset(team.id for team in visible)
        for live in self._problems.values():
            live.set_teams([team.id for team in visible])

    def _places(self) -> list[counting.Place]:
        return [(team, problem) for problem, live in self._problems.items() for team in live.teams]

    def _arranged(self) -> Board:
        """Rank by exact points, then by the earlier last improvement; equal rows share the rank, no points come last.

        Rows with equal exact points show the same number, that of the first.
        """
        lives = list(self._problems.values())
        problems = [live.problem for live in lives]
        numbers, rows = self._numbers(lives)
        scale = scoring.total_scale(problems)
        grains = np.rint(np.ldexp(numbers.unrounded, scale.bits)).astype(np.int64).sum(axis=0)
        sums = np.ldexp(grains.astype(np.float64), -scale.bits)
        totals = all_shown(sums, scale.most)
        times = np.where(totals > 0, numbers.improved.max(axis=0, initial=NEVER), NEVER)
        standing = self._standings(rows, numbers.judged, sums, scale)
        order = np.lexsort((self._names, np.where(times == NEVER, LAST, times), -standing))
        totals[order] = totals[order][shared_ranks(standing[order]) - 1]
        ranks = shared_ranks(standing[order], times[order])
        bests = {live.problem.id: live.bests() for live in lives}
        return Board(problems, self._phase, self._teams, order, ranks, totals, times, *numbers, bests)

    def _numbers(self, lives: Sequence[LiveProblem]) -> tuple[Numbers, list[Whole]]:
        """The numbers of all teams, and the rows that count, by problem."""
        numbers, rows = Numbers.zeros(len(lives), len(self._teams)), []
        for at, live in enumerate(lives):
            live.refresh()
            rows.append(counted := live.counted_rows())
            numbers.scores[at] = live.columns.shown[counted]
            numbers.unrounded[at] = live.columns.points[counted]
            numbers.improved[at] = live.columns.latest[counted]
            numbers.judged[at], numbers.pending[at] = live.numbers[:, live.places]
            numbers.answers[at] = live.answers[counted]
        return numbers, rows

    def _standings(self, rows: Sequence[Whole], judged: Whole, sums: Floats, scale: scoring.TotalScale) -> Whole:
        """Numbers that order teams as their exact totals do."""
        parts = [live.columns.exact_by_rank() for live in self._problems.values()]
        units = [part[1] for part in parts if part is not None]
        common = lcm(*(unit.denominator for unit in units))
        if parts and len(units) == len(parts) and scale.most * common < WHOLE:
            exact = np.zeros(len(sums), dtype=np.int64)
            for at, (numbers, unit) in zip(rows, filter(None, parts), strict=True):
                exact += numbers[at] * int(unit * common)
            return exact
        return standings(sums, scale.tolerance, self._exact_parts(rows, judged))

    def _exact_parts(self, rows: Sequence[Whole], judged: Whole) -> Callable[[int], Sequence[Fraction]]:
        """A function that gives the exact points of a team, by its place."""
        counted = list(zip(self._problems.values(), (each.tolist() for each in rows), strict=True))
        is_empty = (judged == 0).all(axis=0).tolist()
        return lambda team: [] if is_empty[team] else [live.exact_points(of[team]) for live, of in counted]
