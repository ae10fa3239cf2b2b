"""Compiles kernels with numba.

Without numba (the extra `kernels`) they run as plain Python: the same results, a hundred times slower.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

try:
    from numba import njit
    from numba.cpython.unsafe.numbers import trailing_zeros
except ImportError:
    COMPILES = False
    np.seterr(over="ignore")  # kernels count on numbers that wrap around
    if not TYPE_CHECKING:

        def njit(**_options: object) -> Callable[[F], F]:
            """Leave a function as it is."""
            return lambda function: function

        def trailing_zeros(bits: np.uint64) -> np.uint64:
            """Count the zero bits below the lowest one that is set; 64 if none is."""
            value = int(bits)
            return np.uint64((value & -value).bit_length() - 1 if value else 64)

else:
    COMPILES = True

__all__ = ["COMPILES", "njit", "trailing_zeros"]
