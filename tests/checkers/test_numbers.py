"""The reader of numbers takes canonical decimals and nothing else; its kernel is compared with a slow twin."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.doors import Rejected
from checkers.numbers import LARGEST, read_integers

CANONICAL = re.compile(rb"0|[1-9][0-9]*")
CANONICAL_OR_NEGATIVE = re.compile(rb"0|-?[1-9][0-9]*")
PIECES = [b"0", b"7", b"12", b"-", b"-3", b"+", b" ", b"\t", b"\n", b"\r", b"\f", b"\0", b".", b"e", b"_", b"\xc2\xa0"]
PIECES += [str(LARGEST).encode(), str(LARGEST + 1).encode(), str(2**64).encode(), b"\xd9\xa0", b"x"]
files = st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join)


def slow_read(data: bytes, most: int, negative: bool) -> tuple[list[int], list[int]] | str:
    """Twin of the reader: values and offsets, or the line where it must refuse."""
    values, offsets = [], []
    for match in re.finditer(rb"[^ \t\n\r]+", data):
        pattern = CANONICAL_OR_NEGATIVE if negative else CANONICAL
        if not pattern.fullmatch(match[0]) or abs(int(match[0])) > LARGEST or len(values) == most:
            return f"line {data.count(10, 0, match.start()) + 1}"
        values.append(int(match[0]))
        offsets.append(match.start())
    return values, offsets


def fast_read(data: bytes, most: int, negative: bool) -> tuple[list[int], list[int]] | str:
    """Give what the reader says in the words of the twin; a message begins with its line."""
    try:
        values, offsets = read_integers(data, most=most, negative=negative)
    except Rejected as refusal:
        return str(refusal).split(":", maxsplit=1)[0]
    return values.tolist(), offsets.tolist()


@settings(max_examples=1500)
@given(data=files, most=st.integers(0, 6), negative=st.booleans())
def test_the_reader_and_its_slow_twin_agree_on_every_file(data: bytes, most: int, negative: bool) -> None:
    assert fast_read(data, most, negative) == slow_read(data, most, negative)


@settings(max_examples=500)
@given(data=st.binary(max_size=60), most=st.integers(0, 6))
def test_any_bytes_are_read_or_rejected(data: bytes, most: int) -> None:
    assert fast_read(data, most, negative=False) == slow_read(data, most, negative=False)


@given(st.lists(st.integers(-LARGEST, LARGEST), max_size=20))
def test_numbers_written_plainly_are_read_back(numbers: list[int]) -> None:
    data = " ".join(map(str, numbers)).encode()
    values, _ = read_integers(data, most=20, negative=True)
    assert values.tolist() == numbers


@pytest.mark.parametrize("token", [b"+1", b"01", b"1.0", b"1e0", b"0x0", b"1_0", b"-0", b"--1", b"-", b"1-", b"-01"])
def test_a_token_that_only_looks_like_a_number_is_rejected(token: bytes) -> None:
    with pytest.raises(Rejected, match="line 2: expected a decimal number"):
        read_integers(b"5\n" + token, most=9, negative=True)


def test_a_negative_number_is_rejected_where_the_format_names_none() -> None:
    with pytest.raises(Rejected, match="without sign"):
        read_integers(b"-1", most=1)


@pytest.mark.parametrize("text", ["\u00a01", "\uff11", "\u0661", "\ufeff1", "1\u2028"])
def test_what_is_not_ascii_is_rejected(text: str) -> None:
    with pytest.raises(Rejected, match="line 1: expected digits and white space"):
        read_integers(text.encode(), most=9)


def test_a_number_of_a_million_digits_is_rejected_with_a_short_message() -> None:
    with pytest.raises(Rejected, match=f"expected a number up to {LARGEST}") as caught:
        read_integers(b"9" * 1_000_000, most=1)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (b"9223372036854775808", 'expected a number up to 9223372036854775807, found "9223372036854775808"'),
        (b"-9223372036854775808", 'expected a number down to -9223372036854775807, found "-9223372036854775808"'),
        (b"9" * 64_000, 'expected a number up to 9223372036854775807, found "' + "9" * 40 + '"... (64000 bytes)'),
    ],
)
def test_a_number_out_of_range_is_told_its_bound_and_its_whole_length(token: bytes, said: str) -> None:
    with pytest.raises(Rejected) as caught:
        read_integers(b"1 " + token + b" 2\n", most=3, negative=True)
    assert str(caught.value) == f"line 1: {said}"
