"""The most points2 that an instance can give: an upper bound, proven part by part of the maze.

A part is a set of cells closed by walls. A small one is searched completely; in any other each ball may go only where
`find_reachable` lets it, so that no assignment of its balls to its goals is worth more. To be perfect a part also needs
an assignment that the same search allows backwards from the target; if there is none, at least two points2 are lost:
a goal without a ball costs two and wrong colours come in pairs. More can be lost in pockets (`pockets.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from checkers.rollingballs import WALL
from solvers.rollingballs.board.flat import Board, Ints
from solvers.rollingballs.bound.assignment import most_worth
from solvers.rollingballs.bound.exhaustive import exhaust
from solvers.rollingballs.bound.pockets import lost_in_pockets
from solvers.rollingballs.bound.reachable import find_reachable


class _Part(NamedTuple):
    """A part too large to search: the cells of its balls and goals, and which of them may come together."""

    balls: Ints
    goals: Ints
    worth: NDArray[Any]  # [balls, goals] points2 of a ball on a goal, 0 where it never comes
    exact: NDArray[np.bool_]  # [balls, goals] true if the ball fills the goal rightly, seen from both ends


def find_maximum(board: Board) -> int:
    """Return a number of points2 that no rolls can pass, however many they are."""
    balls, reached = find_reachable(board.cells, board.steps)
    ends, came_from = find_reachable(board.target, board.steps, backward=True)
    most = 0
    parts: list[_Part] = []
    cells: set[int] = set()
    for part in find_parts(board):
        points = exhaust(board.cells, board.target, board.steps, part)
        if points is not None:
            most += points
            continue
        movers, goals = np.isin(balls, part), np.isin(ends, part)
        can = reached[movers][:, ends[goals]]
        same = board.cells[balls[movers]][:, None] == board.target[ends[goals]][None, :]
        both = can & same & came_from[goals][:, balls[movers]].T
        parts.append(_Part(balls[movers], ends[goals], can * (1 + same), both))
        cells.update(part.tolist())
    return most + 2 * sum(len(part.goals) for part in parts) - _lose(board, parts, cells)


def _lose(board: Board, parts: list[_Part], cells: set[int]) -> int:
    """Return the most points2 that can be proven lost in parts too large to search, whose cells are `cells`.

    What is lost at the goals of pockets adds to what no assignment collects at the other goals.
    """
    pockets = lost_in_pockets(board, cells)
    elsewhere = 0
    for part in parts:
        others = [number for number, goal in enumerate(part.goals.tolist()) if goal not in pockets.cells]
        elsewhere += 2 * len(others) - _most_worth(part.worth[:, others])
    return max(sum(map(_lose_part, parts)), pockets.all, pockets.at_goals + elsewhere)


def _lose_part(part: _Part) -> int:
    """Return the points2 that no assignment collects in a part, at least two where none reaches all goals both ways."""
    lost = 2 * len(part.goals) - _most_worth(part.worth)
    whole = len(part.balls) == len(part.goals) and lost == 0
    return 2 if whole and _most_worth(part.exact) < len(part.goals) else lost


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
