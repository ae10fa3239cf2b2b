"""How near beam-local comes to perfect RollingBalls answers in 9.5 seconds a seed, on official seeds 1 to 10, one core.

`python -m bench.rollingballs --seeds 1..40 --seconds 9.5 --method beam-local` asks for others.
Compiling does not count.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.table import Table

from checkers.rollingballs import read_answer, read_instance, score_answer, write_answer
from solvers import rollingballs

GENERATOR = Path(__file__).parents[1] / "problems/rollingballs/generators/generate.py"
GOAL = 0.993


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 1 if the mean share is below the goal."""
    options = read_options(arguments or [])
    rollingballs.solve(read_instance(make_input(1)), method=options.method, seed=1, seconds=1, steps=1)
    table = Table("seed", "balls", "points2", "of", "share", "rolls", "seconds", title=f"{options.method}")
    shares = []
    for seed in options.seeds:
        row = measure(seed, options.method, options.seconds)
        shares.append(row[0])
        table.add_row(str(seed), *row[1])
    mean = sum(shares) / len(shares)
    table.add_row("mean", "", "", "", f"{mean:.5f}", "", "")
    Console(width=100).print(table)
    return int(mean < GOAL)


def read_options(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench.rollingballs")
    parser.add_argument("--seeds", type=read_range, default=range(1, 11), help="such as 1..40")
    parser.add_argument("--seconds", type=float, default=9.5)
    parser.add_argument("--method", choices=rollingballs.METHODS, default="beam-local")
    return parser.parse_args(arguments)


def read_range(text: str) -> range:
    """Read `first..last`."""
    first, _, last = text.partition("..")
    return range(int(first), int(last or first) + 1)


def make_input(seed: int) -> bytes:
    """Run the official generator."""
    return subprocess.run([sys.executable, str(GENERATOR), "--seed", str(seed)], capture_output=True, check=True).stdout


def measure(seed: int, method: str, seconds: float) -> tuple[float, list[str]]:
    """Solve one seed and have the checker score it; returns the share of the maximum and the row to show."""
    instance = read_instance(make_input(seed))
    started = perf_counter()
    answer = rollingballs.solve(instance, method=method, seed=1, seconds=seconds)
    used = perf_counter() - started
    score = score_answer(instance, read_answer(write_answer(answer).encode(), instance))
    share = float(score.multiplier or 0)
    shown = [str(instance.balls), str(score.raw), str(score.max_raw), f"{share:.5f}"]
    return share, [*shown, str(len(answer.rolls)), f"{used:.1f}"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
