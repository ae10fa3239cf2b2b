"""A position of the duel on an Optimiza board."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from checkers.rules.optimiza import Instance, destinations
from games.doors import FIRST, SECOND, Side, other

BOARDS_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class Position:
    """A board, the cells that the piece has stood on (row * size + column), and who began, once that is said."""

    board: Instance
    walk: tuple[int, ...] = ()
    starter: Side | None = None

    @property
    def turn(self) -> Side:
        """Whose move it is: A places, B says who begins, then the two move in turn."""
        if self.starter is None:
            return SECOND if self.walk else FIRST
        return self.starter if len(self.walk) % 2 else other(self.starter)

    @property
    def cell(self) -> int:
        """Where the piece stands."""
        return self.walk[-1]

    @property
    def visited(self) -> frozenset[int]:
        """The cells of the walk with the value of the last one: a walk never comes back to a lower value."""
        values = self.board.values
        return frozenset(cell for cell in self.walk if values[cell] == values[self.cell])

    @property
    def steps(self) -> list[int]:
        """The cells that the piece may step to."""
        return [cell for cell in steps_of(self.board)[self.cell] if cell not in self.walk]

    @property
    def prize(self) -> int:
        """What has been collected: the sum of the values of the walk."""
        return sum(self.board.values[cell] for cell in self.walk)


@lru_cache(BOARDS_REMEMBERED)
def ways_of(board: Instance) -> tuple[tuple[int, ...], ...]:
    """List for each cell those as far away as its value says, and -1 for directions without one."""
    return tuple(map(tuple, destinations(board).tolist()))


@lru_cache(BOARDS_REMEMBERED)
def steps_of(board: Instance) -> tuple[tuple[int, ...], ...]:
    """List for each cell those that a step leads to: as far away as its value says, and of no lower value."""
    values = board.values
    return tuple(
        tuple(end for end in row if end >= 0 and values[end] >= values[cell] > 0)
        for cell, row in enumerate(ways_of(board))
    )
