"""Bottom-up tables over all sets of whole cells: won or lost at once, or Grundy numbers piece by piece."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from checkers.compiled import njit
from checkers.netgame import Answer, Sets, Table, fill_won
from solvers.netgame.net import Net, answer_of, go_on
from solvers.parts.clock import Clock

STATES_AT_ONCE = 1 << 17

Fill = Callable[[Table, Sets, int, int], None]


def solve_by_dp(net: Net, clock: Clock) -> Answer:
    """Fill one table of 2^cells; raises Unsolved when the clock ended it."""
    won = won_table(net, clock)
    return answer_of(net, lambda cells: not won[cells])


def won_table(net: Net, clock: Clock) -> Table:
    """Say of every set of cells whether the player to move wins (1) or loses (0)."""
    return _filled(fill_won, len(net.corners), net.cuts(), clock)


def solve_by_grundy(net: Net, clock: Clock) -> Answer:
    """Fill a table for every piece of the net; the exclusive or of the pieces' numbers says who wins."""
    pieces = pieces_of(net)
    tables = [_filled(_fill_grundy, len(piece), _within(net, piece), clock) for piece in pieces]

    def is_lost(cells: int) -> bool:
        total = 0
        for piece, table in zip(pieces, tables, strict=True):
            total ^= int(table[sum(1 << i for i, cell in enumerate(piece) if cells >> cell & 1)])
        return total == 0

    return answer_of(net, is_lost)


def pieces_of(net: Net) -> list[list[int]]:
    """Part the cells into pieces: cells with a common rope are in one."""
    labels = list(range(len(net.corners)))
    for cells in net.sides:
        if cells.bit_count() == 2:
            low, high = (cells & -cells).bit_length() - 1, cells.bit_length() - 1
            old, new = labels[high], labels[low]
            labels = [new if label == old else label for label in labels]
    return [[cell for cell, own in enumerate(labels) if own == label] for label in sorted(set(labels))]


def _within(net: Net, piece: list[int]) -> Sets:
    """The cuts of one piece, its cells numbered again."""
    cuts = (int(cut) for cut in net.cuts())
    sets = [sum(1 << i for i, cell in enumerate(piece) if cut >> cell & 1) for cut in cuts]
    return np.array([cells for cells in sets if cells], np.int64)


def _filled(fill: Fill, cells: int, cuts: Sets, clock: Clock) -> Table:
    """Fill a table of 2^cells entries in stretches; raises Unsolved if the clock ended it."""
    table = np.zeros(1 << cells, np.uint8)
    first = 1
    while first < len(table):
        last = min(first + go_on(clock, STATES_AT_ONCE), len(table))
        fill(table, cuts, first, last)
        clock.step(last - first, states=clock.taken + last - first)
        first = last
    return table


@njit(cache=True, nogil=True)
def _fill_grundy(table: Table, cuts: Sets, first: int, last: int) -> None:  # pragma: no cover - compiled
    """Give each set the least number that no cut leads to; there are at most 49 cuts, so numbers stay below 64."""
    for cells in range(first, last):
        seen = np.uint64(0)
        for cut in cuts:
            if cells & cut:
                seen |= np.uint64(1) << np.uint64(table[cells & ~cut])
        number = 0
        while seen & np.uint64(1):
            seen >>= np.uint64(1)
            number += 1
        table[cells] = number
