"""A position of the net game, and what is worked out of its net once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from checkers.rules.netgame import Instance, sides_of, whole_cells
from games.doors import FIRST, SECOND, Side

NETS_REMEMBERED = 1024


@dataclass(frozen=True, slots=True)
class Position:
    """A net as given, and the numbers (from 1) of the ropes that have been cut: numbers never change in a game."""

    net: Instance
    cut: frozenset[int] = frozenset()

    @property
    def turn(self) -> Side:
        """Whose move it is: players take turns, a cut each."""
        return SECOND if len(self.cut) % 2 else FIRST

    @property
    def sides(self) -> tuple[int, ...]:
        """For each rope the set of cells of the whole net that it is a side of, as bits."""
        return cells_of(self.net)[1]

    @property
    def whole(self) -> int:
        """The set of cells that are still whole, as bits."""
        corners, sides = cells_of(self.net)
        whole = (1 << len(corners)) - 1
        for rope in self.cut:
            whole &= ~sides[rope - 1]
        return whole

    @property
    def cuttable(self) -> list[int]:
        """The numbers of the ropes that may be cut: sides of a cell that is still whole, and so not cut yet."""
        whole = self.whole
        return [number for number, cells in enumerate(self.sides, start=1) if cells & whole]

    def after(self, rope: int) -> Position:
        """Cut one more rope."""
        return Position(self.net, self.cut | {rope})


@lru_cache(NETS_REMEMBERED)
def cells_of(net: Instance) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """Find the whole cells of a net: their lower left corners, and for each rope the set of its cells as bits."""
    cells = whole_cells(net)
    return tuple(cells), tuple(sides_of(cells, len(net.ropes)))
