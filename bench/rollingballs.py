"""Share of the possible points that two-sided reaches in 9.5 seconds a seed, on official seeds 1 to 40, one core.

`python -m bench.rollingballs --seeds 1..10 --method beam-local` asks for others, `--compare` for all methods and the
notes' own in plain C++ side by side. The proven maximum stands beside what was reached. Compiling does not count.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.table import Table

from bench.native import NONE_HERE, build
from checkers.rollingballs import read_answer, read_instance, score_answer, write_answer
from solvers import rollingballs
from solvers.rollingballs.board.flat import lay_out
from solvers.rollingballs.bound.maximum import find_maximum

GENERATOR = Path(__file__).parents[1] / "problems/rollingballs/generators/generate.py"
GOAL = 0.9937


def main(arguments: list[str] | None = None) -> int:
    """Print the table, or one line a method; 1 if two-sided's mean share is below the goal."""
    options = read_options(arguments or [])
    methods = list(rollingballs.METHODS) if options.compare else [options.method]
    means = {method: run(method, options.seeds, options.seconds, shown=not options.compare) for method in methods}
    if options.compare:
        table = Table("method", "mean share", title=f"{len(options.seeds)} seeds, {options.seconds} s each")
        for method, mean in means.items():
            table.add_row(method, f"{mean:.5f}")
        program = build("rollingballs")
        table.add_row("the notes', plain C++", f"{run_plain(program, options):.5f}" if program else NONE_HERE)
        Console(width=100).print(table)
    return int(means.get(rollingballs.REFERENCE, 1.0) < GOAL)


def run(method: str, seeds: range, seconds: float, *, shown: bool) -> float:
    """Solve the seeds with one method and print a row a seed if `shown`; returns the mean share."""
    rollingballs.solve(read_instance(make_input(1)), method=method, seed=1, seconds=1, steps=1)
    rollingballs.solve(read_instance(make_input(2)), method=method, seed=1, seconds=1, steps=20)
    table = Table("seed", "balls", "points2", "of", "proven most", "share", "rolls", "seconds", title=method)
    shares, most = [], 0.0
    for seed in seeds:
        share, bound, row = measure(seed, method, seconds)
        shares.append(share)
        most += bound
        table.add_row(str(seed), *row)
    mean = sum(shares) / len(shares)
    table.add_row("mean", "", "", "", f"{most / len(shares):.5f}", f"{mean:.5f}", "", "")
    if shown:
        Console(width=100).print(table)
    return mean


def run_plain(program: Path, options: argparse.Namespace) -> float:
    """Solve the seeds with the program in C++; returns the mean share."""
    shares = []
    for seed in options.seeds:
        data = make_input(seed)
        done = subprocess.run([program, str(options.seconds)], input=data, capture_output=True, check=True)
        shares.append(int(done.stdout.split()[0]) / (2 * read_instance(data).balls))
    return sum(shares) / len(shares)


def read_options(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench.rollingballs")
    parser.add_argument("--seeds", type=read_range, default=range(1, 41), help="such as 1..10")
    parser.add_argument("--seconds", type=float, default=9.5)
    parser.add_argument("--method", choices=rollingballs.METHODS, default=rollingballs.REFERENCE)
    parser.add_argument("--compare", action="store_true", help="all methods, one line each")
    return parser.parse_args(arguments)


def read_range(text: str) -> range:
    """Read `first..last`."""
    first, _, last = text.partition("..")
    return range(int(first), int(last or first) + 1)


def make_input(seed: int) -> bytes:
    """Run the official generator."""
    return subprocess.run([sys.executable, str(GENERATOR), "--seed", str(seed)], capture_output=True, check=True).stdout


def measure(seed: int, method: str, seconds: float) -> tuple[float, float, list[str]]:
    """Solve one seed and have the checker score it; returns its share, the possible points, and a row to print."""
    instance = read_instance(make_input(seed))
    most = find_maximum(lay_out(instance))
    started = perf_counter()
    answer = rollingballs.solve(instance, method=method, seed=1, seconds=seconds)
    used = perf_counter() - started
    score = score_answer(instance, read_answer(write_answer(answer).encode(), instance))
    share = float(score.multiplier or 0)
    row = [str(instance.balls), str(score.raw), str(score.max_raw), str(most), f"{share:.5f}", str(len(answer.rolls))]
    return share, most / (2 * instance.balls), [*row, f"{used:.1f}"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
