"""What each comesolo method eats in 5 seconds on one core, and how many boards it looks at in a second.

The goal is what a plain beam in C++ ate in 5 seconds on the two-core machine where this was written. Starting the
interpreter and compiling do not count; a beam that reaches all pieces but one ends early.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.table import Table

from checkers.comesolo import Instance, read_answer, read_instance, score_answer, write_answer
from solvers import comesolo
from solvers.doors import Report

DATA = Path(__file__).parents[1] / "problems/comesolo/data/secret"
GOALS = {
    "101-n05-p70": 16,
    "103-n10-p50": 54,
    "104-n15-p70": 167,
    "107-n30-p50": 465,
    "108-n30-back": 584,
    "111-n30-p30": 295,
}
SECONDS = 5.0


@dataclass(frozen=True)
class Run:
    """One method on one board: pieces eaten, seconds used, boards looked at in a second."""

    eaten: int
    seconds: float
    rate: float


def main() -> int:
    """Print the table; 1 if the beam eats less than its goal anywhere."""
    title = f"Pieces eaten in {SECONDS:g} s (boards looked at in a second; seconds used where it ended early)"
    table = Table("board", "at most", "goal", *comesolo.METHODS, title=title)
    short = False
    for name, goal in GOALS.items():
        instance = read_instance((DATA / f"{name}.in").read_bytes())
        runs = {method: measure(instance, method) for method in comesolo.METHODS}
        short |= runs["beam"].eaten < goal
        table.add_row(name, str(instance.pieces - 1), str(goal), *(show(run) for run in runs.values()))
    Console(width=150).print(table)
    return int(short)


def measure(instance: Instance, method: str) -> Run:
    """Run a method once with seed 1."""
    comesolo.warm_up(method)
    heard: list[Report] = []
    started = perf_counter()
    answer = comesolo.solve(instance, method=method, seed=1, seconds=SECONDS, progress=heard.append)
    seconds = perf_counter() - started
    score = score_answer(instance, read_answer(write_answer(answer).encode(), instance))
    return Run(int(score.raw), seconds, heard[-1].states / seconds)


def show(run: Run) -> str:
    """Put a run into one cell of the table."""
    return " ".join(parts(run))


def parts(run: Run) -> Iterator[str]:
    """Give what a cell says."""
    yield f"{run.eaten}"
    yield f"({run.rate / 1000:,.0f}k/s)"
    if run.seconds < 0.95 * SECONDS:
        yield f"{run.seconds:.2f} s"
