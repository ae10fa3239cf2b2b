"""Compare an answer with the reference file token by token: a right-or-wrong checker for any problem.

Instance
    The input's bytes, unread.
Answer
    The file's bytes: tokens between white space (space, tab, line feed, vertical tab, form feed, carriage return).
Raw score
    1 for a right answer, with multiplier 1.
Rejected when
    a token differs from the reference's, or tokens are missing or left over. Letters A-Z equal a-z unless
    `case_sensitive`; with a float tolerance, a reference token that is a decimal number is compared by value; with
    `space_change_sensitive` every white space byte must be the same too.
Source
    The default output validator of the Kattis problem package format 2025-09, with its options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numba import njit
from numba.cpython.unsafe.numbers import trailing_zeros
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from checkers.doors import Rejected, Score, quote
from checkers.numbers import place

Bytes = NDArray[np.uint8]
Offset = Any  # an int64 once it is compiled
Words = NDArray[np.uint64]

FLOAT = re.compile(rb"[+-]?([0-9]*\.[0-9]+|[0-9]+\.|[0-9]+)([Ee][+-]?[0-9]+)?")
LONGEST_NUMBER = 1000
"""Tokens longer than this are text even where they look like numbers (the format asks for 30 digits at least)."""

SPACES = b" \t\n\v\f\r"
TOLERANCES = ("float_tolerance", "float_absolute_tolerance", "float_relative_tolerance")
FLAGS = ("case_sensitive", "space_change_sensitive")

SAME, DIFFERENT, SPACE, NOT_A_NUMBER, TOO_FAR, UNDECIDED = range(6)


@dataclass(frozen=True, slots=True)
class Options:
    """Options of comparing tokens; a tolerance of None is not set. Tolerances are finite and not negative."""

    case_sensitive: bool = False
    space_change_sensitive: bool = False
    absolute: float | None = None
    relative: float | None = None

    @property
    def floats(self) -> bool:
        """True where numbers are compared by value."""
        return self.absolute is not None or self.relative is not None

    def close(self, expected: float, actual: float) -> bool:
        """Tell whether a number is within one of the tolerances of `expected`."""
        apart = abs(actual - expected)
        within = self.absolute is not None and apart <= self.absolute
        return within or (self.relative is not None and apart <= self.relative * abs(expected))


DEFAULT = Options()


def options(args: Sequence[str]) -> Options:
    """Read the format's `output_validator_args`; raises ValueError for unknown, repeated or conflicting ones."""
    given: dict[str, float] = {}
    words = iter(args)
    for word in words:
        if word not in FLAGS + TOLERANCES:
            raise ValueError(f"tokens: expected one of {', '.join(FLAGS + TOLERANCES)}, found {word!r}")
        if word in given:
            raise ValueError(f"tokens: expected {word} once, found it twice")
        given[word] = 1.0 if word in FLAGS else _tolerance(word, next(words, None))
    if "float_tolerance" in given and len(given.keys() & set(TOLERANCES)) > 1:
        raise ValueError("tokens: expected float_tolerance alone, found another float tolerance beside it")
    both = given.get("float_tolerance")
    return Options(
        case_sensitive="case_sensitive" in given,
        space_change_sensitive="space_change_sensitive" in given,
        absolute=given.get("float_absolute_tolerance", both),
        relative=given.get("float_relative_tolerance", both),
    )


def _tolerance(name: str, word: str | None) -> float:
    if word is None or not FLOAT.fullmatch(word.encode()):
        raise ValueError(f"tokens: expected a decimal number after {name}, found {word!r}")
    value = float(word)
    if not 0 <= value < float("inf"):
        raise ValueError(f"tokens: expected a finite tolerance of 0 or more after {name}, found {word!r}")
    return value


def read_instance(data: bytes) -> bytes:
    """Take any input: tokens are compared with the reference file alone."""
    return data


def read_answer(data: bytes, instance: bytes) -> bytes:
    """Take any answer: what is wrong with it shows beside the reference file."""
    return data


def write_answer(answer: bytes) -> str:
    """Give the answer as text; bytes that are not UTF-8 become surrogate escapes."""
    return answer.decode("utf-8", "surrogateescape")


def score_answer(instance: bytes, answer: bytes, reference: bytes | None = None, options: Options = DEFAULT) -> Score:
    """Accept the answer or raise Rejected at its first difference from `reference`, which must be given."""
    if reference is None:
        raise ValueError("tokens: expected a reference file, found none")
    if answer != reference:
        compare(answer, reference, options)
    return Score(raw=1, max_raw=1, multiplier=1)


@dataclass(frozen=True, slots=True)
class TokenChecker:
    """Bind the doors to options."""

    options: Options

    def read_instance(self, data: bytes) -> bytes:
        """Take any input."""
        return read_instance(data)

    def read_answer(self, data: bytes, instance: bytes) -> bytes:
        """Take any answer."""
        return read_answer(data, instance)

    def write_answer(self, answer: bytes) -> str:
        """Give the answer as text."""
        return write_answer(answer)

    def score_answer(self, instance: bytes, answer: bytes, reference: bytes | None = None) -> Score:
        """Accept the answer or raise Rejected at its first difference."""
        return score_answer(instance, answer, reference, self.options)


def configure(args: Sequence[str]) -> TokenChecker:
    """Open the checker with a case's `output_validator_args`; raises ValueError where they are not understood."""
    return TokenChecker(options(args))


def compare(answer: bytes, expected: bytes, options: Options = DEFAULT) -> None:
    """Compare token by token; raises Rejected at the first difference, naming the token and its line."""
    ours, theirs = np.frombuffer(answer, np.uint8), np.frombuffer(expected, np.uint8)
    words, other_words = _words(answer), _words(expected)
    absolute = options.absolute if options.absolute is not None else -1.0
    relative = options.relative if options.relative is not None else -1.0
    fold, strict = not options.case_sensitive, options.space_change_sensitive
    i = j = _equal_tokens(ours, theirs, words, other_words)
    while True:
        status, i, j = _scan(ours, theirs, words, other_words, i, j, fold, strict, absolute, relative, POWERS)
        if status == SAME:
            return
        if status != UNDECIDED:
            raise _difference(status, answer, expected, i, j, options)
        token, wanted = _token(answer, i), _token(expected, j)
        if not options.close(float(wanted), float(token)):
            raise _difference(TOO_FAR, answer, expected, i, j, options)
        i, j = i + len(token), j + len(wanted)


def _words(data: bytes) -> Words:
    """Read every 8 bytes of the data as one number, from every offset: element i lies at byte i, so neighbours overlap.

    Data of fewer than 9 bytes gets a stand-in which no kernel reads, as a view that short has another type for numba.
    """
    whole = data if len(data) > 8 else bytes(9)
    return as_strided(np.frombuffer(whole, "<u8", 1), (len(whole) - 7,), (1,), writeable=False)


def _token(data: bytes, at: int) -> bytes:
    end = at
    while end < len(data) and data[end] not in SPACES:
        end += 1
    return data[at:end]


def _spaces_around(data: bytes, at: int) -> bytes:
    start = end = at
    while start > 0 and data[start - 1] in SPACES:
        start -= 1
    while end < len(data) and data[end] in SPACES:
        end += 1
    return data[start:end]


def _difference(
    status: int, answer: bytes, expected: bytes, at_answer: int, at_expected: int, options: Options
) -> Rejected:
    """Say where the files part: `token 17 (line 3): expected another token, found "y"`.

    What the reference has there is not said: contestants read this, and could read the whole file token by token.
    """
    number = _count_tokens(np.frombuffer(expected, np.uint8), at_expected) + 1
    line = place(answer, at_answer)
    if status == SPACE:
        ours = _spaces_around(answer, at_answer)
        where = f"white space after token {number - 1} ({line})"
        return Rejected.at(where, expected="other white space", found=_shown(ours, "none"))
    ours = _token(answer, at_answer)
    wanted = "another token" if _token(expected, at_expected) else "the end of the file"
    if status == NOT_A_NUMBER:
        wanted = "a decimal number"
    elif status == TOO_FAR:
        wanted = f"a number within {_tolerances(options)} of the right one"
    return Rejected.at(f"token {number} ({line})", expected=wanted, found=_shown(ours, "nothing"))


def _shown(token: bytes, nothing: str) -> str:
    return quote(token) if token else nothing


def _tolerances(options: Options) -> str:
    limits = [(options.absolute, "absolute"), (options.relative, "relative")]
    return " or ".join(f"{value:g} ({name})" for value, name in limits if value is not None)


zeros_below = cast(Callable[[np.uint64], np.uint64], trailing_zeros)
"""The number of zero bits below the lowest one that is set; 64 if none is."""

# The kernels. `words[i]` has the bytes i..i+7 of `answer`, the first one lowest; `other_words` those of `expected`.

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

POWERS = np.array([float(f"1e{power}") for power in range(309)])
LARGEST_EXACT_POWER = 22
EXACT_INTEGERS = 2**53
SLACK = 2e-15
"""More than the relative error of a value read with two roundings too many (each 2**-53)."""


@njit(cache=True, nogil=True)
def _is_space(byte: np.uint8) -> bool:  # pragma: no cover - compiled
    return bool(byte == 32 or 9 <= byte <= 13)


@njit(cache=True, nogil=True)
def _equal_tokens(
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
def _count_tokens(data: Bytes, end: int) -> int:  # pragma: no cover - compiled
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
def _scan(
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
                status = _compare_numbers(answer, expected, i, j, end_i, end_j, absolute, relative, powers)
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


@njit(cache=True, nogil=True)
def _compare_numbers(
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


NO_NUMBER, EXACT, NEAR, LONG_NUMBER = range(4)
MOST_DIGITS = 18


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
