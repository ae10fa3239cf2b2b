"""The budget that every method has: the states it has looked at, its clock, and the memory it may hold."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.doors import Unsolved
from solvers.parts.clock import Clock

STATES_A_STEP = 10_000
STATES_A_TURN = 1 << 15
"""How many states a kernel takes on before it returns: well below a tenth of a second."""

MOST_BYTES = 440 * 2**20


@dataclass
class Work:
    """Counts states, of which STATES_A_STEP are one step of the clock, and ends a search that may not continue."""

    clock: Clock
    states: int = 0
    _steps: int = 0

    def did(self, states: int, note: str = "") -> None:
        """Count the states of one turn; raises Unsolved where the budget has ended or someone asked to stop."""
        self.states += states
        steps = self.states // STATES_A_STEP - self._steps
        self._steps += steps
        if not self.clock.step(steps, states=self.states, note=note):
            ended = "it was stopped" if self.clock.stopped else self._budget()
            raise Unsolved(f"{ended} after {self.states:,} states{note and ', ' + note}")

    def holds(self, size: int) -> None:
        """Say how many bytes the search holds, or is about to; raises Unsolved where they are too many."""
        if size > MOST_BYTES:
            raise Unsolved(f"{size / 2**20:,.0f} MiB would be needed, and {MOST_BYTES // 2**20} may be held")

    def _budget(self) -> str:
        return f"the {self.clock.seconds:g} s ended" if self.clock.steps is None else "the steps ended"
