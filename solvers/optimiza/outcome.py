"""The outcome of a method."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.optimiza.board import Numbers


@dataclass(frozen=True)
class Outcome:
    """A walk over cell numbers, whether no walk collects more (proved), and how much was looked at."""

    walk: Numbers
    proved: bool = False
    states: int = 0
