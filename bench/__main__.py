"""Measure: `python -m bench [NAME...]` runs the programs of this folder, all of them where none is named.

A measurement is a module with a docstring, whose first line names the quantity, and `main()`, which prints a table.
The time that each took here is stored in DURATIONS, so that the next run can say beforehand how long it will take.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Sequence
from datetime import timedelta
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

HERE = Path(__file__).parent
DURATIONS = HERE.parent / ".bench.json"
UNKNOWN = 30.0
"""Seconds that the bar counts for a measurement that was never run here."""


def main(arguments: list[str], durations: Path = DURATIONS) -> int:
    """Run the measurements named; returns the exit code: 1 if one of them misses a goal, 2 for bad usage."""
    known = measurements()
    took = read_durations(durations)
    if arguments in (["--list"], ["--help"], ["-h"]):
        for name, summary in known.items():
            print(f"{name:<16} {about(took.get(name)):>9}  {summary}")
        print("the times are those of the last run on this machine")
        return 0
    names = list(known) if arguments in ([], ["all"]) else arguments
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 1, 0.5)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known) or 'none'}"
            print(f"bench: no measurement {name!r}; {hint}", file=sys.stderr)
            return 2
    print(plan(names, took), file=sys.stderr, flush=True)
    return run_all({name: known[name] for name in names}, took, durations)


def run_all(wanted: dict[str, str], took: dict[str, float], durations: Path) -> int:
    """Run measurements in turn below a bar, store the time each took, and return the worst exit code."""
    worst = 0
    bar = Progress(
        TextColumn("{task.completed:.0f} of {task.total:.0f} s"),
        BarColumn(),
        TextColumn("{task.description}"),
        console=Console(stderr=True),
        auto_refresh=False,  # a thread that draws would take time from the measurement
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=sum(took.get(name, UNKNOWN) for name in wanted))
        for number, (name, summary) in enumerate(wanted.items(), 1):
            share = took.get(name, UNKNOWN)
            bar.update(task, description=f"{number} of {len(wanted)}: {name}", refresh=True)
            code, took[name] = run(name, summary)
            worst = max(worst, code)
            durations.write_text(json.dumps(took, indent=1) + "\n", encoding="utf-8")
            bar.update(task, advance=share, refresh=True)
    return worst


def plan(names: Sequence[str], took: dict[str, float]) -> str:
    """Name the measurements to run, and how long they will take as far as that is known here."""
    unknown = [name for name in names if name not in took]
    seconds = sum(took.get(name, 0.0) for name in names)
    time = "" if len(unknown) == len(names) else f", about {about(seconds)} by the last run"
    beside = f", {len(unknown)} never run here" if unknown else ""
    return f"bench: {len(names)} to run{time}{beside}: {', '.join(names)}"


def about(seconds: float | None) -> str:
    """Write a duration as 0:01:30; `?` for None."""
    return "?" if seconds is None else str(timedelta(seconds=round(seconds)))


def read_durations(path: Path) -> dict[str, float]:
    """Read the seconds that each took in its last run on this machine; those never run are missing."""
    if not path.exists():
        return {}
    return {str(name): float(seconds) for name, seconds in json.loads(path.read_text(encoding="utf-8")).items()}


def measurements() -> dict[str, str]:
    """Find the modules that have a `main`, by reading and not by importing them: name to first line of docstring."""
    summaries = {}
    for path in sorted(HERE.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if path.stem.startswith("_") or not any(isinstance(n, ast.FunctionDef) and n.name == "main" for n in tree.body):
            continue
        summaries[path.stem] = (ast.get_docstring(tree) or "").partition("\n")[0]
    return summaries


def run(name: str, summary: str) -> tuple[int, float]:
    """Run one and print how long it took; returns its exit code, 1 where it misses a goal, and the seconds."""
    print(f"== {name}: {summary}", flush=True)
    started = perf_counter()
    code = import_module(f"bench.{name}").main()
    seconds = perf_counter() - started
    print(f"   ({seconds:.1f} s)", flush=True)
    return int(code or 0), seconds


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
