"""The first rung: with at most 13 ropes three figures are lost, and one look ahead is enough."""

from __future__ import annotations

from checkers.netgame import SECOND, Answer
from solvers.doors import Unsolved
from solvers.netgame.net import Net, answer_of, go_on
from solvers.parts.clock import Clock

MOST_ROPES = 13


def solve_by_figures(net: Net, clock: Clock) -> Answer:
    """Try every rope against the table of lost figures; raises Unsolved for nets of more than 13 ropes."""
    if len(net.sides) > MOST_ROPES:
        raise Unsolved(f"the table of figures is right up to {MOST_ROPES} ropes, found {len(net.sides)}")
    go_on(clock, 1)
    clock.step(len(net.sides), states=len(net.sides))
    return Answer(SECOND) if is_lost(net, net.whole) else answer_of(net, lambda cells: is_lost(net, cells))


def is_lost(net: Net, cells: int) -> bool:
    """The table: no cell at all, two cells without a common side, four cells in a square."""
    corners = [corner for cell, corner in enumerate(net.corners) if cells >> cell & 1]
    if len(corners) == 2:
        (x1, y1), (x2, y2) = corners
        return abs(x1 - x2) + abs(y1 - y2) != 1
    if len(corners) == 4:
        columns, rows = sorted({x for x, _ in corners}), sorted({y for _, y in corners})
        return len(columns) == len(rows) == 2 and columns[1] == columns[0] + 1 and rows[1] == rows[0] + 1
    return not corners
