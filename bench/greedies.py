"""The mean loss of Optimiza's greedy walks by N, on random boards, against the proved optimum.

`x`, `y` and `wary` are the methods greedy-x, greedy-y and greedy-wary; the loss is the mean of 1 - collected / optimum.
"""

from __future__ import annotations

import random

import numpy as np
from rich.console import Console
from rich.table import Table

from checkers.rules.optimiza import Instance
from solvers import optimiza

SIZES = (4, 5, 6, 8, 10, 12, 16, 20, 30, 40)
BOARDS = 100
SEED = 1
METHODS = ("greedy-x", "greedy-y", "greedy-wary")


def main() -> int:
    """Print the table; 1 if the wary walks lose more than the better of the source's two at any size."""
    table = Table("N", "mean optimum", "x", "y", "max(x, y)", "wary", "wary optimal", title=f"{BOARDS} boards a size")
    odd = False
    for size in SIZES:
        best, collected = measure(size, BOARDS, SEED)
        either = np.maximum(collected["greedy-x"], collected["greedy-y"])
        columns = [collected["greedy-x"], collected["greedy-y"], either, collected["greedy-wary"]]
        losses = [float(1 - (column / best).mean()) for column in columns]
        odd |= losses[3] > losses[2]
        share = f"{100 * (columns[3] == best).mean():.0f} %"
        table.add_row(str(size), f"{best.mean():.1f}", *(f"{100 * loss:.1f} %" for loss in losses), share)
    Console(width=100).print(table)
    return int(odd)


def measure(size: int, count: int, seed: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Solve random boards with `layered` and with the greedy methods; returns the sums."""
    draws = random.Random(f"{seed} {size}")
    values = [value for value in range(1, size) for _ in range(size + 1)] + [size]
    sums: dict[str, list[int]] = {method: [] for method in (*METHODS, "layered")}
    for _ in range(count):
        draws.shuffle(values)
        board = Instance(size, "torus8", bytes(values))
        for method, totals in sums.items():
            totals.append(optimiza.solve(board, method=method, seed=1, seconds=60.0).total)
    return np.array(sums.pop("layered")), {method: np.array(totals) for method, totals in sums.items()}
