"""Keys for caches of what is computed from large values that never change, and are dear to compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Identical(Generic[T]):
    """A value that equals only itself. It is held, so that no other object gets its address."""

    of: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identical) and self.of is other.of

    def __hash__(self) -> int:
        return id(self.of)
