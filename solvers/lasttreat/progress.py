"""The progress of a method: the moves found, and the clock that tells it when to stop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checkers.numbers import Integers
from solvers.doors import Unsolved
from solvers.parts.clock import Clock

LOOKS_A_TURN = 1_000_000
MOST_CELLS = 2**24
"""Tables larger than this (16 MiB at a byte a cell) are not made: a method that needs one has no answer."""


@dataclass
class Work:
    """The T x 2 moves, `0 0` until one is found; `looks` counts moves looked at, `done` positions finished."""

    clock: Clock
    moves: Integers
    looks: int = 0
    done: int = 0

    def turn(self, looks: int) -> bool:
        """Count one turn of a kernel; returns whether to continue."""
        self.looks += looks
        return self.clock.step(1, states=self.looks, note=self.note)

    def finish(self) -> None:
        """Report for the last time; raises Unsolved unless every position is finished."""
        self.clock.report(states=self.looks, note=self.note, final=True)
        if self.done < len(self.moves):
            why = "asked to stop" if self.clock.stopped else "its time or steps ended"
            raise Unsolved(f"{why} after {self.note}")

    @property
    def note(self) -> str:
        """Describe the progress, for people."""
        return f"{self.done} of {len(self.moves)} positions"


def refuse_beyond(reach: str, rows: Integers, within: NDArray[np.bool_]) -> None:
    """Raise Unsolved, before any work, unless every row is within a method's reach; `reach` is that in words.

    One line that is missing makes an answer worthless, so that nothing is gained by working on the others.
    """
    if not within.all():
        at = int(within.argmin())
        raise Unsolved(f"position {at + 1}: this method takes {reach}, found {' '.join(map(str, rows[at].tolist()))}")
