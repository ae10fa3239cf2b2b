"""Jumps on 105-n12-p30, where 33 are known and 34 are not excluded: boards searched in vain, and what is left over.

`python -m bench.comesolo_open --seeds 1..4 --seconds 10` asks for other seeds and seconds of processor time. The second
table counts all boards after so many jumps, as long as they are no more than a million.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from time import process_time

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.comesolo_beam import PACKAGE, read_range
from checkers.comesolo import Instance, read_instance
from solvers.comesolo import warm_up
from solvers.comesolo.beam import Effort, go_on, new_search, run_whole
from solvers.comesolo.costs import SETTINGS, View, costs_of
from solvers.comesolo.levels import build, choose, first_level
from solvers.comesolo.moves import rows_of, tables_of
from solvers.comesolo.parts import find_parts
from solvers.parts.clock import Clock

KNOWN = 33
MOST_BOARDS = 1_000_000

Cells = tuple[tuple[int, int], ...]


def main(arguments: list[str] | None = None) -> int:
    """Print both tables; 1 if fewer jumps are reached than are known."""
    options = read_options(arguments or [])
    instance = read_instance((PACKAGE / "data/secret/105-n12-p30.in").read_bytes())
    warm_up("beam")
    table = Table("seed", "jumps", "proven most", "boards built", "pieces left over: plays", title="105-n12-p30")
    best = 0
    for seed in options.seeds:
        jumps, most, states, left = search(instance, seed, options.seconds)
        best = max(best, jumps)
        ends = "; ".join(f"{' '.join(map(str, cells))}: {count}" for cells, count in left.most_common())
        table.add_row(str(seed), str(jumps), str(most), f"{states:,}", ends)
    console = Console(width=120)
    console.print(table)
    counts = Table("jumps", "boards")
    for jumps, boards in enumerate(list_levels(instance), start=1):
        counts.add_row(str(jumps), f"{boards:,}" if boards <= MOST_BOARDS else f"above {MOST_BOARDS:,}")
    console.print(counts)
    return int(best < KNOWN)


def search(instance: Instance, seed: int, seconds: float) -> tuple[int, int, int, Counter[Cells]]:
    """Search as the beam does; return jumps, the proven maximum, boards, and the leftovers of the longest plays."""
    rows, tables = rows_of(instance), tables_of(instance.size)
    effort = Effort(tables, Clock(seconds, timer=process_time), np.random.Generator(np.random.PCG64(seed)))
    (part,) = find_parts(rows, tables).parts
    one = new_search(part, effort)
    run_whole(one)
    left: Counter[Cells] = Counter()
    longest = 0
    while effort.clock.running() and one.open:
        go_on(one)
        if len(one.best) > longest:
            longest, left = len(one.best), Counter()
        left[tuple((int(r), int(c)) for r, c in one.left)] += 1
    return len(one.best), one.most, effort.states, left


def list_levels(instance: Instance) -> list[int]:
    """Count the boards after 1, 2, ... jumps; the last number is above MOST_BOARDS."""
    tables = tables_of(instance.size)
    costs = costs_of(View(SETTINGS[0], (instance.size / 2, instance.size / 2)), instance.size)
    level = first_level(rows_of(instance), tables, costs)
    counts: list[int] = []
    while not counts or 0 < counts[-1] <= MOST_BOARDS:
        chosen = choose(level, tables, MOST_BOARDS)
        counts.append(len(chosen.parents) if chosen.whole else MOST_BOARDS + 1)
        if chosen.whole:
            level = build(level, chosen, tables, costs)
    return counts


def read_options(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench.comesolo_open")
    parser.add_argument("--seeds", type=read_range, default=range(1, 5), help="such as 1..4")
    parser.add_argument("--seconds", type=float, default=10.0, help="of processor time a seed")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
