"""One problem of a live board: which answers of each team count, and what they are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from app.domain import board, incremental_scoring, scoring
from app.domain.contests import CaseKind, Counting, ScoredProblem, Team
from app.domain.counting import Answers, Attempt, Counted, Fold, submission_answers
from app.domain.score_columns import Floats, Whole


@dataclass
class TeamCell:
    """One team at one problem: folded attempts, and rows in the columns.

    row   the team's row where answers count one by one; the row that only sets BEST where whole submissions count
    sent  rows of submissions by id, where whole submissions count
    """

    row: int
    tries: Sequence[Attempt] = ()
    fold: Fold | None = None
    all_best: Fold | None = None
    sent: dict[int, int] = field(default_factory=dict)
    choice: int | None = None

    @property
    def fixed(self) -> int:
        """The row of the chosen submission, where whole submissions count; -1: none is chosen."""
        return -1 if self.choice is None else self.sent[self.choice]

    def copy(self) -> TeamCell:
        """An independent copy; `tries` are replaced as a whole and may be shared."""
        fold = None if self.fold is None else self.fold.copy()
        all_best = None if self.all_best is None else self.all_best.copy()
        return replace(self, fold=fold, all_best=all_best, sent=dict(self.sent))


@dataclass
class TeamRows:
    """The rows of all teams, team after team; `fixed` is the row that counts where it is given, else -1."""

    fixed: Whole
    rows: Whole
    counts: Whole

    @staticmethod
    def of(cells: Sequence[TeamCell], *, whole: bool) -> TeamRows:
        """The rows of these teams; unless `whole` submissions count, each team has the one row of its cell."""
        if not whole:
            fixed = np.array([cell.row for cell in cells], dtype=np.int64)
            return TeamRows(fixed, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        return TeamRows(
            np.array([cell.fixed for cell in cells], dtype=np.int64),
            np.array([row for cell in cells for row in cell.sent.values()], dtype=np.int64),
            np.array([len(cell.sent) for cell in cells], dtype=np.int64),
        )

    def append(self, place: int, rows: Sequence[int], fixed: int) -> None:
        """Add rows of a team, or change its chosen one."""
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
        rows = self.fixed.copy()
        rows[some] = np.where(rows[some] >= 0, rows[some], self.rows[first])
        return rows


def _changes(before: Answers, answers: Answers) -> Mapping[str, Counted | None]:
    """What is to be put in place of the answers of before; None: there is none any more."""
    changes: dict[str, Counted | None] = {
        name: counted
        for name, counted in answers.items()
        if (old := before.get(name)) is not counted and old != counted
    }
    changes.update(dict.fromkeys(before.keys() - answers.keys()))
    return changes


class LiveProblem:
    """One problem of a live board: its columns, and each team's cell."""

    def __init__(
        self, problem: ScoredProblem, phase: frozenset[CaseKind], references: board.ReferenceScores, rows: int
    ) -> None:
        self.problem = problem
        self.rule = problem.rule
        self.whole = self.rule.counting is Counting.BEST
        self.columns = incremental_scoring.Columns(problem, phase, references.get(problem.id), rows)
        self.cells: dict[str, TeamCell] = {}
        self.answers: list[Answers] = []
        self.lent = False
        self.known_bests: scoring.Bests | None = None
        self.exact: dict[int, Fraction] = {}
        self.places: TeamRows | None = None

    def copy(self) -> LiveProblem:
        """The same problem, which goes on by itself."""
        other = copy(self)
        other.columns = self.columns.copy()
        other.cells = {team: cell.copy() for team, cell in self.cells.items()}
        other.answers, other.lent = list(self.answers), False
        other.exact = dict(self.exact)
        other.places = None  # is written in place
        return other

    def add_team(self, team: str) -> None:
        """Add a team, which has no answers yet."""
        self.cells[team] = TeamCell(self._new_row(setter=True))

    def remove_team(self, team: str) -> None:
        """Remove a team and its answers."""
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
        self.exact.pop(row, None)
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
            self.exact.pop(row, None)
            self.known_bests = None
            self.columns.change(row, changes)

    def count(self, team: str, place: int, tries: Sequence[Attempt], choice: int | None) -> None:
        """Let these judged attempts of a team (at this place of all), in order, be all that counts."""
        cell, sent = self.cells[team], len(self.cells[team].sent)
        cell.choice = choice if any(each.id == choice and not each.failed for each in tries) else None
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

    def _continued(self, cell: TeamCell, tries: Sequence[Attempt]) -> Sequence[Attempt]:
        """Those attempts that follow what is folded; where something before has changed, all of them, afresh."""
        known, before = len(cell.tries), cell.tries
        cell.tries = tries
        if cell.fold is not None and list(before) == list(tries[:known]):  # unchanged attempts are the same objects
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
            self.places = TeamRows.of([self.cells[team.id] for team in teams], whole=self.whole)
        return self.places.counted(self.columns.shown)

    def bests(self) -> scoring.Bests:
        """BEST of each case as it is now."""
        if self.known_bests is None:
            self.known_bests = self.columns.scores.as_bests()
        return self.known_bests

    def refresh(self) -> None:
        """Bring the columns up to date, and forget exact points that a new BEST changed."""
        if self.columns.refresh():
            self.exact.clear()

    def exact_points(self, row: int, same: dict[bytes, Fraction]) -> Fraction:
        """The exact points of a row; `same` has those of rows by their content. Call after a refresh.

        They are kept, as ranking asks for those of all tied teams at each change (the speed for 1,000 scoreboards).
        """
        if row not in self.exact:
            content = self.columns.content(row)
            known = None if content is None else same.get(content)
            if known is None:
                known = scoring.exact_points(self.problem, self.answers[row], self.bests(), self.columns.phase)
            self.exact[row] = known
            if content is not None:
                same[content] = known
        return self.exact[row]
