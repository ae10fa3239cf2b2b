"""Who wins the duel from each cell of a board, and what prize.

A walk never goes down in value, and enters each value's layer of cells fresh. So cells are solved from the highest
value down. Within a layer a step can be taken back, so that it is an undirected graph: who moves from a cell that has a
step to a higher cell lost for the other player wins at once; between the other cells the game is geography, won if and
only if every maximum matching covers the cell. That settles the winner on every board. The prize is exact where the
layers fall apart into groups of at most ten joined cells (every board to N = 9, and random ones), by all walks of a
group; elsewhere an alpha-beta search looks some steps ahead.

An outcome is what the last to move collects from here on, the cell itself included; it is negative where that is not
the player to move. So each player wants the greatest outcome: to win much, or else to lose little.
"""

from __future__ import annotations

from functools import lru_cache

from checkers.rules.optimiza import Instance
from games.optimiza.matching import in_every_maximum_matching
from games.optimiza.position import steps_of

LARGEST_GROUP = 10
STEPS_AHEAD = 3
BOARDS_SOLVED = 32
NO_BOUND = 1 << 30

Visited = frozenset[int]


class Duel:
    """A board with the outcome of each cell when the piece comes to it from a lower value, or begins there."""

    def __init__(self, board: Instance, largest_group: int = LARGEST_GROUP) -> None:
        self.values = board.values
        self.steps = steps_of(board)
        self.fresh: dict[int, int] = {}
        self.exact = True
        self._largest_group = largest_group
        self._memo: dict[tuple[int, Visited], int] = {}
        self._wins: dict[tuple[int, Visited], bool] = {}
        self._groups: dict[int, int] = {}
        cells = [cell for cell, value in enumerate(self.values) if value]
        for value in sorted({self.values[cell] for cell in cells}, reverse=True):
            self._solve_layer([cell for cell in cells if self.values[cell] == value])

    def outcome(self, cell: int, visited: Visited) -> int:
        """Give the outcome for the player to move from a cell; `visited` are the cells of its value that are used."""
        if self._groups[cell] <= self._largest_group:
            return self._by_all_walks(cell, visited)
        return self._ahead(cell, visited, STEPS_AHEAD, -NO_BOUND, NO_BOUND)

    def wins(self, cell: int, visited: Visited) -> bool:
        """Tell whether the player to move from a cell wins."""
        key = cell, visited
        if key not in self._wins:
            self._wins[key] = self._has_exit(cell) or in_every_maximum_matching(self._geography(cell, visited), cell)
        return self._wins[key]

    def step_outcome(self, cell: int, visited: Visited, end: int) -> int:
        """Give the outcome for the player to move of a step, without the value of the cell that it leaves."""
        if self.values[end] > self.values[cell]:
            return -self.fresh[end]
        return -self.outcome(end, visited | {end})

    def _solve_layer(self, cells: list[int]) -> None:
        self._find_groups(cells)
        for cell in cells:
            self.fresh[cell] = self.outcome(cell, frozenset({cell}))
        self._memo.clear()

    def _find_groups(self, cells: list[int]) -> None:
        """Note for each cell how many are joined with it by steps within the layer."""
        left = set(cells)
        while left:
            group = {left.pop()}
            front = list(group)
            while front:
                near = {end for end in self.steps[front.pop()] if end in left}
                left -= near
                group |= near
                front += near
            self._groups.update(dict.fromkeys(group, len(group)))
            self.exact &= len(group) <= self._largest_group

    def _has_exit(self, cell: int) -> bool:
        """Tell whether a step leads to a higher cell from which the other player loses."""
        value = self.values[cell]
        return any(self.values[end] > value and self.fresh[end] < 0 for end in self.steps[cell])

    def _geography(self, cell: int, visited: Visited) -> dict[int, list[int]]:
        """Collect the cells that may still be walked to within the layer, without those that are won by an exit."""
        graph: dict[int, list[int]] = {}
        front = [cell]
        while front:
            each = front.pop()
            if each in graph:
                continue
            same = [end for end in self.steps[each] if self.values[end] == self.values[cell]]
            graph[each] = [end for end in same if end == cell or not (end in visited or self._has_exit(end))]
            front += graph[each]
        return graph

    def _by_all_walks(self, cell: int, visited: Visited) -> int:
        key = cell, visited
        if key not in self._memo:
            ends = [end for end in self.steps[cell] if end not in visited]
            best = max((self.step_outcome(cell, visited, end) for end in ends), default=None)
            self._memo[key] = added(best, self.values[cell])
        return self._memo[key]

    def _ahead(self, cell: int, visited: Visited, depth: int, low: int, high: int) -> int:
        """Search some steps deep; at the end of it the winner is known and the prize is the cell's alone."""
        value = self.values[cell]
        if depth == 0:
            return value if self.wins(cell, visited) else -value
        low, high = without(low, value), without(high, value)
        best = None
        for end in self.steps[cell]:
            if end in visited:
                continue
            if self.values[end] > value:
                outcome = -self.fresh[end]
            else:
                outcome = -self._ahead(end, visited | {end}, depth - 1, -high, -low)
            best = outcome if best is None else max(best, outcome)
            low = max(low, best)
            if best >= high:  # not `low >= high`: both may be 0, where no outcome lies between them
                break
        return added(best, value)


def added(best: int | None, value: int) -> int:
    """Add a cell's value to the best outcome of a step; without a step the player to move loses."""
    if best is None:
        return -value
    return best + value if best > 0 else best - value


def without(bound: int, value: int) -> int:
    """Turn a bound on outcomes of a cell into one on its steps: the inverse of `added`."""
    if abs(bound) <= value:
        return 0
    return bound - value if bound > 0 else bound + value


@lru_cache(BOARDS_SOLVED)
def solved(board: Instance) -> Duel:
    """Solve a board, once for all its games."""
    return Duel(board)
