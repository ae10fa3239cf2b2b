"""A board as arrays: where each cell's move leads, what leads to each cell, and the layers of equal value.

Only steps that do not go down in value are kept. Steps lie in one flat array, those of cell c from `begin[c]` on to
`begin[c + 1]`; a step's place in that array is its number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from checkers.optimiza import Answer
from checkers.rules.optimiza import Instance, destinations

Numbers = NDArray[np.int32]
Masks = NDArray[np.uint64]


@dataclass(frozen=True)
class Board:
    """The steps of a board.

    values      the cells' values, 0 where a triangle has no cell
    begin, to   the steps forward, by cell
    back, by    the steps backward: those into cell c come from by[back[c]:back[c + 1]], greatest value first, then row
                by row
    back_step   the number of each of these steps
    by_step     True where steps and not cells may not repeat
    """

    size: int
    values: Numbers
    begin: Numbers
    to: Numbers
    back: Numbers
    by: Numbers
    back_step: Numbers
    by_step: bool

    @cached_property
    def cells(self) -> Numbers:
        """The cells, row by row."""
        return np.flatnonzero(self.values).astype(np.int32)

    @cached_property
    def start(self) -> Numbers:
        """The cell that each step starts from."""
        return np.repeat(np.arange(len(self.values), dtype=np.int32), np.diff(self.begin))

    def layer(self, value: int) -> Numbers:
        """The cells of a value, row by row."""
        return np.flatnonzero(self.values == value).astype(np.int32)

    def sum_of(self, walk: Numbers) -> int:
        """Add up the values that a walk collects."""
        return int(self.values[walk].sum())


def board_of(instance: Instance) -> Board:
    """List the steps of a board."""
    values = np.frombuffer(instance.values, np.uint8).astype(np.int32)
    ends = destinations(instance)
    cell, direction = np.nonzero((ends >= 0) & (values[ends] >= values[:, None]))
    start: Numbers = cell.astype(np.int32)
    to: Numbers = ends[cell, direction]
    order: Numbers = np.lexsort((start, -values[start], to)).astype(np.int32)
    return Board(
        instance.size,
        values,
        begin=_begins(start, len(values)),
        to=to,
        back=_begins(to, len(values)),
        by=start[order],
        back_step=order,
        by_step=instance.rules.by_step,
    )


def _begins(keys: Numbers, count: int) -> Numbers:
    """Say where each key's entries begin once they are sorted."""
    return np.concatenate(([0], np.cumsum(np.bincount(keys, minlength=count)))).astype(np.int32)


def answer_of(board: Board, walk: Numbers) -> Answer:
    """Spell a walk over cells as an answer."""
    rows, columns = np.divmod(walk, board.size)
    return Answer(board.sum_of(walk), tuple(zip((rows + 1).tolist(), (columns + 1).tolist(), strict=True)))


def steps_within(board: Board, layer: Numbers) -> list[list[int]]:
    """List for every cell of a layer the places, in the layer, of the cells that it reaches without leaving it."""
    place = {int(cell): at for at, cell in enumerate(layer)}
    return [
        [place[end] for end in board.to[board.begin[cell] : board.begin[cell + 1]].tolist() if end in place]
        for cell in layer.tolist()
    ]


def masks_of(neighbours: list[list[int]]) -> Masks:
    """Write lists of neighbours as bits; at most 64 cells."""
    return np.array([sum(1 << other for other in others) for others in neighbours], np.uint64)
