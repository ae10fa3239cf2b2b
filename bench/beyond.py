"""Beyond one machine: growth, acceptance, PostgreSQL, workers, the last minute and rejudgings, and one table of goals.

Each line of COMMANDS is a measurement in a process of its own that prints its ceilings itself and takes at most four
minutes on two free cores. `python -m bench.beyond 3 5` runs the third and the fifth; `--small` tries all with small
sizes, whose figures say nothing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench._figures import FILE, Figure, written


@dataclass(frozen=True, slots=True)
class Command:
    """A measurement's module with its arguments, and the arguments of a small trial."""

    module: str
    arguments: str = ""
    small: str | None = None

    def words(self, *, small: bool) -> list[str]:
        """Give the words of the command line after the interpreter."""
        chosen = self.small if small and self.small is not None else self.arguments
        return ["-m", f"bench.{self.module}", *chosen.split()]


COMMANDS = (
    Command("growth", "--submissions 100000 --no-whole", "--submissions 500 --no-whole"),
    Command("growth", "--submissions 20000 --no-whole --on postgresql", "--submissions 500 --no-whole --on postgresql"),
    Command("acceptance"),
    Command("servers", "", "--seconds 2"),
    Command("postgresql", "", "--seconds 1"),
    Command("workers", "", "--submissions 40"),
    Command("rush", "--on sqlite", "--on sqlite --rate 5 --seconds 4"),
    Command("rush", "--on postgresql", "--on postgresql --rate 5 --seconds 4"),
    Command("rush", "--on distributed", "--on distributed --rate 5 --seconds 4"),
    Command("rejudging", "--on sqlite", "--on sqlite --submissions 200"),
    Command("rejudging", "--on distributed", "--on distributed --submissions 200"),
)


def main(chosen: Sequence[int] = (), *, small: bool = False) -> int:
    """Run the commands in turn and print the table; 1 if one failed or a goal is missed."""
    numbers = chosen or range(1, len(COMMANDS) + 1)
    figures: list[tuple[str, list[Figure]]] = []
    failed = []
    for number in numbers:
        words = COMMANDS[number - 1].words(small=small)
        title = f"{number}  python {' '.join(words)}"
        print(f"\n{title}  (load average {os.getloadavg()[0]:.1f})", flush=True)
        began = time.perf_counter()
        code, values = run(words)
        print(f"took {time.perf_counter() - began:.0f} s", flush=True)
        figures.append((title, values))
        if code and not any(each.is_missed for each in values):
            failed.append(title)
    print_table(figures)
    for title in failed:
        print(f"FAILED: {title}")
    return int(bool(failed) or any(each.is_missed for _, values in figures for each in values))


def run(words: Sequence[str]) -> tuple[int, list[Figure]]:
    """Run one measurement; returns its exit code and the figures that it wrote down."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures"
        done = subprocess.run([sys.executable, *words], env={**os.environ, FILE: str(file)}, check=False)
        return done.returncode, written(file)


def print_table(figures: Sequence[tuple[str, Sequence[Figure]]]) -> None:
    """Print all figures below their commands."""
    for title, values in figures:
        print(f"\n{title}")
        for each in values:
            print(f"  {each}".rstrip())
    goals = [each for _, values in figures for each in values if each.goal]
    missed = sum(each.is_missed for each in goals)
    print(f"\n{len(goals) - missed} of {len(goals)} goals are met on {os.cpu_count()} cores")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.beyond")
    parser.add_argument("number", type=int, nargs="*", choices=range(1, len(COMMANDS) + 1), help="default: all")
    parser.add_argument("--small", action="store_true", help="try whether all of it works")
    flags = parser.parse_args()
    sys.exit(main(flags.number, small=flags.small))
