"""The most points2 that an instance can give: an upper bound, proven part by part of the maze.

A part is a set of cells closed by walls. A small one is searched completely; in any other each ball may go only where
`find_reachable` lets it, so that no assignment of its balls to its goals is worth more. To be perfect a part also needs
an assignment that the same search allows backwards from the target; if there is none, at least two points2 are lost:
a goal without a ball costs two and wrong colours come in pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from checkers.rollingballs import WALL
from solvers.rollingballs.board.flat import Board, Ints
from solvers.rollingballs.bound.assignment import most_worth
from solvers.rollingballs.bound.exhaustive import exhaust
from solvers.rollingballs.bound.reachable import find_reachable


def find_maximum(board: Board) -> int:
    """Return a number of points2 that no rolls can pass, however many they are."""
    balls, reached = find_reachable(board.cells, board.steps)
    ends, came_from = find_reachable(board.target, board.steps, backward=True)
    most = 0
    for part in find_parts(board):
        exact = exhaust(board.cells, board.target, board.steps, part)
        if exact is not None:
            most += exact
            continue
        movers, goals = np.isin(balls, part), np.isin(ends, part)
        can = reached[movers][:, ends[goals]]
        same = board.cells[balls[movers]][:, None] == board.target[ends[goals]][None, :]
        bound = _most_worth(can * (1 + same))
        perfect = 2 * int(movers.sum())
        whole = goals.sum() == movers.sum() and bound == perfect
        if whole and _most_worth(can & same & came_from[goals][:, balls[movers]].T) < perfect // 2:
            bound -= 2
        most += bound
    return most


def _most_worth(worth: NDArray[Any]) -> int:
    """Pad with worthless balls or goals where there are fewer of them."""
    square = np.zeros((max(worth.shape),) * 2, np.int32)
    square[: worth.shape[0], : worth.shape[1]] = worth
    return most_worth(square)


def find_parts(board: Board) -> list[Ints]:
    """Return the closed parts of the maze that hold balls, each as its cells in rising order."""
    unseen, parts = board.cells != WALL, []
    for first in np.flatnonzero(board.cells >= 0).tolist():
        if not unseen[first]:
            continue
        unseen[first] = False
        part = [first]
        for cell in part:
            beside = [to for to in (cell + board.steps).tolist() if unseen[to]]
            unseen[beside] = False
            part += beside
        parts.append(np.array(sorted(part), np.int32))
    return parts
