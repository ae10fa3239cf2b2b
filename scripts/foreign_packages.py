"""Count how many packages below a folder import, verify and judge: `python -m scripts.foreign_packages DIR...`.

A package is a folder or a zip that `jurado package verify` would be given. For each: whether it is read, whether it has
errors, and whether its expected answers and example programs earn what the package itself promises.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.packages.verify import (
    Report,
    verify_report,
)

MARKS = ("problem.yaml", "problem.xml", "task.yaml", "jurado.yaml")
LONGEST = 160
NOT_PROMISED = ("data/invalid_input", "data/invalid_output", "data/valid_output", "data/sample")
"""Warnings of what is missing only, which say nothing of how the package judges."""


def main() -> int:
    """Print a row for each package; exit code 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("folders", metavar="DIR", nargs="+", type=Path, help="a package, or a folder of packages")
    options = parser.parse_args()
    rows = []
    print("| package | imported | verified | judged as it promises | why not |\n|---|---|---|---|---|")
    for place in (place for folder in options.folders for place in packages(folder)):
        rows.append(row(place, verify_report(place)))
        print(f"| {' | '.join(rows[-1])} |", flush=True)
    for at, what in ((1, "imported"), (2, "verified without errors"), (3, "judged as promised")):
        print(f"{what}: {sum(cells[at] == 'yes' for cells in rows)} of {len(rows)}")
    return 0


def packages(folder: Path) -> Iterator[Path]:
    """The packages at or below a folder, sorted; none lies in another."""
    if folder.is_file() or any((folder / mark).is_file() for mark in MARKS) or (folder / "cases").is_dir():
        yield folder
        return
    for inside in sorted(folder.iterdir()):
        if inside.is_dir() and not inside.name.startswith("."):
            yield from packages(inside)
        elif inside.suffix == ".zip":
            yield inside


def row(place: Path, report: Report) -> tuple[str, ...]:
    """A package's row: its name, three answers, and the first reason against."""
    imported = report["slug"] is not None
    verified = imported and not report["errors"]
    broken = [fault for fault in report["warnings"] if fault["file"].startswith(("data/", "submissions/"))]
    broken = [fault for fault in broken if fault["file"] not in NOT_PROMISED]
    judged = verified and not broken
    reasons = report["errors"] or broken
    first = f"{reasons[0]['file']}: {reasons[0]['message']}".strip(": ") if reasons else ""
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    why = " ".join(first.split()).replace("|", "/")[:LONGEST] + more if reasons else ""
    return (place.name, *("yes" if each else "no" for each in (imported, verified, judged)), why)


if __name__ == "__main__":
    sys.exit(main())
