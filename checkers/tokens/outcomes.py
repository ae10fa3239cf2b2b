"""Outcomes of comparing from one place on, and the arrays that kernels read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SAME, DIFFERENT, SPACE, NOT_A_NUMBER, TOO_FAR, UNDECIDED = range(6)

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
"""Element i has the bytes i..i+7 of a file as one number, the first one lowest."""
