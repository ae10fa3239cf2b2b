"""Measure: `python -m bench [NAME...]` runs the programs of this folder, all of them where none is named.

A measurement is a module with a docstring, whose first line says what is measured, and `main()`, which prints a table.
"""

from __future__ import annotations

import ast
import sys
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from time import perf_counter

HERE = Path(__file__).parent


def main(arguments: list[str]) -> int:
    """Run the measurements named; returns the exit code: 1 if one of them says that it fell short, 2 for bad usage."""
    known = measurements()
    if arguments in (["--list"], ["--help"], ["-h"]):
        for name, summary in known.items():
            print(f"{name:<16} {summary}")
        return 0
    names = list(known) if arguments in ([], ["all"]) else arguments
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 1, 0.5)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known) or 'none'}"
            print(f"bench: no measurement {name!r}; {hint}", file=sys.stderr)
            return 2
    return max((run(name, known[name]) for name in names), default=0)


def measurements() -> dict[str, str]:
    """Find the modules that have a `main`, by reading and not by importing them: name to first line of docstring."""
    found = {}
    for path in sorted(HERE.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if path.stem.startswith("_") or not any(isinstance(n, ast.FunctionDef) and n.name == "main" for n in tree.body):
            continue
        found[path.stem] = (ast.get_docstring(tree) or "").partition("\n")[0]
    return found


def run(name: str, summary: str) -> int:
    """Run one measurement and say how long it took; its `main` may return 1 where it fell short."""
    print(f"== {name}: {summary}", flush=True)
    started = perf_counter()
    code = import_module(f"bench.{name}").main()
    print(f"   ({perf_counter() - started:.1f} s)", flush=True)
    return int(code or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
