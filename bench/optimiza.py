"""Time and memory of optimiza's exact methods by size and kind, beside a mask table in plain C++.

The C++ program (bench/cpp/optimiza.cpp) is the comment's f(n, mask) inside each group of joined cells; a method's time
divided by its time stands in brackets. Boards are drawn with seeds of their own, the slowest of them counts. Memory is
the most that arrays of `layered` hold at once, measured in a run of its own. Compiling and starting count for nothing.
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
from checkers.optimiza import read_instance
from checkers.rules.optimiza import Instance
from solvers import optimiza
from solvers.doors import Report, Unsolved

GENERATOR = Path(__file__).parents[1] / "problems/optimiza/generators/generate.py"
SIZES = (10, 15, 20, 25, 30, 35, 40)
KINDS = ("random", "dense", "ragged")
SEEDS = (1, 2, 3)
SECONDS_GOAL, MIB_GOAL = 2.0, 128.0


@dataclass(frozen=True)
class Proof:
    """One run of `layered`: its raw score, whether that is proved, seconds, and MiB of its arrays."""

    total: int
    proved: bool
    seconds: float
    mib: float


def main() -> int:
    """Print the table; 1 if a board is not proved within 2 s and 128 MiB."""
    program = build("optimiza")
    optimiza.warm_up("mask-dp")
    title = f"Seconds to a proof, the slowest of {len(SEEDS)} boards (times the C++)"
    columns = ("kind", "N", "C++ -O2", "mask-dp", "layered", "MiB of layered", "proved")
    table = Table(*columns, title=title, caption=None if program else NONE_HERE)
    short = False
    for kind in KINDS:
        for size in SIZES:
            boards = [generate(kind, size, seed) for seed in SEEDS]
            proofs = [prove(read_instance(board)) for board in boards]
            tables = [fill(read_instance(board), proof) for board, proof in zip(boards, proofs, strict=True)]
            natives = [native(program, board, proof) for board, proof in zip(boards, proofs, strict=True)]
            slowest, most = max(proof.seconds for proof in proofs), max(proof.mib for proof in proofs)
            proved = sum(proof.proved for proof in proofs)
            short |= proved < len(SEEDS) or slowest > SECONDS_GOAL or most > MIB_GOAL
            beside = worst(natives)
            cells = (show(beside, None), show(worst(tables), beside), show(slowest, beside), f"{most:.1f}")
            table.add_row(kind, str(size), *cells, f"{proved} of {len(SEEDS)}")
    Console(width=110).print(table)
    return int(short)


def generate(kind: str, size: int, seed: int) -> bytes:
    """Draw a board with the package's own generator."""
    command = [sys.executable, str(GENERATOR), "--seed", str(seed), f"kind={kind}", f"n={size}"]
    return subprocess.run(command, capture_output=True, check=True).stdout


def prove(instance: Instance) -> Proof:
    """Run the reference once for the time and once for the memory."""
    heard: list[Report] = []
    optimiza.warm_up("layered")
    started = perf_counter()
    answer = optimiza.solve(instance, method="layered", seed=1, seconds=10.0, progress=heard.append)
    seconds = perf_counter() - started
    tracemalloc.start()
    optimiza.solve(instance, method="layered", seed=1, seconds=60.0)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return Proof(answer.total, heard[-1].note == "optimal", seconds, most / 2**20)


def fill(instance: Instance, proof: Proof) -> float | None:
    """Time the table over sets, in seconds; None where a group is too large or a minute too short.

    Raises RuntimeError if the two disagree.
    """
    heard: list[Report] = []
    started = perf_counter()
    try:
        answer = optimiza.solve(instance, method="mask-dp", seed=1, seconds=60.0, progress=heard.append)
    except Unsolved:
        return None
    if heard[-1].note != "optimal":
        return None
    if answer.total != proof.total:
        raise RuntimeError(f"mask-dp finds {answer.total} where layered finds {proof.total}")
    return perf_counter() - started


def native(program: Path | None, board: bytes, proof: Proof) -> float | None:
    """Time the C++ program, in seconds; None where a group is too large. Raises RuntimeError if it disagrees."""
    if program is None:
        return None
    done = subprocess.run([program, "1"], input=board, capture_output=True, check=True)
    total, milliseconds = done.stdout.split()
    if int(total) < 0:
        return None
    if int(total) != proof.total:
        raise RuntimeError(f"bench/cpp/optimiza.cpp finds {int(total)} where layered finds {proof.total}")
    return float(milliseconds) / 1000


def worst(seconds: list[float | None]) -> float | None:
    """Give the longest time; None if any board was beyond the method."""
    known = [taken for taken in seconds if taken is not None]
    return max(known) if len(known) == len(seconds) else None


def show(seconds: float | None, beside: float | None) -> str:
    """Put one time into a cell, with its ratio where there is another time to compare with."""
    if seconds is None:
        return "-"
    ratio = "" if beside is None else f" ({seconds / beside:.3g})"
    return f"{seconds:.3f}{ratio}"


if __name__ == "__main__":
    raise SystemExit(main())
