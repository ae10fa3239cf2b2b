"""Time and memory of the lazypiglets reference, beside the source's A* in plain C++, and on fresh maps.

The C++ program (bench/cpp/lazypiglets.cpp) is built as the printed one: its states lie in a std::map, its estimate lets
piglets jump over free cells. Memory is that of all arrays at their peak. Starting a program and compiling count for
neither. Goals: 2 s and 200 MiB on the original maps, 8 s (perfect mazes 15 s) and 512 MiB on fresh maps of size 22.
"""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.table import Table

from bench.native import NONE_HERE, build
from checkers.lazypiglets import read_answer, read_instance, write_answer
from solvers import lazypiglets
from solvers.doors import Unsolved

GENERATORS = Path(__file__).parents[1] / "problems/lazypiglets/generators"
HANDED_DOWN = (
    "01-8-4-15-rand",
    "02-12-3-20-rand",
    "03-22-1-25-maze",
    "05-22-2-10-far",
    "06-22-3-20-spread",
    "08-22-4-20-spread",
    "10-22-4-0-rooms",
    "13-22-4-30-rand",
)
SLOW = ("08", "10", "13")
MAPS = {"rand": 8.0, "rooms": 8.0, "maze": 15.0}
PLACES = ("rand", "far", "spread", "gather", "pairs", "unreachable")
SEED = 1
PATIENCE = 75.0
MIB = 2**20


@dataclass(frozen=True)
class Run:
    """One map: the answer or why there is none, seconds, bytes of all arrays at their peak."""

    answer: str
    seconds: float
    held: int

    def is_within(self, seconds: float, memory: int) -> bool:
        """Tell whether there is an answer within the goals (s, MiB)."""
        return self.answer.lstrip("-").isdigit() and self.seconds <= seconds and self.held <= memory * MIB


def main() -> int:
    """Print both tables; 1 if a goal is missed."""
    lazypiglets.warm_up("reference")
    return int(not (handed_down() & fresh()))


def handed_down() -> bool:
    """Print the reference beside the C++ program; tells whether all goals of time and memory are met."""
    program = build("lazypiglets")
    title = "The maps handed down: the reference's seconds and MiB, and how many times as long the source's A* takes"
    table = Table(
        "map",
        "steps",
        "s",
        "MiB",
        "A* in C++, s",
        "states",
        "ratio",
        title=title,
        caption=None if program else NONE_HERE,
    )
    met = True
    for name in HANDED_DOWN:
        data = (GENERATORS / "handmade" / f"{name}.in").read_bytes()
        run = measure(data, 60.0)
        met &= run.is_within(2.0, 200)
        table.add_row(
            name, run.answer, f"{run.seconds:.2f}", f"{run.held / MIB:.0f}", *beside(program, name, data, run)
        )
    Console(width=130).print(table)
    return met


def beside(program: Path | None, name: str, data: bytes, run: Run) -> tuple[str, str, str]:
    """Run the C++ program once, with a short limit; returns the cells of its seconds, its states and the ratio."""
    if program is None:
        return "-", "-", "-"
    started = perf_counter()
    try:
        done = subprocess.run([program], input=data, capture_output=True, check=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"> {PATIENCE:g}", "-", f"> {PATIENCE / run.seconds:.0f}"
    seconds = perf_counter() - started
    steps, states = done.stdout.decode().split()
    if steps != run.answer:
        raise RuntimeError(f"{name}: the C++ program says {steps}, the reference {run.answer}")
    return f"{seconds:.2f}", f"{int(states):,}", f"{seconds / run.seconds:.0f}" if name[:2] in SLOW else ""


def fresh() -> bool:
    """Print the reference on a fresh map of each kind; tells whether all goals are met."""
    table = Table("map", "place", "steps", "s", "MiB", title=f"Fresh maps, N = 22, four piglets, seed {SEED}")
    met = True
    for kind, seconds in MAPS.items():
        for place in PLACES:
            run = measure(generated(kind, place), 60.0)
            met &= run.is_within(seconds, 512)
            table.add_row(kind, place, run.answer, f"{run.seconds:.2f}", f"{run.held / MIB:.0f}")
    Console(width=130).print(table)
    return met


def generated(kind: str, place: str) -> bytes:
    """Make a map with the package's generator."""
    command = [sys.executable, str(GENERATORS / "generate.py"), "--seed", str(SEED), "n=22", "p=4"]
    return subprocess.run([*command, f"map={kind}", f"place={place}"], capture_output=True, check=True).stdout


def measure(data: bytes, limit: float) -> Run:
    """Solve a map with the reference method and have the checker play the plan."""
    instance = read_instance(data)
    tracemalloc.start()
    started = perf_counter()
    try:
        answer = lazypiglets.solve(instance, method="reference", seed=1, seconds=limit)
    except Unsolved as error:
        return Run(f"none: {error}", perf_counter() - started, tracemalloc.get_traced_memory()[1])
    finally:
        seconds, held = perf_counter() - started, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    read_answer(write_answer(answer).encode(), instance)
    return Run(str(answer.steps), seconds, held)
