"""Progress of a package's examination: phases, each with so many parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
# Called with the name of the phase, the parts done and the parts in all.
OnStep = Callable[[str, int, int], None]
BATCH = 32


def unseen(_phase: str, _done: int, _total: int) -> None:
    """Show nothing."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Tells `on_step` of every part that is done; whatever it raises ends the examination."""

    on_step: OnStep = unseen

    def begin(self, phase: str) -> None:
        """Tell of a phase that has no parts to be counted."""
        self.on_step(phase, 0, 0)

    def each(self, phase: str, parts: Sequence[T], results: Iterable[R]) -> Iterator[R]:
        """Pass results on, one for each part, and count them."""
        self.on_step(phase, 0, len(parts))
        for done, result in enumerate(results, start=1):
            self.on_step(phase, done, len(parts))
            yield result

    def over(self, phase: str, parts: Sequence[T]) -> Iterator[T]:
        """Go through parts, and count them."""
        self.on_step(phase, 0, len(parts))
        for done, part in enumerate(parts, start=1):
            yield part
            self.on_step(phase, done, len(parts))

    def batches(self, phase: str, parts: Sequence[T]) -> Iterator[Sequence[T]]:
        """Go through parts by the batch, and count them."""
        self.on_step(phase, 0, len(parts))
        for begin in range(0, len(parts), BATCH):
            yield parts[begin : begin + BATCH]
            self.on_step(phase, min(begin + BATCH, len(parts)), len(parts))


# Tells nobody.
SILENT = Steps()
