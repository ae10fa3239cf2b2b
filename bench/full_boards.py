"""Boards of Optimiza with a prime N on which one walk visits all cells, found by search and held against the checker.

A full walk visits the N + 1 cells of value 1, then those of value 2, and so on, so that its steps have known lengths: a
walk over all cells of the torus whose first N + 1 steps have length 1, the next N + 1 length 2 makes a board. The
search goes to the cell with the fewest ways on (ties at random), back where it is stuck, and begins anew after a while.

For composite N there is no such board: docs/sources.md has the proof.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from checkers.optimiza import Answer, Instance, most_collected, read_answer, write_answer

PRIMES = (3, 5, 7, 11, 13)
TRIES = 20_000
VISITS = 20_000
SEED = 1

Numbers = NDArray[np.int64]


def main() -> int:
    """Print the boards found; 1 if a prime has none, which proves nothing."""
    table = Table("N", "full walk", "collected", "first row of the board", title="Boards with a full walk")
    missing = False
    for size in PRIMES:
        walk = find_walk(size, SEED)
        missing |= walk is None
        if walk is None:
            table.add_row(str(size), f"none in {TRIES:,} searches", "", "")
            continue
        board = board_of_walk(size, walk)
        total = collected(board, walk)
        missing |= total != most_collected(board)
        table.add_row(str(size), "yes", str(total), " ".join(map(str, board.values[:size])))
    Console(width=100).print(table)
    return int(missing)


def find_walk(size: int, seed: int) -> Numbers | None:
    """Search for a walk over all cells, row * size + column; None if none was found."""
    walk = np.zeros(size * size, np.int64)
    for number in range(TRIES):
        if _search(size, seed + number, VISITS, walk):
            return walk
    return None


def board_of_walk(size: int, walk: Numbers) -> Instance:
    """Give each cell the length of the step that leaves it, and N to the last one."""
    values = np.zeros(size * size, np.uint8)
    values[walk] = np.arange(size * size) // (size + 1) + 1
    return Instance(size, "torus8", values.tobytes())


def collected(board: Instance, walk: Numbers) -> int:
    """Let the checker follow a walk; returns what it collects."""
    cells = tuple((int(cell) // board.size + 1, int(cell) % board.size + 1) for cell in walk)
    answer = Answer(sum(board.values[int(cell)] for cell in walk), cells)
    return read_answer(write_answer(answer).encode(), board).total


@njit(cache=True, nogil=True)
def _to(cell: int, direction: int, length: int, size: int) -> int:  # pragma: no cover - compiled
    """Go some cells in one of eight directions."""
    way = direction if direction < 4 else direction + 1
    row = (cell // size + (way // 3 - 1) * length) % size
    column = (cell % size + (way % 3 - 1) * length) % size
    return int(row * size + column)


@njit(cache=True, nogil=True)
def _search(size: int, seed: int, visits: int, walk: Numbers) -> bool:  # pragma: no cover - compiled
    """Search from the first cell; True if `walk` visits all cells. `tried` has a bit for each direction tried."""
    np.random.seed(seed)
    cells = size * size
    used = np.zeros(cells, np.bool_)
    tried = np.zeros(cells, np.int64)
    walk[0] = 0
    used[0] = True
    depth = 1
    for _ in range(visits):
        if depth == cells:
            return True
        length = (depth - 1) // (size + 1) + 1
        after = depth // (size + 1) + 1
        best, fewest = -1, 99.0
        for direction in range(8):
            cell = _to(walk[depth - 1], direction, length, size)
            if tried[depth - 1] >> direction & 1 or used[cell]:
                continue
            ways = np.random.random()
            for onward in range(8):
                ways += not used[_to(cell, onward, after, size)]
            if ways < fewest:
                best, fewest = direction, ways
        if best < 0:
            depth -= 1
            if depth == 0:
                return False
            used[walk[depth]] = False
            continue
        tried[depth - 1] |= 1 << best
        walk[depth] = _to(walk[depth - 1], best, length, size)
        used[walk[depth]] = True
        tried[depth] = 0
        depth += 1
    return False
