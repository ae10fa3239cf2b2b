"""Boards of torus4 that ask for a Hamilton path: the construction of docs/sources.md, built and solved on small graphs.

For a grid graph (cells of a grid, joined side by side) a board is built on which the best walk collects as much as the
longest path of the graph is worth: (N - 1) times its cells. So whoever finds best walks finds Hamilton paths.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
from rich.console import Console
from rich.table import Table

from checkers.rules.optimiza import Instance
from solvers import optimiza

Place = tuple[int, int]
Graph = frozenset[Place]

SIZE = 101
GRAPHS = 12
CELLS = 14
SIDES = ((0, 1), (1, 0), (0, -1), (-1, 0))


def main() -> int:
    """Print the longest path of drawn graphs beside the best walk on their boards; 1 if they differ anywhere."""
    table = Table("graph", "cells", "longest path", "best walk", "/ (N - 1)", title=f"torus4, N = {SIZE}")
    odd = False
    for seed in range(GRAPHS):
        graph = drawn_graph(CELLS, seed)
        longest = longest_path(graph)
        best = optimiza.solve(board_of_graph(graph, SIZE), method="layered", seed=1, seconds=60.0).total
        odd |= best != longest * (SIZE - 1)
        table.add_row(str(seed), str(len(graph)), str(longest), str(best), f"{best / (SIZE - 1):g}")
    Console(width=100).print(table)
    return int(odd)


def drawn_graph(count: int, seed: int) -> Graph:
    """Grow a connected grid graph cell by cell."""
    draws, cells = random.Random(seed), {(0, 0)}
    while len(cells) < count:
        row, column = draws.choice(sorted(cells))
        down, right = draws.choice(SIDES)
        cells.add((row + down, column + right))
    return frozenset(cells)


def longest_path(graph: Graph) -> int:
    """Count the cells of the longest path, by trying all."""

    def onwards(place: Place, used: frozenset[Place]) -> int:
        row, column = place
        nexts = [(row + down, column + right) for down, right in SIDES]
        return 1 + max((onwards(to, used | {to}) for to in nexts if to in graph and to not in used), default=0)

    return max(onwards(place, frozenset({place})) for place in graph)


def board_of_graph(graph: Graph, size: int) -> Instance:
    """Build the board; `size` is a prime far above the number of cells. Raises ValueError where it is too small."""
    rows, columns = np.indices((size, size))
    values = 2 * (rows + columns) % size
    top = size - 1
    low = (min(r for r, _ in graph), min(c for _, c in graph))
    corner = size // 8  # the graph lies where row + column is far from the diagonals of the values 0 and N - 1
    cells = {(r - low[0] + corner, c - low[1] + corner) for r, c in graph}
    if max(map(sum, cells)) + 1 >= top // 2:
        raise ValueError(f"expected a size far above {len(graph)}, found {size}")
    pads = list(zip(*map(np.ndarray.tolist, np.nonzero(values == top)), strict=True))
    unchanged = size + 1 - len(cells)
    changed = [place for place in sorted({*entering(values, cells), *pads[unchanged:]}) if place not in cells]
    zeros = list(zip(*map(np.ndarray.tolist, np.nonzero(values == 0)), strict=True))
    for place in (*changed, *zeros, *cells):
        values[place] = 0
    for cell in cells:
        values[cell] = top
    left = Counter(dict.fromkeys(range(1, size), size + 1) | {size: 1})
    left.subtract(int(value) for value in values.ravel() if value > 0)
    fill(values, left, [*changed, *sorted(zeros, key=lambda place: -len(forbidden(place, cells, size)))], cells)
    return Instance(size, "torus4", values.astype(np.uint8).tobytes())


def entering(values: np.ndarray, cells: set[Place]) -> Iterator[Place]:
    """List the cells whose move leads into the graph."""
    size = len(values)
    for row, column in cells:
        for down, right in SIDES:
            for k in range(1, size - 1):
                place = ((row + k * down) % size, (column + k * right) % size)
                if values[place] == k:
                    yield place


def forbidden(place: Place, cells: set[Place], size: int) -> set[int]:
    """List the values that would lead from a cell into the graph; N leads nowhere but may be reached from beside it."""
    row, column = place
    away = {(c - column) % size for r, c in cells if r == row} | {(r - row) % size for r, c in cells if c == column}
    values = away | {size - distance for distance in away}
    return values | ({size} if 1 in values else set())


def fill(values: np.ndarray, left: Counter[int], places: list[Place], cells: set[Place]) -> None:
    """Give each place the least value left that does not lead into the graph."""
    for place in places:
        banned = forbidden(place, cells, len(values))
        value = min((value for value, count in left.items() if count > 0 and value not in banned), default=0)
        if value == 0:
            raise ValueError(f"no value is left for {place}")
        values[place] = value
        left[value] -= 1
