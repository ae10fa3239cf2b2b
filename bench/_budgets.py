"""Prints figures beside their goals, and keeps a list of the goals that were missed."""

from __future__ import annotations


class Budgets:
    """The goals of a run, in the order in which they were printed."""

    def __init__(self) -> None:
        self._missed: list[str] = []

    def within(self, what: str, value: float, most: float, unit: str) -> None:
        """Print a figure that is to be `most` or less."""
        digits = 1 if most >= 1 else 3
        self._note(f"{what:44}{value:10.{digits}f} {unit} of {most:g}", is_missed=value > most)

    def at_least(self, what: str, value: float, least: float) -> None:
        """Print a share that is to be `least` or more."""
        self._note(f"{what:44}{value:10.2f} (at least {least:g})", is_missed=value < least)

    def result(self) -> int:
        """Print the goals that were missed; 1 if there are any."""
        print(f"over budget: {'; '.join(self._missed) or 'nothing'}")
        return 1 if self._missed else 0

    def _note(self, line: str, *, is_missed: bool) -> None:
        print(f"{line}{'  missed' if is_missed else ''}", flush=True)
        if is_missed:
            self._missed.append(" ".join(line.split()))
