"""Optimiza of the day: random boards whose two greedy walks and whose best walk collect sums far apart.

X goes backwards from the cell with the greatest value, always to the greatest cell left; Y is the best of the same from
all other cells; both are the source's. Z is the optimum: a walk never goes down in value, so the walks inside one layer
of N+1 cells are searched completely, from the highest layer down, and each ends at what its last cell is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from checkers.rules.optimiza import destinations, read_board
from solvers.daily.puzzle import Draws, Puzzle

SIDES = {"small": 5, "medium": 7, "large": 9}
APART = 5
"""Y - X and Z - Y are at least Z divided by this."""
LEAST_CELLS = 2
"""The best walk visits at least so many times N cells."""

Steps = Sequence[Sequence[int]]


def make_optimiza(size: str, draws: Draws) -> Puzzle:
    """Draw boards until one is hard enough."""
    side = SIDES[size]
    for drawn in count(1):
        values = [value for value in range(1, side) for _ in range(side + 1)] + [side]
        draws.shuffle(values)
        instance = write_board(side, values)
        steps = steps_of(instance, values)
        x, y = greedy_sums(values, steps)
        if y <= x:
            continue
        walk = best_walk(values, steps)
        z = sum(values[cell] for cell in walk)
        if APART * min(y - x, z - y) >= z and len(walk) >= LEAST_CELLS * side:
            return Puzzle("optimiza", size, instance, write_walk(side, walk, z), x, y, z, drawn)
    raise AssertionError("boards do not end")


def write_board(side: int, values: Sequence[int]) -> str:
    """Render a board as an input."""
    rows = [values[at : at + side] for at in range(0, side * side, side)]
    return "\n".join([str(side), *(" ".join(map(str, row)) for row in rows)]) + "\n"


def write_walk(side: int, walk: Sequence[int], total: int) -> str:
    """Render a walk over cell numbers as an answer."""
    lines = [str(total), str(len(walk)), *(f"{cell // side + 1} {cell % side + 1}" for cell in walk)]
    return "\n".join(lines) + "\n"


def steps_of(instance: str, values: Sequence[int]) -> Steps:
    """List for every cell the cells that a walk may continue to, in the order of the directions."""
    ends = destinations(read_board(instance.encode("ascii"))).tolist()
    return [[end for end in ways if end >= 0 and values[end] >= values[cell]] for cell, ways in enumerate(ends)]


def greedy_sums(values: Sequence[int], steps: Steps) -> tuple[int, int]:
    """Give X and Y. Of equal predecessors the first, row by row, is taken."""
    before: list[list[int]] = [[] for _ in values]
    for cell, ways in enumerate(steps):
        for end in ways:
            before[end].append(cell)
    for cells in before:
        cells.sort(key=lambda cell: (-values[cell], cell))
    top = max(range(len(values)), key=values.__getitem__)
    sums = [_walk_back(values, before, end) for end in range(len(values))]
    return sums[top], max(total for end, total in enumerate(sums) if end != top)


def _walk_back(values: Sequence[int], before: Steps, end: int) -> int:
    used = {end}
    cell: int | None = end
    total = 0
    while cell is not None:
        total += values[cell]
        cell = next((other for other in before[cell] if other not in used), None)
        if cell is not None:
            used.add(cell)
    return total


def best_walk(values: Sequence[int], steps: Steps) -> list[int]:
    """Give a walk that collects the most, proved by a complete search of every layer."""
    worth = [0] * len(values)  # what the best walk from a cell collects, the cell included
    onward: list[list[int]] = [[] for _ in values]  # that walk
    for value in sorted(set(values), reverse=True):
        layer = [cell for cell, own in enumerate(values) if own == value]
        beyond = {
            cell: max((end for end in steps[cell] if values[end] > value), key=worth.__getitem__, default=None)
            for cell in layer
        }
        inside = {cell: [end for end in steps[cell] if values[end] == value] for cell in layer}
        for start in layer:
            worth[start], onward[start] = _deepest(start, value, inside, beyond, worth, onward)
    return onward[max(range(len(values)), key=worth.__getitem__)]


def _deepest(
    start: int,
    value: int,
    inside: dict[int, list[int]],
    beyond: dict[int, int | None],
    worth: Sequence[int],
    onward: Sequence[list[int]],
) -> tuple[int, list[int]]:
    """Give the most that a walk from a cell collects, and the walk; all paths inside the layer are gone."""
    most, best = 0, [start]
    path = [start]
    ways = [iter(inside[start])]
    while path:
        if len(ways) == len(path):  # the last cell is new on the path
            end = beyond[path[-1]]
            total = value * len(path) + (0 if end is None else worth[end])
            if total > most:
                most, best = total, path + ([] if end is None else onward[end])
        cell = next((each for each in ways[-1] if each not in path), None)
        if cell is None:
            path.pop()
            ways.pop()
            continue
        path.append(cell)
        ways.append(iter(inside[cell]))
    return most, best
