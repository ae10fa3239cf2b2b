"""Pieces eaten by each comesolo method in 5 seconds on one core, and boards it searches in a second.

The goal is the best known result of 5 seconds on a machine of two cores. Starting the
interpreter and compiling do not count; a beam that reaches all pieces but one ends early. Beside them stand the search
of the editorial in plain C++, and the ratio of our boards a second to its.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.table import Table

from bench.native import NONE_HERE, build
from checkers.comesolo import Instance, read_answer, read_instance, score_answer, write_answer
from solvers import comesolo
from solvers.doors import Report

DATA = Path(__file__).parents[1] / "problems/comesolo/data/secret"
GOALS = {
    "101-n05-p70": 16,
    "103-n10-p50": 54,
    "104-n15-p70": 167,
    "107-n30-p50": 468,
    "108-n30-back": 584,
    "111-n30-p30": 300,
}
SECONDS = 5.0


@dataclass(frozen=True)
class Run:
    """One method on one board: pieces eaten, seconds used, boards searched in a second."""

    eaten: int
    seconds: float
    rate: float


def main() -> int:
    """Print the table; 1 if the beam eats less than its goal anywhere."""
    title = f"Pieces eaten in {SECONDS:g} s (boards looked at in a second, x C++; seconds used where it ended early)"
    table = Table("board", "at most", "goal", "editorial, C++", *comesolo.METHODS, title=title)
    program = build("comesolo")
    short = False
    for name, goal in GOALS.items():
        data = (DATA / f"{name}.in").read_bytes()
        instance = read_instance(data)
        plain = measure_plain(program, data) if program else None
        runs = {method: measure(instance, method) for method in comesolo.METHODS}
        short |= runs["beam"].eaten < goal
        cells = [show(plain) if plain else "", *(show(run, plain) for run in runs.values())]
        table.add_row(name, str(instance.pieces - 1), str(goal), *cells)
    console = Console(width=170)
    console.print(table)
    if program is None:
        console.print(NONE_HERE)
    return int(short)


def measure_plain(program: Path, data: bytes) -> Run:
    """Run the search in C++ once."""
    done = subprocess.run([program, str(SECONDS)], input=data, capture_output=True, check=True)
    eaten, boards, seconds = done.stdout.split()
    return Run(int(eaten), float(seconds), int(boards) / float(seconds))


def measure(instance: Instance, method: str) -> Run:
    """Run a method once with seed 1."""
    comesolo.warm_up(method)
    heard: list[Report] = []
    started = perf_counter()
    answer = comesolo.solve(instance, method=method, seed=1, seconds=SECONDS, progress=heard.append)
    seconds = perf_counter() - started
    score = score_answer(instance, read_answer(write_answer(answer).encode(), instance))
    return Run(int(score.raw), seconds, heard[-1].states / seconds)


def show(run: Run, plain: Run | None = None) -> str:
    """Put a run into one cell of the table."""
    return " ".join(parts(run, plain))


def parts(run: Run, plain: Run | None) -> Iterator[str]:
    """Write one cell."""
    yield f"{run.eaten}"
    yield f"({run.rate / 1000:,.0f}k/s{f', x{run.rate / plain.rate:.1f}' if plain else ''})"
    if run.seconds < 0.95 * SECONDS:
        yield f"{run.seconds:.2f} s"
