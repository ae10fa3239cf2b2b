"""Pockets: small sets of cells that a lone ball cannot leave, and the points2 that are lost in them for certain.

The pocket of a cell is all that a ball rolls over from there, and from wherever it comes to rest, while no other ball
is in the maze. All that can ever stand in a pocket is searched, with balls outside granted anything: one of any colour
may roll in wherever there is an opening, and lie before an opening, or not, whenever that helps.

What stands in the pocket at the end may leave goals empty, have wrong colours on goals, and balls off the goals. Where
there are as many goals as balls, a ball off the goals leaves one empty, in the pocket or elsewhere: with `empty`,
`wrong` and `off` summed over disjoint pockets, at least 2 max(empty, off) + wrong points2 are lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from checkers.rollingballs import EMPTY, WALL
from solvers.rollingballs.board.flat import Board, Cells

MOST_CELLS, MOST_STATES = 9, 3000
OTHER = 10
"""A colour that no goal of the pocket has; all of these are the same."""
State = tuple[int, ...]
Loss = tuple[int, int, int]
"""The least of 2 empty + wrong, of 2 off + wrong, and of empty + off + wrong."""


class Lost(NamedTuple):
    """Points2 lost for certain: `all` of them, those `at_goals` of the pockets, and the `cells` of these pockets."""

    all: int
    at_goals: int
    cells: set[int]


def lost_in_pockets(board: Board, cells: set[int]) -> Lost:
    """Return what no rolls can save from being lost in disjoint pockets within `cells`, which no ball leaves.

    Where they have more goals than balls, or fewer, as many more are empty for every ball off the goals, or fewer.
    """
    pockets = [pocket for pocket in find_pockets(board) if cells.issuperset(pocket)]
    losses = [(loss, pocket) for pocket in pockets if max(loss := lose(board, pocket))]
    losses.sort(key=lambda item: (-max(item[0]), len(item[1]), item[1]))
    taken: set[int] = set()
    sums = [0, 0, 0]
    for loss, pocket in losses:
        if taken.isdisjoint(pocket):
            taken.update(pocket)
            sums = [total + one for total, one in zip(sums, loss, strict=True)]
    inside = sorted(cells)
    more_goals = int((board.target[inside] >= 0).sum()) - int((board.cells[inside] >= 0).sum())
    return Lost(max(sums[0], sums[1] + 2 * more_goals, sums[2] + more_goals), sums[0], taken)


def find_pockets(board: Board) -> set[tuple[int, ...]]:
    """Return the pockets of at most MOST_CELLS cells that hold a ball or a goal, each as its cells in rising order."""
    walls = (board.cells == WALL).tolist()
    steps = board.steps.tolist()
    pockets: dict[int, tuple[int, ...] | None] = {}
    for first in range(len(walls)):
        if board.cells[first] >= 0 or board.target[first] >= 0:
            pockets[first] = _sweep(walls, steps, first)
    return {pocket for pocket in pockets.values() if pocket is not None}


def _sweep(walls: list[bool], steps: list[int], first: int) -> tuple[int, ...] | None:
    """Return all cells that a lone ball from `first` rolls over, or None if they are too many."""
    rests, swept = [first], {first}
    for rest in rests:
        for step in steps:
            to = rest
            while not walls[to + step]:
                to += step
                swept.add(to)
            if len(swept) > MOST_CELLS:
                return None
            if to not in rests:
                rests.append(to)
    return tuple(sorted(swept))


def lose(board: Board, pocket: tuple[int, ...]) -> Loss:
    """Return what is lost at least in a pocket; nothing if more can stand in it than is searched."""
    goals = [int(board.target[cell]) for cell in pocket]
    wanted = {goal for goal in goals if goal >= 0}
    now = tuple(_name(int(board.cells[cell]), wanted) for cell in pocket)
    if now == tuple(goals):
        return 0, 0, 0
    place = {cell: number for number, cell in enumerate(pocket)}
    known, waiting = {now}, [now]
    least = (1 << 30,) * 3
    while waiting:
        now = waiting.pop()
        least = _least(least, now, goals)
        if max(least) == 0 or len(known) > MOST_STATES:
            return 0, 0, 0
        for then in _follow(board.cells, board.steps.tolist(), pocket, place, now, [*sorted(wanted), OTHER]):
            if then not in known:
                known.add(then)
                waiting.append(then)
    return least


def _name(ball: int, wanted: set[int]) -> int:
    return ball if ball in wanted or ball == EMPTY else OTHER


def _least(least: Loss, now: State, goals: list[int]) -> Loss:
    """Lower the three losses to those of what stands in the pocket now."""
    empty = sum(goal >= 0 and ball < 0 for ball, goal in zip(now, goals, strict=True))
    wrong = sum(goal >= 0 and ball >= 0 and ball != goal for ball, goal in zip(now, goals, strict=True))
    off = sum(goal < 0 and ball >= 0 for ball, goal in zip(now, goals, strict=True))
    return (
        min(least[0], 2 * empty + wrong),
        min(least[1], 2 * off + wrong),
        min(least[2], empty + off + wrong),
    )


def _follow(
    cells: Cells, steps: list[int], pocket: tuple[int, ...], place: dict[int, int], now: State, colours: list[int]
) -> Iterator[State]:
    """Give what can stand in the pocket after one more roll, of a ball in it or of one that comes in."""
    for number, cell in enumerate(pocket):
        for step in steps:
            if now[number] != EMPTY:
                left = (*now[:number], EMPTY, *now[number + 1 :])
                for end in _ends(cells, place, left, cell, step):
                    yield left if end < 0 else (*left[:end], now[number], *left[end + 1 :])
            elif cells[cell - step] != WALL and cell - step not in place:
                for end in _ends(cells, place, now, cell, step):
                    if end >= 0:
                        yield from ((*now[:end], colour, *now[end + 1 :]) for colour in colours)


def _ends(cells: Cells, place: dict[int, int], now: State, cell: int, step: int) -> Iterator[int]:
    """Give the places where a ball at `cell` that rolls by `step` may stop; -1: it leaves by an opening."""
    while True:
        ahead = cell + step
        if cells[ahead] == WALL:
            yield place[cell]
            return
        if ahead not in place:
            yield place[cell]
            yield -1
            return
        if now[place[ahead]] != EMPTY:
            yield place[cell]
            return
        cell = ahead
