"""Figures with their goals: printed, and written down for whoever runs several measurements in turn."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "JURADO_BENCH_FIGURES"
"""The variable that names a file to which each figure is added as a line of JSON."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its unit, and its goal: at least so much, or at most; both None where it has none."""

    name: str
    value: float
    unit: str = ""
    least: float | None = None
    most: float | None = None

    @property
    def is_missed(self) -> bool:
        """Whether the value misses its goal."""
        is_less = self.least is not None and self.value < self.least
        return is_less or (self.most is not None and self.value > self.most)

    @property
    def goal(self) -> str:
        """The goal as text; empty where there is none."""
        if self.least is not None:
            return f"at least {self.least:g}"
        return "" if self.most is None else f"at most {self.most:g}"

    def __str__(self) -> str:
        """Give one line of a table."""
        return f"{self.name:<64}{self.value:>11,.2f} {self.unit:<5} {self.goal:<14}{'MISSED' if self.is_missed else ''}"


def report(name: str, value: float, unit: str = "", *, least: float | None = None, most: float | None = None) -> bool:
    """Print a figure, and write it down where the environment names a file; returns whether it misses its goal."""
    figure = Figure(name, value, unit, least, most)
    print(str(figure).rstrip(), flush=True)
    if file := os.environ.get(FILE):
        with Path(file).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(figure)) + "\n")
    return figure.is_missed


def written(file: Path) -> list[Figure]:
    """Read the figures that were written down."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return [Figure(**json.loads(line)) for line in text.splitlines()]
