"""Milliseconds of each netgame method on the largest nets, beside the editorial's algorithm in plain C++.

The C++ program (bench/cpp/netgame.cpp) is a recursive search with memory over sets of whole cells; the numbers in
brackets are a method's time divided by its time. Reading the input and starting the program count for neither. The
worst net for `cells` is the block of 4 x 5 cells: no other one has 20 cells.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.table import Table

from bench.native import NONE_HERE, build
from checkers.netgame import read_instance, winning_ropes
from solvers import netgame
from solvers.doors import Unsolved

DATA = Path(__file__).parents[1] / "problems/netgame/data/secret"
NETS = (
    "2-n25/203-row-1x8",
    "2-n25/202-block-3x3-loose",
    "3-n50/302-row-1x16",
    "3-n50/305-twelve-apart",
    "3-n50/306-block-4x4",
    "3-n50/301-block-4x5",
    "3-n50/303-block-4x5-minus",
    "3-n50/304-block-5x4-loose",
)
METHODS = ("ropes-all", "ropes", "cells", "dp", "grundy")
GOAL = 50.0
RUNS = 15


def main() -> int:
    """Print the fastest of some runs; 1 if `cells` takes more than 50 ms on a net."""
    program = build("netgame")
    title = f"Milliseconds, the fastest of {RUNS} runs (times the C++); `cells` must stay below {GOAL:g}"
    table = Table("net", "N", "C++ -O2", *METHODS, title=title, caption=None if program else NONE_HERE)
    short = False
    for name in NETS:
        data = (DATA / f"{name}.in").read_bytes()
        native = None if program is None else measure_native(program, data)
        taken = {method: measure(data, method) for method in METHODS}
        short |= (taken["cells"] or GOAL) >= GOAL
        table.add_row(name, data.partition(b"\n")[0].decode(), show(native, None), *cells_of(taken, native))
    Console(width=130).print(table)
    return int(short)


def measure(data: bytes, method: str) -> float | None:
    """Solve a net some times, compiled; returns the milliseconds of the fastest run, None without an answer."""
    instance = read_instance(data)
    fastest = float("inf")
    for _ in range(RUNS):
        started = perf_counter()
        try:
            netgame.solve(instance, method=method, seed=1, seconds=10.0)
        except Unsolved:
            return None
        fastest = min(fastest, perf_counter() - started)
    return fastest * 1000


def measure_native(program: Path, data: bytes) -> float:
    """Let the C++ program solve a net as often, and check its answer; returns the milliseconds."""
    done = subprocess.run([program, str(RUNS)], input=data, capture_output=True, check=True)
    winner, rope, milliseconds = done.stdout.split()
    winning = winning_ropes(read_instance(data))
    if (int(rope) not in winning) if int(winner) == 1 else bool(winning):
        raise RuntimeError(f"bench/cpp/netgame.cpp gives a wrong answer: {done.stdout!r}")
    return float(milliseconds)


def cells_of(taken: Mapping[str, float | None], native: float | None) -> list[str]:
    """Put the methods' times into the cells of a row."""
    return [show(milliseconds, native) for milliseconds in taken.values()]


def show(milliseconds: float | None, native: float | None) -> str:
    """Put one time into a cell, with its ratio where there is another time to compare with."""
    if milliseconds is None:
        return "-"
    ratio = "" if native is None else f" ({milliseconds / native:.1f})"
    return f"{milliseconds:.2f}{ratio}"


if __name__ == "__main__":
    raise SystemExit(main())
