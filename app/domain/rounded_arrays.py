"""The rounding of points for whole arrays, in a module of its own: graders start without numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.domain.fixed_point import DECIMALS, LARGEST_ROUNDED


def all_shown(points: NDArray[np.float64], most: float) -> NDArray[np.float64]:
    """Apply `shown` to each number."""
    rounded = np.minimum(most, np.rint(points * DECIMALS) / DECIMALS)
    return np.where(points >= min(most, LARGEST_ROUNDED), points, rounded)


def all_cut(points: NDArray[np.float64], digits: int) -> NDArray[np.int64]:
    """Apply `cut` to each number; the result is in whole units of so many decimals."""
    scale = 10**digits
    units = np.rint(points * scale)
    whole: NDArray[np.int64] = (units - (units / scale > points)).astype(np.int64)
    return whole
