"""The most points2 that an instance can give: an upper bound, proven part by part of the maze.

A part is a set of cells closed by walls. A small one is searched completely; in any other each ball may go only where
`find_reachable` lets it, so that no assignment of its balls to its goals is worth more.
"""

from __future__ import annotations

import numpy as np

from checkers.rollingballs import WALL
from solvers.rollingballs.assign import most_worth
from solvers.rollingballs.board import Board, Ints
from solvers.rollingballs.exhaust import exhaust
from solvers.rollingballs.reachable import find_reachable


def find_maximum(board: Board) -> int:
    """Return a number of points2 that no rolls can pass, however many they are."""
    balls, reached = find_reachable(board.cells, board.steps)
    most = 0
    for part in find_parts(board):
        exact = exhaust(board.cells, board.target, board.steps, part)
        if exact is not None:
            most += exact
            continue
        goals = part[board.target[part] >= 0]
        movers = np.isin(balls, part)
        can = reached[movers][:, goals].astype(np.int32)
        same = board.cells[balls[movers]][:, None] == board.target[goals][None, :]
        size = max(can.shape)
        worth = np.zeros((size, size), np.int32)
        worth[: can.shape[0], : can.shape[1]] = can * (1 + same)
        most += most_worth(worth)
    return most


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
