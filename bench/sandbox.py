"""The sandbox: what a run costs beside a plain process, a check by a program that stays, and checkers of packages.

`python -m bench.sandbox --testlib FILE` takes testlib's own header in place of the small one of Jurado's.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from app.sandbox import model
from app.sandbox.model import Command, Limits, SandboxMissing
from app.sandbox.sandbox import Sandbox
from bench import _checkers

RUNS = 60
CHECKS = 2000
GOAL_MS = 25.0
LIMITS = Limits(cpu_seconds=60, wall_seconds=120, memory=2**28, processes=8, output=2**20)
TRUE = ("/bin/true",)
FRESH = "Python, nothing"
PYTHON = (model.python(), "-IS", "-c", "pass")
CHECKER = "import sys\nfor line in sys.stdin:\n    print(sum(map(int, line.split())), flush=True)"
QUESTION = b"1 2 3 4\n"
REPLY = b"10\n"


class Times(NamedTuple):
    """Milliseconds of a run: the best, which other programs disturb least, and the median."""

    best: float
    median: float


def main(arguments: Sequence[str] = ()) -> int:
    """Print the tables; 1 if a run of /bin/true costs more than the goal beyond the process itself."""
    parser = argparse.ArgumentParser(prog="python -m bench.sandbox")
    parser.add_argument("--testlib", metavar="FILE", type=Path, help="the testlib.h to measure with")
    options = parser.parse_args(arguments)
    try:
        sandbox = Sandbox.open(as_root=True)
    except SandboxMissing as missing:
        print(missing)
        return 1
    with sandbox:
        rows = {
            TRUE[0]: (timed(lambda: run(sandbox, TRUE)), timed(lambda: plain(TRUE))),
            FRESH: (timed(lambda: run(sandbox, PYTHON)), timed(lambda: plain(PYTHON))),
        }
        check = pooled(sandbox)
        of_packages = _checkers.rows(sandbox, options.testlib)
    table = Table("", "sandbox, ms: best", "median", "plain, ms: best", "median", "ratio of the best")
    for name, (inside, outside) in rows.items():
        cells = (f"{each:.1f}" for each in (*inside, *outside, inside.best / outside.best))
        table.add_row(name, *cells)
    table.add_row(
        "a check by a Python that stays", f"{check:.3f}", "", "", "", f"{check / rows[FRESH][0].best:.4f} of a run"
    )
    console = Console()
    console.print(table)
    table = Table("checkers", "best of five, or rate")
    for row in of_packages:
        table.add_row(*row)
    console.print(table)
    inside, outside = rows[TRUE[0]]
    overhead = inside.best - outside.best
    console.print(
        f"{RUNS} runs of each, {CHECKS} checks. Overhead: {overhead:.1f} ms of {GOAL_MS:.0f} allowed, by the best."
    )
    return 0 if overhead <= GOAL_MS else 1


def timed(call: Callable[[], None]) -> Times:
    """Time runs one after another."""
    times = []
    for _ in range(RUNS):
        began = perf_counter()
        call()
        times.append(perf_counter() - began)
    return Times(min(times) * 1e3, statistics.median(times) * 1e3)


def run(sandbox: Sandbox, argv: tuple[str, ...]) -> None:
    """Run in the sandbox; a program that fails measures nothing."""
    result = sandbox.run(Command(argv, limits=LIMITS))
    assert result.exit_code == 0, result


def plain(argv: tuple[str, ...]) -> None:
    """Run as a process of this one, its output piped as the sandbox's is."""
    subprocess.run(argv, check=True, capture_output=True, stdin=subprocess.DEVNULL)


def pooled(sandbox: Sandbox) -> float:
    """Ask a program that stays; milliseconds a question."""
    with sandbox.start(Command((model.python(), "-IS", "-c", CHECKER), limits=LIMITS)) as running:
        ask(running.send, running.receive)
        began = perf_counter()
        for _ in range(CHECKS):
            ask(running.send, running.receive)
        return (perf_counter() - began) / CHECKS * 1e3


def ask(send: Callable[[bytes], None], receive: Callable[[int, float], bytes]) -> None:
    """One question and its reply."""
    send(QUESTION)
    assert receive(len(REPLY), 60.0) == REPLY


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
