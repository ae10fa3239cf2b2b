"""Per-team state of a live board at one problem: the folded answers, and the team's rows in the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from app.domain.score_columns import Floats, Whole
from app.domain.scoring import Attempt, Fold


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
