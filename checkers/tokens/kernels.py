"""Kernels that compare two files token by token, equal ones eight bytes at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit, trailing_zeros
from checkers.tokens.decimals import compare_numbers
from checkers.tokens.outcomes import DIFFERENT, SAME, SPACE, Bytes, Words

Offset = Any  # an int64 once it is compiled

zeros_below = cast(Callable[[np.uint64], np.uint64], trailing_zeros)
"""The number of zero bits below the lowest one that is set; 64 if none is."""

ONE = np.uint64(1)
TWO = np.uint64(2)
THREE = np.uint64(3)
SEVEN = np.uint64(7)
EIGHT = np.uint64(8)
LOW = np.uint64(0x7F7F7F7F7F7F7F7F)
HIGH = np.uint64(0x8080808080808080)
BLANKS = np.uint64(0x2020202020202020)
FROM_TAB = np.uint64(0x7777777777777777)  # + 0x77 sets a byte's high bit from 0x09 up
PAST_CR = np.uint64(0x7272727272727272)  # + 0x72 from 0x0e up
FROM_A = np.uint64(0x3F3F3F3F3F3F3F3F)  # + 0x3f from "A" up
PAST_Z = np.uint64(0x2525252525252525)  # + 0x25 from 0x5b up


@njit(cache=True, nogil=True)
def _is_space(byte: np.uint8) -> bool:  # pragma: no cover - compiled
    return bool(byte == 32 or 9 <= byte <= 13)


@njit(cache=True, nogil=True)
def last_common_token(
    answer: Bytes, expected: Bytes, words: Words, other_words: Words
) -> int:  # pragma: no cover - compiled
    """Find the offset of the last token that begins in the equal beginning of both files."""
    if len(answer) <= 8 or len(expected) <= 8:
        return 0  # the words of so little are a stand-in
    most = min(len(answer), len(expected)) - 8
    at = 0
    while at <= most and words[at] == other_words[at]:
        at += 8
    while at > 0 and not _is_space(answer[at - 1]):
        at -= 1
    return at


@njit(cache=True, nogil=True)
def count_tokens(data: Bytes, end: int) -> int:  # pragma: no cover - compiled
    """Count the tokens that begin before `end`."""
    count = 0
    inside = False
    for at in range(end):
        space = _is_space(data[at])
        if not space and not inside:
            count += 1
        inside = not space
    return count


@njit(cache=True, nogil=True, inline="always")
def _space_bits(word: np.uint64) -> np.uint64:  # pragma: no cover - compiled
    """The high bit of every byte that is white space."""
    low = word & LOW
    control = (low + FROM_TAB) & ~(low + PAST_CR)
    blank = ~(((word ^ BLANKS) & LOW) + LOW)
    return (control | blank) & ~word & HIGH


@njit(cache=True, nogil=True, inline="always")
def _lower(word: np.uint64) -> np.uint64:  # pragma: no cover - compiled
    """The word with A-Z turned into a-z."""
    low = word & LOW
    capital = (low + FROM_A) & ~(low + PAST_Z) & ~word & HIGH
    return word | (capital >> TWO)


@njit(cache=True, nogil=True)
def _leap(
    answer: Bytes, expected: Bytes, words: Words, other_words: Words, at_answer: int, at_expected: int, fold: bool
) -> tuple[Offset, Offset]:  # pragma: no cover - compiled
    """Run over equal tokens, eight bytes at a time, from one token's start to another one's in both files.

    Stops before anything it cannot be sure about: a difference, or the last eight bytes of a file. Its one branch on
    the length of a token is taken every eighth byte: that, not the comparing, is what its speed hangs on.
    """
    i, j = np.uint64(at_answer), np.uint64(at_expected)
    start_i, start_j = i, j
    if len(answer) <= 8 or len(expected) <= 8:
        return at_answer, at_expected
    last_i, last_j = np.uint64(len(answer) - 8), np.uint64(len(expected) - 8)
    while i <= last_i and j <= last_j:
        a, b = words[i], other_words[j]
        spaces_a, spaces_b = _space_bits(a), _space_bits(b)
        end = spaces_a & (~spaces_a + ONE)
        if end != spaces_b & (~spaces_b + ONE):
            break
        token = (end >> SEVEN) - ONE
        if (a ^ b) & token and not (fold and (_lower(a) ^ _lower(b)) & token == np.uint64(0)):
            break
        if end == np.uint64(0):
            i += EIGHT
            j += EIGHT
            continue
        behind = HIGH & ~token
        step_i = zeros_below(~spaces_a & behind) >> THREE
        step_j = zeros_below(~spaces_b & behind) >> THREE
        i += step_i
        j += step_j
        if step_i == EIGHT:
            while i < len(answer) and _is_space(answer[i]):
                i += ONE
        if step_j == EIGHT:
            while j < len(expected) and _is_space(expected[j]):
                j += ONE
        start_i, start_j = i, j
    return np.int64(start_i), np.int64(start_j)


@njit(cache=True, nogil=True)
def scan(
    answer: Bytes,
    expected: Bytes,
    words: Words,
    other_words: Words,
    i: int,
    j: int,
    fold: bool,
    strict: bool,
    absolute: float,
    relative: float,
    powers: NDArray[np.float64],
) -> tuple[int, int, int]:  # pragma: no cover - compiled
    """Compare from two offsets on; returns (status, offset in found, offset in expected) where it stopped."""
    floats = absolute >= 0 or relative >= 0
    while True:
        if strict:
            while i < len(answer) and j < len(expected) and answer[i] == expected[j] and _is_space(answer[i]):
                i += 1
                j += 1
            if (i < len(answer) and _is_space(answer[i])) or (j < len(expected) and _is_space(expected[j])):
                return SPACE, i, j
        else:
            while i < len(answer) and _is_space(answer[i]):
                i += 1
            while j < len(expected) and _is_space(expected[j]):
                j += 1
            i, j = _leap(answer, expected, words, other_words, i, j, fold)
        if i >= len(answer) or j >= len(expected):
            return SAME if i >= len(answer) and j >= len(expected) else DIFFERENT, i, j
        end_i, end_j = _token_end(answer, i), _token_end(expected, j)
        if not _equal(answer, expected, i, j, end_i, end_j, fold):
            status = DIFFERENT
            if floats:
                status = compare_numbers(answer, expected, i, j, end_i, end_j, absolute, relative, powers)
            if status != SAME:
                return status, i, j
        i, j = end_i, end_j


@njit(cache=True, nogil=True)
def _token_end(data: Bytes, at: int) -> int:  # pragma: no cover - compiled
    while at < len(data) and not _is_space(data[at]):
        at += 1
    return at


@njit(cache=True, nogil=True)
def _equal(
    answer: Bytes, expected: Bytes, i: int, j: int, end_i: int, end_j: int, fold: bool
) -> bool:  # pragma: no cover - compiled
    if end_i - i != end_j - j:
        return False
    for step in range(end_i - i):
        a, b = answer[i + step], expected[j + step]
        if a != b:
            if not fold:
                return False
            a = a + 32 if 65 <= a <= 90 else a
            b = b + 32 if 65 <= b <= 90 else b
            if a != b:
                return False
    return True
