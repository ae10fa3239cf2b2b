"""Points with fewer decimals than they have. Without numpy, as the command line starts with it."""

from __future__ import annotations


def cut(points: float, digits: int) -> float:
    """Truncate points to fewer decimals: 99.96 is 99.9, never 100.0.

    Every format that shows fewer decimals than a number has cuts it like this (`rounded_arrays.all_cut` for arrays).
    Points that equal a decimal as floats are not cut to the next lower one: 0.29 stays 0.29 although 0.29 * 100 is
    below 29.
    """
    scale: int = 10**digits
    units: int = round(points * scale)
    return (units if units / scale <= points else units - 1) / scale
