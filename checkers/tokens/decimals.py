"""Decimal numbers of the package format: a reader, and the comparison of two tokens by value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from checkers.tokens.outcomes import DIFFERENT, NOT_A_NUMBER, SAME, TOO_FAR, UNDECIDED, Bytes

LONGEST_NUMBER = 1000
"""Tokens longer than this are text even where they look like numbers (the format asks for 30 digits at least)."""
NO_NUMBER, EXACT, NEAR, LONG_NUMBER = range(4)
MOST_DIGITS = 18
POWERS = np.array([float(f"1e{power}") for power in range(309)])
LARGEST_EXACT_POWER = 22
EXACT_INTEGERS = 2**53
SLACK = 2e-15
"""More than the relative error of a value read with two roundings too many (each 2**-53)."""


@njit(cache=True, nogil=True)
def compare_numbers(
    answer: Bytes,
    expected: Bytes,
    i: int,
    j: int,
    end_i: int,
    end_j: int,
    absolute: float,
    relative: float,
    powers: NDArray[np.float64],
) -> int:  # pragma: no cover - compiled
    """Compare two unequal tokens by value where the expected one is a number; UNDECIDED if it is too near to call."""
    kind, theirs = _read_number(expected, j, end_j, powers)
    if kind == NO_NUMBER:
        return DIFFERENT
    kind_found, ours = _read_number(answer, i, end_i, powers)
    if kind_found == NO_NUMBER:
        return NOT_A_NUMBER
    if kind == LONG_NUMBER or kind_found == LONG_NUMBER:
        return UNDECIDED
    apart = abs(ours - theirs)
    slack = 0.0
    if kind == NEAR or kind_found == NEAR:
        slack = SLACK * (abs(ours) + abs(theirs))
    most = absolute if absolute >= 0 else -1.0
    if relative >= 0:
        most = max(most, relative * abs(theirs))
    if slack == 0.0:
        return SAME if apart <= most else TOO_FAR
    slack += SLACK * most
    if apart + slack < most:
        return SAME
    return TOO_FAR if apart - slack > most else UNDECIDED


@njit(cache=True, nogil=True)
def _read_number(
    data: Bytes, start: int, end: int, powers: NDArray[np.float64]
) -> tuple[int, float]:  # pragma: no cover - compiled
    """Read a decimal by the format's grammar: (what it is, its value).

    EXACT is correctly rounded (digits below 2**53, power of ten up to 22); NEAR may be off by a few units in the last
    place; LONG_NUMBER is a number, but outside the range this reader is sure about.
    """
    if end - start > LONGEST_NUMBER:
        return NO_NUMBER, 0.0
    at = start + 1 if data[start] == 43 or data[start] == 45 else start
    digits = np.int64(0)
    taken = dropped = seen = behind = 0
    point = False
    while at < end and (48 <= data[at] <= 57 or (data[at] == 46 and not point)):
        if data[at] == 46:
            point = True
        else:
            seen += 1
            behind += 1 if point else 0
            if taken < MOST_DIGITS:
                digits = digits * 10 + np.int64(data[at] - 48)
                taken += 1 if digits > 0 else 0
            else:
                dropped += 1
        at += 1
    if seen == 0:
        return NO_NUMBER, 0.0
    exponent = np.int64(0)
    if at < end and (data[at] == 69 or data[at] == 101):
        at += 1
        negative = at < end and data[at] == 45
        if at < end and (data[at] == 43 or data[at] == 45):
            at += 1
        if at == end:
            return NO_NUMBER, 0.0
        while at < end and 48 <= data[at] <= 57:
            exponent = exponent * 10 + np.int64(data[at] - 48)
            exponent = np.int64(100000) if exponent > 100000 else exponent
            at += 1
        exponent = -exponent if negative else exponent
    if at != end:
        return NO_NUMBER, 0.0
    sign = -1.0 if data[start] == 45 else 1.0
    power = exponent - behind + dropped
    if digits == 0:
        return EXACT, 0.0
    if power < -290 or power > 280:
        return LONG_NUMBER, 0.0
    value = float(digits) * powers[power] if power >= 0 else float(digits) / powers[-power]
    exact = dropped == 0 and digits <= EXACT_INTEGERS and -LARGEST_EXACT_POWER <= power <= LARGEST_EXACT_POWER
    return EXACT if exact else NEAR, sign * value
