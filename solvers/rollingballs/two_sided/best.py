"""The best play so far, and whether any can be better."""

from __future__ import annotations

import numpy as np

from solvers.rollingballs.board.flat import Board, Cells, Ints, points_of
from solvers.rollingballs.two_sided.join_boards import land
from solvers.rollingballs.two_sided.two_boards import TwoBoards


class Best:
    """The best play so far, at first the one without rolls; `most` is the proven maximum of points2."""

    def __init__(self, board: Board, most: int) -> None:
        self.board, self.most = board, most
        self.cells: Cells = board.cells
        self.rolls: Ints = np.empty((0, 3), np.int32)
        self.points = int(points_of(board.cells, board.target))

    @property
    def proven(self) -> bool:
        """True if no play can have more points2."""
        return self.points >= self.most

    def offer(self, cells: Cells, rolls: Ints) -> None:
        """Take a play if it has more points2 and not too many rolls."""
        points = int(points_of(cells, self.board.target))
        if points > self.points and len(rolls) <= self.board.most_rolls:
            self.points, self.cells, self.rolls = points, cells.copy(), rolls.copy()

    def offer_landing(self, two: TwoBoards) -> None:
        """Land two boards and take what came of it."""
        self.offer(*land(two, self.board))
