"""The checkers `lines`, `unordered` and `floats`: right-or-wrong comparisons that forgive one thing each."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers import lines, unordered
from checkers.doors import Rejected, open_checker

FILES = st.lists(st.sampled_from([b"a", b"b c", b" b  c\t", b"", b"B"]), max_size=6).map(b"\n".join)


def reason(checker: str, answer: bytes, reference: bytes) -> str:
    opened = open_checker(checker)
    with pytest.raises(Rejected) as rejected:
        opened.score_answer(b"", opened.read_answer(answer, b""), reference)
    return rejected.value.message.text


def accepted(checker: str, answer: bytes, reference: bytes, *args: str) -> bool:
    opened = open_checker(checker, args)
    try:
        score = opened.score_answer(b"", opened.read_answer(answer, b""), reference)
    except Rejected:
        return False
    assert (score.raw, score.max_raw, score.multiplier) == (1, 1, 1)
    return True


def test_lines_forgive_white_space_within_lines_and_empty_lines_at_the_end() -> None:
    assert accepted("lines", b"1 2\n 3\t4 \r\n\n", b"1  2\n3 4")
    assert not accepted("lines", b"1 2 3 4\n", b"1 2\n3 4\n")
    assert not accepted("lines", b"\n1\n", b"1\n")
    assert not accepted("lines", b"yes\n", b"Yes\n")


def test_lines_name_the_first_wrong_line_and_tell_nothing_of_the_right_one() -> None:
    assert reason("lines", b"1\n9 9\n", b"1\n2\n") == 'line 2: expected another line, found "9 9"'
    assert reason("lines", b"1\n", b"1\n2\n") == "line 2: expected another line, found the end of the file"
    assert reason("lines", b"1\n2\n3\n", b"1\n2\n") == 'line 3: expected the end of the file, found "3"'
    assert reason("lines", b"\n1\n", b"2\n1\n") == "line 1: expected another line, found an empty line"


def test_unordered_forgives_the_order_of_lines_and_counts_each() -> None:
    assert accepted("unordered", b"b\n\na  1\nb\n", b"a 1\nb\nb\n")
    assert reason("unordered", b"b\nb\n", b"a\nb\n") == 'line 2: expected another line, found "b"'
    assert reason("unordered", b"b\n", b"a\nb\nb\n") == "end of file: expected 2 more lines, found none"


@given(FILES, FILES)
def test_both_accept_what_their_definitions_say(answer: bytes, reference: bytes) -> None:
    ours, theirs = ([line.split() for line in each.split(b"\n")] for each in (answer, reference))
    counts, others = (Counter(tuple(line) for line in each if line) for each in (ours, theirs))
    assert accepted("unordered", answer, reference) == (counts == others)
    while ours and not ours[-1]:
        ours.pop()
    while theirs and not theirs[-1]:
        theirs.pop()
    assert accepted("lines", answer, reference) == (ours == theirs)


def test_floats_compares_numbers_by_value_within_a_millionth_or_what_the_arguments_say() -> None:
    assert accepted("floats", b"1.0000001 Yes\n", b"1 yes\n")
    assert not accepted("floats", b"1.00001\n", b"1\n")
    assert accepted("floats", b"1.4\n", b"1\n", "float_absolute_tolerance", "0.5")
    assert not accepted("floats", b"1 YES\n", b"1 yes\n", "case_sensitive")
    assert accepted("floats", b"1.0000001 yes\n", b"1 yes\n", "case_sensitive")


@pytest.mark.parametrize("checker", ["lines", "unordered", "floats"])
def test_a_missing_reference_is_the_judges_fault(checker: str) -> None:
    with pytest.raises(ValueError, match="expected a reference file"):
        open_checker(checker).score_answer(b"", b"1\n", None)


@given(st.binary(max_size=30))
def test_answers_are_written_as_they_were_read(data: bytes) -> None:
    for checker in (lines, unordered):
        assert checker.write_answer(checker.read_answer(data, b"")).encode("utf-8", "surrogateescape") == data
