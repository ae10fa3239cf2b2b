"""The colour of a cell of the board, by its points: eleven classes, finer near the best."""

from __future__ import annotations

from bisect import bisect_right

LIMITS = (0, 10, 25, 40, 55, 68, 78, 86, 92, 96, 100)
"""Points of a hundred from which each class begins; relative scores crowd near the top."""


def heat(share: float) -> int:
    """The class 0..10 of a share of the points, 0..1."""
    return max(0, bisect_right(LIMITS, 100 * share + 1e-9) - 1)


def width(share: float) -> int:
    """The bar of a share of the points, in per cent: 100 only for all of them."""
    return min(100 if share >= 1 else 99, max(0, round(100 * share)))
