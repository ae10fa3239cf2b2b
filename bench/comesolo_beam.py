"""Pieces that comesolo's beam eats in 5 seconds of processor time on every board, and boards that it proves to be done.

`python -m bench.comesolo_beam --seeds 1..5 --seconds 5 --boards 107-n30-p50` asks for others. Boards are those of the
package and islands of 25 by 25 (seed 106). Below them stand random boards of 30 by 30 with few pieces: how many parts
that never meet, and on how many boards the best play is proven longest. Compiling does not count.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from time import process_time

from rich.console import Console
from rich.table import Table

from checkers.comesolo import Instance, read_answer, read_instance, score_answer, write_answer
from solvers.comesolo import warm_up
from solvers.comesolo.beam import search_beam
from solvers.comesolo.moves import answer_of, rows_of, tables_of
from solvers.comesolo.parts import find_parts
from solvers.doors import Report
from solvers.parts.clock import Clock

PACKAGE = Path(__file__).parents[1] / "problems/comesolo"
ISLANDS = {f"islands-n25-p{density}": f"kind=islands n=25 density={density}" for density in (50, 70, 85)}
SPARSE = (4, 6, 8, 10, 12, 15)
BELOW = {"105-n12-p30": 1}  # of at most 34 jumps 33 are known


@dataclass(frozen=True, slots=True)
class Run:
    """One search: jumps, the proven maximum, parts, boards built, seconds in all and until the best play."""

    jumps: int
    most: int
    parts: int
    states: int
    seconds: float
    best_after: float


def main(arguments: list[str] | None = None) -> int:
    """Print both tables; 1 if a board of the package or an island is not eaten up but for what is known to stay."""
    options = read_options(arguments or [])
    warm_up("beam")
    table = Table("board", "at most", "least", "most", "best after, s: median", "longest", "boards built: median")
    short = False
    for name, instance in chosen_boards(options.boards):
        runs = [measure(instance, seed, options.seconds) for seed in options.seeds]
        least = min(run.jumps for run in runs)
        short |= least < instance.pieces - 1 - BELOW.get(name, 0)
        moments = [run.best_after for run in runs]
        cells = (instance.pieces - 1, least, max(run.jumps for run in runs), f"{median(moments):.2f}")
        states = f"{median(run.states for run in runs):,.0f}"
        table.add_row(name, *map(str, cells), f"{max(moments):.2f}", states)
    console = Console(width=110)
    console.print(table)
    if not options.boards:
        console.print(table_of_sparse(options))
    return int(short)


def table_of_sparse(options: argparse.Namespace) -> Table:
    """Make a row a density: means over the seeds, and how many boards are proven done."""
    table = Table("density, %", "pieces", "parts", "jumps", "proven most", "proven done", "seconds", title="30 x 30")
    for density in SPARSE:
        boards = [generated(f"n=30 density={density}", seed) for seed in options.seeds]
        runs = [measure(board, 1, options.seconds) for board in boards]
        done = sum(run.jumps == run.most for run in runs)
        means = [mean(values) for values in zip(*((run.parts, run.jumps, run.most) for run in runs), strict=True)]
        pieces = mean(board.pieces for board in boards)
        row = [f"{value:.1f}" for value in (pieces, *means)]
        table.add_row(str(density), *row, f"{done} of {len(runs)}", f"{mean(run.seconds for run in runs):.2f}")
    return table


def measure(instance: Instance, seed: int, seconds: float) -> Run:
    """Search once by processor time; the answer is read back and scored."""
    moments = [(0, 0.0)]

    def hear(report: Report) -> None:
        if int(report.best or 0) > moments[-1][0]:
            moments.append((int(report.best or 0), clock.elapsed))

    clock = Clock(seconds, progress=hear, timer=process_time)
    rows, tables = rows_of(instance), tables_of(instance.size)
    split = find_parts(rows, tables)
    outcome = search_beam(rows, tables, split, seed=seed, clock=clock)
    clock.report(best=len(outcome.jumps), final=True)
    text = write_answer(answer_of(outcome.jumps, instance.size))
    jumps = int(score_answer(instance, read_answer(text.encode(), instance)).raw)
    return Run(jumps, outcome.most, len(split.parts), outcome.states, clock.elapsed, moments[-1][1])


def chosen_boards(names: list[str]) -> Iterator[tuple[str, Instance]]:
    """Read the boards of the package and draw the islands; only those named, if any are."""
    for path in sorted((PACKAGE / "data/secret").glob("*.in")):
        if not names or path.stem in names:
            yield path.stem, read_instance(path.read_bytes())
    for name, params in ISLANDS.items():
        if not names or name in names:
            yield name, generated(params, 106)


def generated(params: str, seed: int) -> Instance:
    """Run the package's generator."""
    command = [sys.executable, str(PACKAGE / "generators/generate.py"), "--seed", str(seed), *params.split()]
    return read_instance(subprocess.run(command, capture_output=True, check=True).stdout)


def read_options(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench.comesolo_beam")
    parser.add_argument("--seeds", type=read_range, default=range(1, 6), help="such as 1..5")
    parser.add_argument("--seconds", type=float, default=5.0, help="of processor time a board")
    parser.add_argument("--boards", nargs="*", default=[], help="names; default: all")
    return parser.parse_args(arguments)


def read_range(text: str) -> range:
    """Read `first..last`."""
    first, _, last = text.partition("..")
    return range(int(first), int(last or first) + 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
