"""A position of the last treat."""

from __future__ import annotations

from dataclasses import dataclass

from games.doors import FIRST, Side


@dataclass(frozen=True, slots=True)
class Position:
    """Two piles, the most that a move takes from one of them, and whose move it is."""

    cakes: int
    fruit: int
    most: int
    turn: Side = FIRST

    @property
    def piles(self) -> tuple[int, int, int]:
        """The position without whose move it is, as the rules take it: (cakes, fruit, most)."""
        return self.cakes, self.fruit, self.most
