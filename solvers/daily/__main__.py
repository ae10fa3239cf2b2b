"""The puzzles of a day as a program: `python -m solvers.daily DATE`, all nine as one JSON document."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date

from solvers.daily import make_all


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the puzzles and print them."""
    parser = ArgumentParser(prog="python -m solvers.daily", description="Make the puzzles of a day.")
    parser.add_argument("date", type=date.fromisoformat, help="YYYY-MM-DD")
    parser.add_argument("--nice", type=int, default=0, help="how far this process gives way to others, as of nice(1)")
    options = parser.parse_args(arguments)
    os.nice(options.nice)
    day = options.date
    json.dump({"date": day.isoformat(), "puzzles": [asdict(puzzle) for puzzle in make_all(day)]}, sys.stdout)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
