"""Time for 100,000 positions of lasttreat: the list and the formula, beside the same in plain C++.

The goal is that the formula answers 100,000 positions of up to 10^18 in less than a second; reading the input, judging
the answer and compiling are listed apart. Each time is the best of five.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from sys import executable
from time import perf_counter

from rich.console import Console
from rich.table import Table

from bench.native import NONE_HERE, build
from checkers.lasttreat import read_answer, read_instance, score_answer, write_answer
from solvers import lasttreat

GENERATOR = Path(__file__).parents[1] / "problems/lasttreat/generators/generate.py"
COUNT = 100_000
RUNS = 5
GOAL = 1.0
CASES = {"linear": ("list", 10**6), "closed-form": ("formula", 10**18)}


def main() -> int:
    """Print the table; 1 if the formula misses its goal."""
    title = f"{COUNT} positions, piles up to 10^18 (seconds, best of {RUNS})"
    table = Table("method", "K up to", "reading", "solving", "judging", "C++ solving", "solving by C++", title=title)
    program = build("lasttreat")
    missed = False
    for method, (native, most) in CASES.items():
        data = make(most)
        reading, solving, judging = measure(data, method)
        missed |= method == lasttreat.REFERENCE and solving >= GOAL
        beside = ["", ""]
        if program is not None:
            seconds = min(native_seconds(program, native, data) for _ in range(RUNS))
            beside = [f"{seconds:.4f}", f"{solving / seconds:.2f}"]
        table.add_row(method, f"{most:.0e}", f"{reading:.3f}", f"{solving:.4f}", f"{judging:.3f}", *beside)
    console = Console(width=120)
    console.print(table)
    if program is None:
        console.print(NONE_HERE)
    return int(missed)


def make(most: int) -> bytes:
    """Make the positions: a quarter each at random, lost, near a lost one, and starts that are traps."""
    params = [f"t={COUNT}", f"n={10**18}", "least=1", f"most={most}"]
    return subprocess.run([executable, GENERATOR, "--seed", "1", *params], capture_output=True, check=True).stdout


def measure(data: bytes, method: str) -> tuple[float, float, float]:
    """Time reading an input, solving it, and judging the answer."""
    lasttreat.warm_up(method)
    instance = read_instance(data)
    answer = lasttreat.solve(instance, method=method, seed=1, seconds=60)
    written = write_answer(answer).encode()
    return (
        best_of(lambda: read_instance(data)),
        best_of(lambda: lasttreat.solve(instance, method=method, seed=1, seconds=60)),
        best_of(lambda: score_answer(instance, read_answer(written, instance))),
    )


def best_of(work: Callable[[], object]) -> float:
    """Run a function some times; returns the seconds of the quickest run."""
    times = []
    for _ in range(RUNS):
        started = perf_counter()
        work()
        times.append(perf_counter() - started)
    return min(times)


def native_seconds(program: Path, way: str, data: bytes) -> float:
    """Run the C++ program; returns the seconds it reports between reading and writing. Its answer must be right."""
    done = subprocess.run([program, way], input=data, capture_output=True, check=True)
    instance = read_instance(data)
    score_answer(instance, read_answer(done.stdout, instance))
    return float(done.stderr)
