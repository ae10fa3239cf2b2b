"""One problem of a live board: which answers of each team count, and what they are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from app.domain import scoring
from app.domain.contests import CaseKind, Counting, ScoredProblem
from app.domain.counting import Answers, Attempt, Counted, Fold, RawScore, submission_answers
from app.domain.incremental_scoring import Columns
from app.domain.score_columns import Whole, grown

NONE = -1


@dataclass
class TeamCell:
    """One team at one problem: folded attempts, and rows in the columns.

    row   the team's row where answers count one by one; the row that only sets BEST where whole submissions count
    best  the best of each case; used where whole submissions count
    sent  rows of submissions by id, where whole submissions count
    """

    row: int
    best: Fold
    tries: list[Attempt] = field(default_factory=list)
    fold: Fold | None = None
    sent: dict[int, int] = field(default_factory=dict)


def _changes(before: Answers, answers: Answers) -> Mapping[str, Counted | None]:
    """What is to be put in place of the answers of before; None: there is none any longer."""
    changes: dict[str, Counted | None] = {
        name: counted
        for name, counted in answers.items()
        if (old := before.get(name)) is not counted and old != counted
    }
    changes.update(dict.fromkeys(before.keys() - answers.keys()))
    return changes


class LiveProblem:
    """One problem of a live board: its columns, and each team's cell.

    answers  the answers of each row; what is in it is never changed
    numbers  of judged and of pending submissions, by the team's row
    places   the rows of the teams on the board, in their order
    """

    def __init__(
        self, problem: ScoredProblem, phase: frozenset[CaseKind], reference: Mapping[str, RawScore] | None
    ) -> None:
        self.problem = problem
        self.rule = problem.rule
        self._whole = problem.rule.counting is Counting.BEST
        self.columns = Columns(problem, phase, reference)
        self.teams: dict[str, TeamCell] = {}
        self.answers: NDArray[np.object_] = np.full(1, {}, dtype=object)
        self.numbers: Whole = np.zeros((2, 1), dtype=np.int64)
        self.places: Whole = np.zeros(0, dtype=np.int64)
        # Where whole submissions count, of each row that is a submission's: its team's row, and its place in order.
        # `_chosen` has the row of the chosen submission by the team's row.
        self._owners: Whole = np.full((2, 1), NONE, dtype=np.int64)
        self._chosen: dict[int, int] = {}
        self._bests: scoring.Bests | None = None
        self._exact: dict[int, Fraction] = {}

    def set_teams(self, team_ids: Sequence[str]) -> None:
        """Let these be the teams on the board; others stay until their attempts are counted as none."""
        for team in team_ids:
            if team not in self.teams:
                self.teams[team] = TeamCell(self._new_row(setter=True), Fold(self.rule))
        self.places = np.array([self.teams[team].row for team in team_ids], dtype=np.int64)
        self.columns.set_teams(len(team_ids))
        self._bests = None

    def _new_row(self, *, setter: bool) -> int:
        row = self.columns.add_row(setter=setter)
        if row >= len(self.answers):
            self.answers, self.numbers = grown(self.answers, {}), grown(self.numbers, 0)
            self._owners = grown(self._owners, NONE)
        return row

    def _put(self, row: int, answers: Answers) -> None:
        before = self.answers[row]
        if before is answers:
            return
        self.answers[row] = answers
        if changes := _changes(before, answers):
            self._exact.pop(row, None)
            self._bests = None
            self.columns.change(row, changes)

    def count(self, team: str, tries: list[Attempt], pending: int, choice: int | None) -> None:
        """Let these judged attempts of a team, in order, be all that counts."""
        cell = self.teams[team]
        self.numbers[:, cell.row] = len(tries), pending
        chosen = next((each.id for each in tries if each.id == choice and not each.failed), None)
        if self._whole:
            self._count_each(cell, tries, chosen)
            return
        fold, news = self._continued(cell, tries)
        for attempt in news:
            fold.add(attempt)
        answers = fold.counted
        if chosen is not None:
            answers = next(of for attempt, of in submission_answers(tries, self.rule) if attempt.id == chosen)
        self._put(cell.row, answers)

    def _count_each(self, cell: TeamCell, tries: list[Attempt], chosen: int | None) -> None:
        """Count each submission as a row of its own; the team's row has the best of each case, which may be BEST."""
        fold, news = self._continued(cell, tries)
        for place, attempt in enumerate(news, start=len(tries) - len(news)):
            if attempt.id not in cell.sent:
                cell.sent[attempt.id] = self._new_row(setter=False)
            row = cell.sent[attempt.id]
            self._owners[:, row] = cell.row, place
            self._put(row, fold.add(attempt))
            cell.best.add(attempt)
        for gone in cell.sent.keys() - {attempt.id for attempt in tries}:
            self._owners[:, cell.sent[gone]] = NONE
            self._put(cell.sent[gone], {})
        self._put(cell.row, cell.best.counted)
        self._chosen.pop(cell.row, None)
        if chosen is not None:
            self._chosen[cell.row] = cell.sent[chosen]

    def _continued(self, cell: TeamCell, tries: list[Attempt]) -> tuple[Fold, list[Attempt]]:
        """The fold of a team with the attempts that are not in it: all, where one before them has changed."""
        known, before, cell.tries = len(cell.tries), cell.tries, tries
        if cell.fold is None or before != tries[:known]:  # unchanged attempts are the same objects
            cell.fold = Fold(replace(self.rule, counting=Counting.LAST) if self._whole else self.rule)
            cell.best = Fold(replace(self.rule, counting=Counting.BEST_CASE))
            known = 0
        return cell.fold, tries[known:]

    def counted_rows(self) -> Whole:
        """The row that counts for each team: where whole submissions count, the chosen one, or the first of the best.

        A team without any has its own row, which is empty.
        """
        if not self._whole:
            return self.places
        owners, turns = self._owners
        sent = np.flatnonzero(owners != NONE)
        most, points = np.full(len(owners), -1.0), self.columns.shown[sent]
        np.maximum.at(most, owners[sent], points)
        best = sent[points == most[owners[sent]]]
        best = best[np.lexsort((turns[best], owners[best]))]
        teams, firsts = np.unique(owners[best], return_index=True)
        counted = np.arange(len(owners))
        counted[teams] = best[firsts]
        for row, chosen in self._chosen.items():
            counted[row] = chosen
        return counted[self.places]

    def bests(self) -> scoring.Bests:
        """BEST of each case as it is now."""
        if self._bests is None:
            self._bests = self.columns.scores.as_bests()
        return self._bests

    def refresh(self) -> None:
        """Bring the columns up to date, and forget exact points that a new BEST changed."""
        if self.columns.refresh():
            self._exact.clear()

    def exact_points(self, row: int) -> Fraction:
        """The exact points of a row. Call after a refresh.

        They are kept, as ranking asks for those of all tied teams at each change (guarantee 6).
        """
        if row not in self._exact:
            self._exact[row] = scoring.exact_points(self.problem, self.answers[row], self.bests(), self.columns.phase)
        return self._exact[row]
