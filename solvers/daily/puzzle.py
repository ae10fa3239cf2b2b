"""A puzzle of the day with what has been proved of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

T = TypeVar("T")

SIZES = ("small", "medium", "large")


class Draws(Protocol):
    """A source of whole numbers."""

    def below(self, bound: int) -> int:
        """Draw 0..bound-1."""
        ...

    def shuffle(self, items: list[T]) -> None:
        """Put a list into any order."""
        ...


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A puzzle: its input and best answer as the checker of its kind reads them, and its three levels.

    x, y   what a careless and a good player collect; None where a puzzle is won or lost
    z      the proven maximum of the raw score
    drawn  the number of candidates up to this one
    """

    kind: str
    size: str
    instance: str
    answer: str
    x: int | None
    y: int | None
    z: int
    drawn: int
