"""The checker `exact` wants every byte as it is in the reference file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers import exact
from checkers.doors import Rejected, open_checker


def reason(found: bytes, expected: bytes) -> str:
    with pytest.raises(Rejected) as rejected:
        exact.score_answer(b"", found, expected)
    return rejected.value.message.text


def test_equal_bytes_are_accepted_in_full() -> None:
    assert exact.score_answer(b"", b"1\n", b"1\n").multiplier == 1


def test_the_first_difference_is_named_by_its_line() -> None:
    assert reason(b"1 2\n3 5\n", b"1 2\n3 4\n") == 'line 2: expected another line, found "3 5"'
    assert reason(b"1", b"1\n") == 'line 1: expected another line, found "1"'
    assert reason(b"1\n", b"1\n2\n") == "line 2: expected another line, found the end of the file"
    assert reason(b"1\n\n", b"1\n") == 'line 2: expected the end of the file, found ""'
    assert reason(b"", b"\x00") == "line 1: expected another line, found the end of the file"


def test_how_far_a_line_is_right_is_not_told() -> None:
    """Else a contestant reads the expected answer byte by byte, with 256 tries for each."""
    told = {
        reason(guess + b"\n", b"24681\n").replace(guess.decode(), "GUESS") for guess in (b"9", b"2", b"24", b"2468")
    }
    assert len(told) == 1


def test_a_difference_is_found_behind_many_equal_bytes() -> None:
    same = b"0123456789\n" * 20_000
    assert reason(same + b"x", same + b"y") == 'line 20001: expected another line, found "x"'


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_any_two_files_are_equal_or_rejected(found: bytes, expected: bytes) -> None:
    if found == expected:
        exact.score_answer(b"", found, expected)
    else:
        at = exact.first_difference(found, expected)
        assert found[:at] == expected[:at]
        assert found[at : at + 1] != expected[at : at + 1]
        assert "expected" in reason(found, expected)


def test_it_takes_no_arguments() -> None:
    with pytest.raises(ValueError, match="expected no arguments"):
        open_checker("exact", ["case_sensitive"])
