"""All boards of Optimiza with N = 3 and N = 4, up to translation: optima, greedy walks, trails, and the game for two.

A board is given by the sets of cells of each value, the cell N standing first: 70 boards for N = 3, 756,756 for N = 4.
For each of them a kernel finds what can be collected when cells (`best`) or steps (`edges`) may not repeat, what the
greedy walks collect (`x` from the cell N, `y` from the others, `wary` from all by Warnsdorff's rule), and from which
cells the first player of the duel wins. The duel is scored as the source says: who moves last takes all points. B
chooses who begins and so always wins; `a` is the least that A can let B have, by the choice of the first cell.
"""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from checkers.rules.optimiza import Instance, destinations

SIZES = (3, 4)
COLUMNS = ("best", "edges", "x", "y", "wary", "a")
EXPECTED = {3: 70, 4: 756_756}
STRETCH = 20_000

Masks = NDArray[np.uint32]
Counts = NDArray[np.int32]


def main() -> int:
    """Print a table for each size; 1 if the number of boards is not what a count gives."""
    odd = False
    for size in SIZES:
        boards = all_boards(size)
        odd |= len(boards) != EXPECTED[size]
        columns, wins = measure(size, boards)
        show(size, columns, wins)
    return int(odd)


def measure(size: int, boards: Masks) -> tuple[dict[str, Counts], Counts]:
    """Measure boards: a column of numbers each, and for each board the number of cells of each value from which the
    first player of the duel wins.
    """
    reach = reach_of(size)
    rows = np.zeros((len(boards), len(COLUMNS)), np.int32)
    wins = np.zeros((len(boards), size + 1), np.int32)
    for at in track(range(0, len(boards), STRETCH), f"N = {size}", disable=not sys.stderr.isatty()):
        stretch = slice(at, at + STRETCH)
        _measure(size, boards[stretch], reach, rows[stretch], wins[stretch])
    return {name: rows[:, at] for at, name in enumerate(COLUMNS)}, wins


def show(size: int, columns: dict[str, Counts], wins: Counts) -> None:
    """Print what was measured."""
    best = columns["best"]
    table = Table("", "least", "mean", "most", "mean share lost", "lost of all", "boards where optimal")
    table.title = f"N = {size}: {len(best):,} boards"
    for name, numbers in columns.items():
        lost = [f"{100 * (1 - (numbers / best).mean()):.2f} %", f"{100 * (1 - numbers.sum() / best.sum()):.2f} %"]
        same = f"{100 * (numbers == best).mean():.2f} %"
        compared = [*lost, same] if name in ("x", "y", "wary") else ["", "", ""]
        table.add_row(name, str(numbers.min()), f"{numbers.mean():.3f}", str(numbers.max()), *compared)
    either = np.maximum(columns["x"], columns["y"])
    shares = (f"{100 * (1 - (either / best).mean()):.2f} %", f"{100 * (1 - either.sum() / best.sum()):.2f} %")
    same = f"{100 * (either == best).mean():.2f} %"
    table.add_row("max(x, y)", str(either.min()), f"{either.mean():.3f}", str(either.max()), *shares, same)
    console = Console(width=120)
    console.print(table)
    full = (size + 1) * size * (size - 1) // 2 + size
    console.print(f"a whole board is worth {full}; boards whose best walk collects it: {int((best == full).sum()):,}")
    duel = Table("value of the first cell", "won by who begins", title=f"N = {size}: the duel, all boards and cells")
    for value in range(1, size + 1):
        cells = 1 if value == size else size + 1
        duel.add_row(str(value), f"{100 * wins[:, value].sum() / (cells * len(best)):.2f} %")
    console.print(duel)
    alone = int((wins.sum(axis=1) == 0).sum())
    console.print(f"boards on which whoever begins loses from every cell: {alone:,}")


def all_boards(size: int) -> Masks:
    """List the sets of cells of the values 1 to N-1 of every board whose cell N is the first."""
    rows: list[tuple[int, ...]] = [()]
    free = (1 << size * size) - 2
    for _ in range(size - 2):
        rows = [(*row, chosen) for row in rows for chosen in subsets(free - sum(row), size + 1)]
    return np.array([(*row, free - sum(row)) for row in rows], np.uint32)


def subsets(cells: int, count: int) -> list[int]:
    """List the sets of so many cells out of a set."""
    bits = [1 << cell for cell in range(cells.bit_length()) if cells >> cell & 1]
    return [sum(chosen) for chosen in combinations(bits, count)]


def reach_of(size: int) -> Masks:
    """Give the cells that a move from each cell reaches, by the value it has: uint32[N + 1, N * N]."""
    reach = np.zeros((size + 1, size * size), np.uint32)
    for value in range(1, size + 1):
        ends = destinations(Instance(size, "torus8", bytes([value]) * (size * size)))
        reach[value] = [sum(1 << end for end in row if end >= 0) for row in ends.tolist()]
    return reach


@njit(cache=True, nogil=True)
def _count(bits: int) -> int:  # pragma: no cover - compiled
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@njit(cache=True, nogil=True)
def _measure(size: int, boards: Masks, reach: Masks, rows: Counts, wins: Counts) -> None:  # pragma: no cover - compiled
    """Fill in the rows of boards; its slow twins are in the tests."""
    cells = size * size
    layers = np.zeros(size + 1, np.int64)
    values = np.zeros(cells, np.int64)
    best, trail, duel = np.zeros((3, cells), np.int64)
    for at in range(len(boards)):
        layers[size] = 1
        for value in range(1, size):
            layers[value] = boards[at, value - 1]
        for value in range(1, size + 1):
            for cell in range(cells):
                if layers[value] >> cell & 1:
                    values[cell] = value
        best[0], trail[0], duel[0] = size, size, -size
        above = np.int64(1)
        for value in range(size - 1, 0, -1):
            _climb(value, layers[value], above, reach, best, trail, duel)
            above |= layers[value]
        rows[at, 0] = best.max()
        rows[at, 1] = trail.max()
        rows[at, 2] = _walk(0, False, layers, values, reach)
        for end in range(cells):
            if end > 0:
                rows[at, 3] = max(rows[at, 3], _walk(end, False, layers, values, reach))
            rows[at, 4] = max(rows[at, 4], _walk(end, True, layers, values, reach))
            wins[at, values[end]] += duel[end] > 0
        rows[at, 5] = np.abs(duel).min()


@njit(cache=True, nogil=True)
def _climb(
    value: int,
    layer: int,
    above: int,
    reach: Masks,
    best: NDArray[np.int64],
    trail: NDArray[np.int64],
    duel: NDArray[np.int64],
) -> None:  # pragma: no cover - compiled
    """Fill in a layer's cells from those above: what a walk, a trail and a duel that begin there are worth.

    A duel is worth what the last to move takes, negative where that is not who is to move. Who is to move takes the
    greatest number: to win much, or else to lose little.
    """
    members = np.array([cell for cell in range(len(best)) if layer >> cell & 1], np.int64)
    count = len(members)
    beside = np.zeros(count, np.int64)
    away = np.full((count, count), 99, np.int64)
    worth, longest = np.zeros((2, count), np.int64)
    won = np.full(count, -(1 << 20), np.int64)
    for i in range(count):
        ends = np.int64(reach[value, members[i]])
        away[i, i] = 0
        for j in range(count):
            if ends >> members[j] & 1:
                beside[i] |= 1 << j
                away[i, j] = 1
        for cell in range(len(best)):
            if ends & above & (np.int64(1) << cell):
                worth[i] = max(worth[i], best[cell])
                longest[i] = max(longest[i], trail[cell])
                won[i] = max(won[i], -duel[cell])
    walk, play = np.zeros((2, 1 << count, count), np.int64)
    for visited in range((1 << count) - 1, 0, -1):
        for i in range(count):
            if not visited >> i & 1:
                continue
            most = worth[i]
            prize = won[i]
            for j in range(count):
                if beside[i] >> j & 1 and not visited >> j & 1:
                    most = max(most, walk[visited | 1 << j, j])
                    prize = max(prize, -play[visited | 1 << j, j])
            walk[visited, i] = value + most
            if prize == -(1 << 20):
                play[visited, i] = -value
            else:
                play[visited, i] = prize + value if prize > 0 else prize - value
    for middle in range(count):
        for i in range(count):
            for j in range(count):
                away[i, j] = min(away[i, j], away[i, middle] + away[middle, j])
    for i in range(count):
        best[members[i]] = walk[1 << i, i]
        duel[members[i]] = play[1 << i, i]
        steps = 0
        for j in range(count):
            if away[i, j] < 99:
                steps += _count(beside[j])
        trail[members[i]] = 0
        for j in range(count):
            if away[i, j] < 99:
                trail[members[i]] = max(trail[members[i]], value * (1 + steps - away[j, i]) + longest[j])


@njit(cache=True, nogil=True)
def _walk(
    end: int, wary: bool, layers: NDArray[np.int64], values: NDArray[np.int64], reach: Masks
) -> int:  # pragma: no cover - compiled
    """Collect backwards from a cell, always from the greatest predecessor left."""
    used = np.int64(1) << end
    cell = end
    total = values[end]
    while True:
        chosen = -1
        fewest = 99
        for value in range(values[cell], 0, -1):
            near = np.int64(reach[value, cell]) & layers[value] & ~used
            for other in range(len(values)):
                if not near >> other & 1:
                    continue
                ways = 0
                if wary:
                    ways = _count(np.int64(reach[value, other]) & layers[value] & ~used & ~(np.int64(1) << other))
                    ways = ways if ways > 0 else 98
                if ways < fewest:
                    chosen, fewest = other, ways
            if chosen >= 0:
                break
        if chosen < 0:
            return int(total)
        used |= np.int64(1) << chosen
        cell = chosen
        total += values[chosen]
