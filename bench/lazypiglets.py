"""Time and memory of the lazypiglets reference, beside the source's A* in plain C++, and on fresh maps.

The C++ program (bench/cpp/lazypiglets.cpp) is built as the printed one: its states lie in a std::map, its estimate lets
piglets jump over free cells. Seconds are those of the processor, so that figures stand on a busy machine; memory is
that of all arrays at their peak. Starting a program and compiling count for neither. Goals: 2 s and 200 MiB on the
original maps, 8 s (perfect mazes 15 s) and 512 MiB on fresh maps of size 22. `python -m bench.lazypiglets --maps 40`
asks for more of the maps on which piglets gather, the slowest of all; `--gather` leaves out the other tables.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import process_time

from rich.console import Console
from rich.table import Table

from bench.native import NONE_HERE, build
from checkers.lazypiglets import read_answer, read_instance, write_answer
from solvers import lazypiglets
from solvers.doors import Unsolved
from solvers.lazypiglets.work import Work
from solvers.parts.clock import Clock

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
GATHERINGS = {"perfect mazes": (15.0, ("map=maze",)), "empty maps": (8.0, ("map=rand", "trees=0"))}
SEED = 1
PATIENCE = 75.0
LIMIT = 120.0
MIB = 2**20


@dataclass(frozen=True)
class Run:
    """One map: the answer or why there is none, seconds of the processor, bytes of all arrays at their peak, states."""

    answer: str
    seconds: float
    held: int
    states: int

    def is_within(self, seconds: float, memory: int) -> bool:
        """Tell whether there is an answer within the goals (s, MiB)."""
        return self.answer.lstrip("-").isdigit() and self.seconds <= seconds and self.held <= memory * MIB


def main(arguments: Sequence[str] = ()) -> int:
    """Print the tables; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--maps", type=int, default=10, help="how many maps with gathering piglets of each kind")
    parser.add_argument("--gather", action="store_true", help="print the table of gathering piglets only")
    options = parser.parse_args(arguments)
    lazypiglets.warm_up("reference")
    tables = [gathering(options.maps)] if options.gather else [handed_down(), fresh(), gathering(options.maps)]
    return int(not all(tables))


def handed_down() -> bool:
    """Print the reference beside the C++ program; tells whether all goals of time and memory are met."""
    program = build("lazypiglets")
    title = "The maps handed down: the reference's seconds and MiB, and how many times as long the source's A* takes"
    heads = ("map", "steps", "s", "MiB", "A* in C++, s", "states", "ratio")
    table = Table(*heads, title=title, caption=None if program else NONE_HERE)
    goals_met = True
    for name in HANDED_DOWN:
        data = (GENERATORS / "handmade" / f"{name}.in").read_bytes()
        run = measure(data)
        goals_met &= run.is_within(2.0, 200)
        table.add_row(
            name, run.answer, f"{run.seconds:.2f}", f"{run.held / MIB:.0f}", *beside(program, name, data, run)
        )
    Console(width=130).print(table)
    return goals_met


def beside(program: Path | None, name: str, data: bytes, run: Run) -> tuple[str, str, str]:
    """Run the C++ program once, with a short limit; returns the cells of its seconds, its states and the ratio."""
    if program is None:
        return "-", "-", "-"
    started = children_seconds()
    try:
        done = subprocess.run([program], input=data, capture_output=True, check=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        seconds = children_seconds() - started
        return f"> {seconds:.0f}", "-", f"> {seconds / run.seconds:.0f}"
    seconds = children_seconds() - started
    steps, states = done.stdout.decode().split()
    if steps != run.answer:
        raise RuntimeError(f"{name}: the C++ program says {steps}, the reference {run.answer}")
    return f"{seconds:.2f}", f"{int(states):,}", f"{seconds / run.seconds:.0f}" if name[:2] in SLOW else ""


def children_seconds() -> float:
    """Give the processor time of all programs that were run and have ended."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fresh() -> bool:
    """Print the reference on a fresh map of each kind; tells whether all goals are met."""
    table = Table("map", "place", "steps", "s", "MiB", title=f"Fresh maps, N = 22, four piglets, seed {SEED}")
    goals_met = True
    for kind, seconds in MAPS.items():
        for place in PLACES:
            run = measure(generated(SEED, f"map={kind}", f"place={place}"))
            goals_met &= run.is_within(seconds, 512)
            table.add_row(kind, place, run.answer, f"{run.seconds:.2f}", f"{run.held / MIB:.0f}")
    Console(width=130).print(table)
    return goals_met


def gathering(count: int) -> bool:
    """Print the slowest maps on which piglets gather, seeds 1 to `count`; tells whether all goals are met."""
    heads = ("maps", "median s", "slowest s", "its seed", "its steps", "its million states", "most MiB", "goal s")
    table = Table(*heads, title=f"Gathering piglets, N = 22, four piglets, seeds 1 to {count}")
    goals_met = True
    for name, (goal, params) in GATHERINGS.items():
        runs = {seed: measure(generated(seed, "place=gather", *params)) for seed in range(1, count + 1)}
        goals_met &= all(run.is_within(goal, 512) for run in runs.values())
        seed, slowest = max(runs.items(), key=lambda pair: pair[1].seconds)
        middle, most = median(run.seconds for run in runs.values()), max(run.held for run in runs.values())
        table.add_row(
            name, f"{middle:.2f}", f"{slowest.seconds:.2f}", str(seed), slowest.answer,
            f"{slowest.states / 1e6:.1f}", f"{most / MIB:.0f}", f"{goal:g}",
        )  # fmt: skip
    Console(width=130).print(table)
    return goals_met


def generated(seed: int, *params: str) -> bytes:
    """Make a map with the package's generator."""
    command = [sys.executable, str(GENERATORS / "generate.py"), "--seed", str(seed), "n=22", "p=4", *params]
    return subprocess.run(command, capture_output=True, check=True).stdout


def measure(data: bytes) -> Run:
    """Solve a map with the reference method and have the checker play the plan."""
    instance = read_instance(data)
    work = Work(Clock(LIMIT, timer=process_time))
    tracemalloc.start()
    started = process_time()
    try:
        answer = lazypiglets.search(instance, lazypiglets.REFERENCE, work)
        words = str(answer.steps)
    except Unsolved as error:
        words = f"none: {error}"
    finally:
        seconds, held = process_time() - started, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    if words.lstrip("-").isdigit():
        read_answer(write_answer(answer).encode(), instance)
    return Run(words, seconds, held, work.states)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
