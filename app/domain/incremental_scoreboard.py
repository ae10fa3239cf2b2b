"""A board that is kept up to date as verdicts come, equal to the slow one of the tests to the last bit.

What depends on one team's attempts at one problem alone (which answers count) is folded again when they change; what
depends on everybody (BEST, points, ranks) lies in columns, of which a new answer touches its own cell and a new BEST
one column. Where the best whole submission counts, every submission is a row of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from fractions import Fraction
from functools import partial
from math import lcm
from operator import attrgetter

import numpy as np

from app.domain import counting, scoring
from app.domain.board import Board, Chosen, Numbers, ReferenceScores, arranged, name_order, standings
from app.domain.contests import OPEN, PROVISIONAL, CaseKind, Freeze, ScoredProblem, Team
from app.domain.live_problem import LiveProblem
from app.domain.score_columns import WHOLE, Floats, Whole

BY_TIME = attrgetter("time", "id")


class LiveBoard:
    """A board that takes attempts, verdicts and teams as they come; `board` shows it as it is now.

    Attempts behind the `freeze` only count as pending, also for BEST. The answers of a `chosen` submission count in
    place of those that the rule selects. Problems, phase and references stay what they are.
    """

    def __init__(
        self,
        problems: Sequence[ScoredProblem],
        teams: Sequence[Team],
        attempts: Iterable[counting.Attempt] = (),
        *,
        freeze: Freeze = OPEN,
        chosen: Chosen | None = None,
        phase: frozenset[CaseKind] = PROVISIONAL,
        references: ReferenceScores | None = None,
    ) -> None:
        self._phase = phase
        self._problems = {each.id: LiveProblem(each, phase, references or {}, len(teams)) for each in problems}
        # Invariants: a key whose attempts, freeze or choice changed since the last refresh is in `_stale`; every
        # visible team has one cell in each problem. An attempt keeps its team and its problem.
        self._tries: dict[tuple[str, str], dict[int, counting.Attempt]] = {}
        self._freeze = freeze
        self._chosen: Chosen = chosen or {}
        self._teams: Sequence[Team] = ()
        self.visible: list[Team] = []
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
        other._stale = set()
        other._judged, other._pending = self._judged.copy(), self._pending.copy()
        return other

    def put(self, attempts: Iterable[counting.Attempt]) -> None:
        """Take attempts: new ones, or those known by their ids as they are now."""
        tries, stale = self._tries, self._stale  # a cold board takes tens of thousands
        for attempt in attempts:
            key = (attempt.team_id, attempt.problem_id)
            mine = tries.get(key)
            if mine is None:
                mine = tries[key] = {}
            mine[attempt.id] = attempt
            stale.add(key)

    def drop(self, attempts: Iterable[counting.Attempt]) -> None:
        """Forget attempts."""
        for attempt in attempts:
            key = (attempt.team_id, attempt.problem_id)
            if self._tries.get(key, {}).pop(attempt.id, None) is not None:
                self._stale.add(key)

    def set_teams(self, teams: Sequence[Team]) -> None:
        """Let these be the teams: hidden and disqualified ones keep their attempts, and count nowhere."""
        if teams == self._teams:
            return
        before = {team.id for team in self.visible}
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
        self.visible, self._place = visible, {team.id: at for at, team in enumerate(visible)}
        self._stale.update((team, problem) for team in now - before for problem in self._problems)
        old_places = [old_place.get(team.id, -1) for team in visible]
        self._judged, self._pending = (_moved(each, old_places) for each in (self._judged, self._pending))
        self._names = name_order(visible)

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
        self._count_stale()
        for live in self._problems.values():
            live.refresh()

    def _count_stale(self) -> None:
        places = {problem: at for at, problem in enumerate(self._problems)}
        for team, problem in self._stale:
            if team not in self._place or problem not in self._problems:
                continue
            tries = self._tries.get((team, problem), {}).values()
            judged = [attempt for attempt in tries if attempt.scores is not None]
            if self._freeze.until is not None:
                judged = [attempt for attempt in judged if not self._freeze.hides(team, problem, attempt.time)]
            judged.sort(key=BY_TIME)
            self._judged[places[problem], self._place[team]] = len(judged)
            self._pending[places[problem], self._place[team]] = len(tries) - len(judged)
            self._problems[problem].count(team, self._place[team], judged, self._chosen.get((team, problem)))
        self._stale.clear()

    def board(self) -> Board:
        """The board as it is now; it stays so whatever comes."""
        self._refresh()
        lives, teams = list(self._problems.values()), self.visible
        numbers = Numbers.zeros(len(lives), len(teams))
        numbers = numbers._replace(judged=self._judged.copy(), pending=self._pending.copy())
        answers: list[tuple[Sequence[counting.Answers], Whole]] = []
        for at, live in enumerate(lives):
            rows = live.counted_rows(teams)
            has_row = rows >= 0
            numbers.scores[at, has_row] = live.columns.shown[rows[has_row]]
            numbers.unrounded[at, has_row] = live.columns.points[rows[has_row]]
            numbers.improved[at, has_row] = live.columns.latest[rows[has_row]]
            live.lent = True
            answers.append((live.answers, rows))
        bests = {live.problem.id: live.bests() for live in lives}
        standing_of = partial(self._standings, [rows for _, rows in answers])
        problems = [live.problem for live in lives]
        return arranged(problems, self._phase, teams, self._names, numbers, answers, bests, standing_of)

    def _standings(self, rows: Sequence[Whole], sums: Floats, scale: scoring.TotalScale) -> Whole:
        """Numbers that order teams as their exact totals do."""
        parts = [live.columns.exact_by_rank() for live in self._problems.values()]
        units = [part[1] for part in parts if part is not None]
        common = lcm(*(unit.denominator for unit in units))
        if parts and len(units) == len(parts) and scale.most * common < WHOLE:
            exact = np.zeros(len(sums), dtype=np.int64)
            for at, (numbers, unit) in zip(rows, filter(None, parts), strict=True):
                exact += np.where(at >= 0, numbers[at], 0) * int(unit * common)
            return exact
        return standings(sums, scale.tolerance, self._exact_parts(rows))

    def _exact_parts(self, rows: Sequence[Whole]) -> Callable[[int], Sequence[Fraction]]:
        """A function that gives the exact points of a team, by its place."""
        same: list[dict[bytes, Fraction]] = [{} for _ in rows]
        lives = list(zip(self._problems.values(), (each.tolist() for each in rows), same, strict=True))
        is_empty = (self._judged == 0).all(axis=0).tolist()

        def parts_of(team: int) -> Sequence[Fraction]:
            if is_empty[team]:
                return ()
            return [live.exact_points(counted[team], alike) for live, counted, alike in lives if counted[team] >= 0]

        return parts_of


def _moved(counts: Whole, old_places: Sequence[int]) -> Whole:
    """Columns in a new order; -1: a new one."""
    moved = np.zeros((len(counts), len(old_places)), dtype=np.int64)
    places = np.array(old_places, dtype=np.int64)
    moved[:, places >= 0] = counts[:, places[places >= 0]]
    return moved
