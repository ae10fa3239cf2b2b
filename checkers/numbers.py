"""Canonical ASCII decimals in answer files: the one reader behind every checker that reads numbers.

A token is `0`, or digits without a leading zero, or such a number behind a `-` where the format names negative ones.
Separators are space, tab, LF and CR; every other byte is refused where it stands. Python's `int()` and `split()`
accept more (`+1`, `1_0`, Arabic-Indic digits, form feeds), which is why they are not used.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from checkers.doors import Phrase, Rejected, quote

Integers = NDArray[np.int64]

FINE, BAD_BYTE, NOT_CANONICAL, TOO_LARGE, TOO_MANY = range(5)
LARGEST = 2**63 - 1
MINUS = ord("-")
TOKEN = re.compile(rb"[^ \t\r\n]*")
EXPECTED = {
    BAD_BYTE: Phrase("digits and white space (space, tab, line feed, carriage return)"),
    NOT_CANONICAL: Phrase("a decimal number without sign, leading zeros or letters"),
    TOO_LARGE: Phrase("a number up to %(most)s", most=LARGEST),
}


def read_integers(data: bytes, *, most: int, negative: bool = False) -> tuple[Integers, Integers]:
    """Read every token of `data` as a canonical decimal.

    Returns two int64 arrays of equal length: the values, and the offset in `data` at which each token begins.
    Raises Rejected at the first bad token, and as soon as there are more than `most` of them (before storing more).
    """
    room = min(most, len(data) // 2 + 1)
    values = np.empty(room, np.int64)
    offsets = np.empty(room, np.int64)
    view = np.frombuffer(data, np.uint8)
    count, fault, offset = _scan(view, values, offsets, negative)
    if fault == TOO_MANY:
        raise Rejected.at(
            place(data, offset),
            expected=Phrase("at most %(count)s numbers", count=most),
            found=Phrase("more: %(found)s", found=_token(data, offset)),
        )
    if fault != FINE:
        raise Rejected.at(place(data, offset), expected=_expected(fault, negative, below=data[offset] == MINUS),
                          found=_token(data, offset))  # fmt: skip
    return values[:count], offsets[:count]


def place(data: bytes, offset: int) -> str:
    """Name a place in a file for people: `line 3` (1-based), or the end of the file."""
    if offset >= len(data):
        return Phrase("end of file")
    line = data.count(b"\n", 0, offset) + 1
    return Phrase("line %(number)s", number=line)


def _expected(fault: int, negative: bool, *, below: bool) -> str:
    if fault == TOO_LARGE and below:
        return Phrase("a number down to -%(largest)s", largest=LARGEST)
    if fault == NOT_CANONICAL and negative:
        return Phrase("a decimal number without plus sign, leading zeros or letters")
    return EXPECTED[fault]


def _token(data: bytes, offset: int) -> str:
    token = TOKEN.match(data, offset)
    return quote(token[0] if token else b"")


@njit(cache=True, nogil=True)
def _scan(
    data: NDArray[np.uint8], values: Integers, offsets: Integers, negative: bool
) -> tuple[int, int, int]:  # pragma: no cover - compiled; its slow twin is in tests/checkers/test_numbers.py
    """Fill `values` and `offsets`; return (tokens read, fault, offset of the faulty token)."""
    size = len(data)
    at = 0
    count = 0
    while True:
        while at < size and (data[at] == 32 or data[at] == 9 or data[at] == 10 or data[at] == 13):
            at += 1
        if at == size:
            return count, FINE, at
        start = at
        minus = data[at] == 45
        if minus:
            at += 1
        first = at
        value = np.int64(0)
        large = False
        while at < size and 48 <= data[at] <= 57:
            digit = np.int64(data[at] - 48)
            if value > (LARGEST - digit) // 10:
                large = True
                value = np.int64(0)
            value = value * 10 + digit
            at += 1
        digits = at - first
        if at < size and not (data[at] == 32 or data[at] == 9 or data[at] == 10 or data[at] == 13):
            printable = 33 <= data[at] <= 126
            return count, NOT_CANONICAL if printable else BAD_BYTE, start
        leading_zero = digits > 1 and data[first] == 48
        if digits == 0 or leading_zero or (minus and (not negative or data[first] == 48)):
            return count, NOT_CANONICAL, start
        if large:
            return count, TOO_LARGE, start
        if count == len(values):
            return count, TOO_MANY, start
        values[count] = -value if minus else value
        offsets[count] = start
        count += 1
