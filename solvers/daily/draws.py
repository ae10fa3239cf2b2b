"""Draws from a date: SplitMix64 (Steele, Lea, Flood, 2014), seeded by the SHA-256 of what the draws are for.

Written out here because Python promises nothing about its own generator's derived draws, nor about `hash`.
"""

from __future__ import annotations

from datetime import date
from hashlib import sha256
from typing import TypeVar

T = TypeVar("T")

MASK = 2**64 - 1
EDITION = 1
"""A part of every seed. Another number makes other puzzles of all days, those that have been printed among them."""


class SplitMix64:
    """The 64-bit generator of Steele, Lea and Flood."""

    def __init__(self, seed: int) -> None:
        self._state = seed & MASK

    def next(self) -> int:
        """Draw 64 bits."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        """Draw 0..bound-1, every value equally likely: draws in the incomplete last stretch are thrown away."""
        limit = (MASK + 1) // bound * bound
        while (drawn := self.next()) >= limit:
            pass
        return drawn % bound

    def shuffle(self, items: list[T]) -> None:
        """Put a list into any order, each equally likely."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]


def draws_of(day: date, kind: str, size: str) -> SplitMix64:
    """Begin the draws of one puzzle."""
    words = f"jurado daily {EDITION} {day.isoformat()} {kind} {size}"
    return SplitMix64(int.from_bytes(sha256(words.encode("ascii")).digest()[:8], "big"))
